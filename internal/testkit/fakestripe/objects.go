package fakestripe

import (
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
)

type session struct {
	ID                string            `json:"id"`
	Object            string            `json:"object"`
	AmountTotal       int64             `json:"amount_total"`
	ClientReferenceID string            `json:"client_reference_id"`
	Created           int64             `json:"created"`
	Currency          string            `json:"currency"`
	CustomerEmail     string            `json:"customer_email"`
	ExpiresAt         int64             `json:"expires_at"`
	Metadata          map[string]string `json:"metadata"`
	Mode              string            `json:"mode"`
	PaymentIntent     any               `json:"payment_intent"` // its id, the whole object if it is expanded, or nil
	PaymentStatus     string            `json:"payment_status"`
	Status            string            `json:"status"`
	SuccessURL        string            `json:"success_url"`
	URL               string            `json:"url"`

	intentMetadata map[string]string
}

type intent struct {
	ID               string            `json:"id"`
	Object           string            `json:"object"`
	Amount           int64             `json:"amount"`
	AmountReceived   int64             `json:"amount_received"`
	Currency         string            `json:"currency"`
	LastPaymentError *paymentError     `json:"last_payment_error"`
	LatestCharge     string            `json:"latest_charge"`
	Metadata         map[string]string `json:"metadata"`
	Status           string            `json:"status"`
}

type paymentError struct {
	Type        string `json:"type"`
	Code        string `json:"code"`
	DeclineCode string `json:"decline_code"`
	Message     string `json:"message"`
}

type charge struct {
	ID             string            `json:"id"`
	Object         string            `json:"object"`
	Amount         int64             `json:"amount"`
	AmountRefunded int64             `json:"amount_refunded"`
	Currency       string            `json:"currency"`
	Metadata       map[string]string `json:"metadata"`
	PaymentIntent  string            `json:"payment_intent"`
	Refunded       bool              `json:"refunded"`
	Status         string            `json:"status"`
}

type refund struct {
	ID            string            `json:"id"`
	Object        string            `json:"object"`
	Amount        int64             `json:"amount"`
	Charge        string            `json:"charge"`
	Currency      string            `json:"currency"`
	FailureReason string            `json:"failure_reason,omitempty"`
	Metadata      map[string]string `json:"metadata"`
	PaymentIntent string            `json:"payment_intent"`
	Reason        *string           `json:"reason"`
	Status        string            `json:"status"`
}

func (r *refund) failed() bool { return r.Status == "failed" || r.Status == "canceled" }

func (s *Server) createSession(form url.Values) answer {
	c := &session{
		Object: "checkout.session", Created: unix(), Currency: "usd", Mode: form.Get("mode"), Status: "open", PaymentStatus: "unpaid",
		ClientReferenceID: form.Get("client_reference_id"), CustomerEmail: form.Get("customer_email"), SuccessURL: form.Get("success_url"),
		ExpiresAt: number(form, "expires_at"), Metadata: metadata(form, "metadata"), intentMetadata: metadata(form, "payment_intent_data[metadata]"),
	}
	lines := 0
	for ; form.Has(line(lines, "[quantity]")); lines++ {
		price, quantity := number(form, line(lines, "[price_data][unit_amount]")), number(form, line(lines, "[quantity]"))
		switch {
		case price < 0 || quantity < 1:
			return invalid("Invalid integer: line %d", lines)
		case form.Get(line(lines, "[price_data][currency]")) != "usd":
			return invalid("Invalid currency: line %d", lines)
		case form.Get(line(lines, "[price_data][product_data][name]")) == "":
			return invalid("You passed an empty string for 'line_items[%d][price_data][product_data][name]'.", lines)
		}
		c.AmountTotal += price * quantity
	}
	switch lived := c.ExpiresAt - c.Created; {
	case c.Mode != "payment" || lines == 0 || lines > 100:
		return invalid("mode %q with %d line items", c.Mode, lines)
	case lived < 30*60-5 || lived > 24*60*60+5:
		return invalid("The `expires_at` timestamp must be between 30 minutes and 24 hours from Checkout Session creation.")
	case c.AmountTotal < 50:
		return refuse(http.StatusBadRequest, "invalid_request_error", "amount_too_small",
			"The Checkout Session's total amount due must add up to at least $0.50 usd")
	case c.CustomerEmail != "" && !strings.Contains(c.CustomerEmail, "@"):
		return refuse(http.StatusBadRequest, "invalid_request_error", "email_invalid", "Invalid email address: "+c.CustomerEmail)
	}
	c.ID = s.id("cs_test")
	c.URL = "https://checkout.stripe.com/c/pay/" + c.ID
	s.sessions[c.ID] = c
	return found(c)
}

func line(i int, rest string) string { return "line_items[" + strconv.Itoa(i) + "]" + rest }

func (s *Server) readSession(id string, form url.Values) answer {
	c := s.sessions[id]
	if c == nil {
		return missing(id)
	}
	shown := *c
	if intentID, ok := c.PaymentIntent.(string); ok && form.Get("expand[0]") == "payment_intent" {
		shown.PaymentIntent = s.intents[intentID]
	}
	return found(shown)
}

func (s *Server) listSessions(form url.Values) answer {
	limit := number(form, "limit")
	if limit < 1 || limit > 100 {
		return invalid("limit must be 1 to 100")
	}
	page := slices.SortedFunc(maps.Values(s.sessions), func(a, b *session) int { return strings.Compare(b.ID, a.ID) }) // newest first
	shown := page[:min(int(limit), len(page))]
	return found(map[string]any{"object": "list", "url": "/v1/checkout/sessions", "has_more": len(shown) < len(page), "data": shown})
}

func (s *Server) expireSession(id string) answer {
	c := s.sessions[id]
	switch {
	case c == nil:
		return missing(id)
	case c.Status != "open":
		return invalid("Only Checkout Sessions with a status in [\"open\"] can be expired. This Checkout Session has a status of `%s`.", c.Status)
	}
	s.expire(c)
	return found(c)
}

func (s *Server) createRefund(form url.Values) answer {
	p := s.intents[form.Get("payment_intent")]
	if p == nil {
		return missing(form.Get("payment_intent"))
	}
	if reason := form.Get("reason"); reason != "" && !slices.Contains([]string{"duplicate", "fraudulent", "requested_by_customer"}, reason) {
		return invalid("Invalid reason: must be one of duplicate, fraudulent, or requested_by_customer")
	}
	for key, value := range metadata(form, "metadata") {
		if len([]rune(value)) > 500 {
			return invalid("Metadata values can have up to 500 characters; %s has more", key)
		}
	}
	left := p.AmountReceived - s.refunded(p.LatestCharge)
	amount := left
	if form.Has("amount") {
		amount = number(form, "amount")
	}
	switch {
	case p.AmountReceived == 0:
		return invalid("This PaymentIntent (%s) does not have a successful charge to refund.", p.ID)
	case left == 0:
		return refuse(http.StatusBadRequest, "invalid_request_error", "charge_already_refunded", "Charge "+p.LatestCharge+" has already been refunded.")
	case amount < 1 || amount > left:
		return invalid("Refund amount (%d) is greater than unrefunded amount on charge (%d)", amount, left)
	}
	return found(s.refund(p, amount, metadata(form, "metadata"), form.Get("reason")))
}

// refunded returns the sum of refunds that are made or under way.
func (s *Server) refunded(chargeID string) int64 {
	var sum int64
	for _, r := range s.refunds {
		if r.Charge == chargeID && !r.failed() {
			sum += r.Amount
		}
	}
	return sum
}

func (s *Server) refund(p *intent, amount int64, metadata map[string]string, reason string) *refund {
	r := &refund{
		ID: s.id("re"), Object: "refund", Amount: amount, Charge: p.LatestCharge, Currency: "usd",
		Metadata: metadata, PaymentIntent: p.ID, Status: s.refundStatus,
	}
	if reason != "" {
		r.Reason = &reason
	}
	if r.failed() {
		r.FailureReason = "lost_or_stolen_card"
	}
	s.refunds = append(s.refunds, r)
	s.event("refund.created", r)
	s.event("charge.refunded", s.recount(r.Charge))
	return r
}

// recount updates a charge from its refunds.
func (s *Server) recount(chargeID string) *charge {
	c := s.charges[chargeID]
	c.AmountRefunded = s.refunded(chargeID)
	c.Refunded = c.AmountRefunded == c.Amount
	return c
}

// listRefunds returns pages, the newest first.
func (s *Server) listRefunds(form url.Values) answer {
	limit := number(form, "limit")
	if limit < 1 || limit > 100 {
		return invalid("limit must be 1 to 100")
	}
	page, more, begun := []*refund{}, false, !form.Has("starting_after")
	for _, r := range slices.Backward(s.refunds) {
		switch {
		case !begun:
			begun = r.ID == form.Get("starting_after")
		case form.Has("payment_intent") && r.PaymentIntent != form.Get("payment_intent"), form.Has("charge") && r.Charge != form.Get("charge"):
		case int64(len(page)) == limit:
			more = true
		default:
			page = append(page, r)
		}
	}
	return found(map[string]any{"object": "list", "url": "/v1/refunds", "has_more": more, "data": page})
}
