package fakestripe

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/stripe/stripe-go/v85/webhook"
)

// Event is an event that Stripe would post to the service.
type Event struct {
	Type   string
	Body   []byte
	secret string
}

// Header returns the header of the post, signed now.
func (e Event) Header() http.Header { return Sign(e.Body, time.Now(), e.secret) }

// Post sends the event, and returns the status of the answer.
func (e Event) Post(ctx context.Context, url string) (int, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, url, bytes.NewReader(e.Body))
	if err != nil {
		return 0, err
	}
	request.Header = e.Header()
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return 0, err
	}
	return response.StatusCode, response.Body.Close()
}

// Sign returns the header of a body, with a signature for each secret.
func Sign(body []byte, at time.Time, secrets ...string) http.Header {
	signed := fmt.Sprintf("t=%d", at.Unix())
	for _, secret := range secrets {
		header := webhook.GenerateTestSignedPayload(&webhook.UnsignedPayload{Payload: body, Secret: secret, Timestamp: at}).Header
		_, signature, _ := strings.Cut(header, ",")
		signed += "," + signature
	}
	return http.Header{"Stripe-Signature": {signed}, "Content-Type": {"application/json; charset=utf-8"}}
}

// Take returns the events since the last call, in order.
func (s *Server) Take() []Event {
	s.mu.Lock()
	defer s.mu.Unlock()
	events := s.events
	s.events = nil
	return events
}

func (s *Server) event(kind string, object any) {
	body, err := json.Marshal(map[string]any{
		"id": s.id("evt"), "object": "event", "api_version": "2026-03-25.dahlia", "created": unix(), "livemode": false,
		"pending_webhooks": 1, "type": kind, "data": map[string]any{"object": object},
	})
	if err != nil {
		panic(err)
	}
	s.events = append(s.events, Event{kind, body, s.Secret})
}

// open finds a session that can be paid.
func (s *Server) open(sessionID string) (*session, error) {
	c := s.sessions[sessionID]
	if c == nil || c.Status != "open" {
		return nil, fmt.Errorf("session %q is not open", sessionID)
	}
	return c, nil
}

// Pay is a customer's payment.
func (s *Server) Pay(sessionID string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	c, err := s.open(sessionID)
	if err != nil {
		return err
	}
	s.capture(c, s.intent(c))
	s.event("checkout.session.completed", c)
	return nil
}

// PayLater is a payment whose money takes time: Arrive or Fail ends it.
func (s *Server) PayLater(sessionID string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	c, err := s.open(sessionID)
	if err != nil {
		return err
	}
	c.Status, c.URL, c.PaymentIntent = "complete", "", s.intent(c).ID
	s.event("checkout.session.completed", c)
	return nil
}

// Arrive is the arrival of the money of PayLater.
func (s *Server) Arrive(sessionID string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	c := s.sessions[sessionID]
	s.capture(c, s.intents[c.PaymentIntent.(string)])
	s.event("checkout.session.async_payment_succeeded", c)
}

// Fail is the failure of PayLater.
func (s *Server) Fail(sessionID string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.event("checkout.session.async_payment_failed", s.sessions[sessionID])
}

// Decline is an attempt with a card that is declined; the session stays open.
func (s *Server) Decline(sessionID string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	c, err := s.open(sessionID)
	if err != nil {
		return err
	}
	p := s.intent(c)
	p.LastPaymentError = &paymentError{"card_error", "card_declined", "insufficient_funds", "Your card has insufficient funds."}
	s.event("payment_intent.payment_failed", p)
	return nil
}

// Lapse is the end of a session's time.
func (s *Server) Lapse(sessionID string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	c, err := s.open(sessionID)
	if err == nil {
		s.expire(c)
	}
	return err
}

// SetRefundStatus sets the status of future refunds: succeeded, pending, failed.
func (s *Server) SetRefundStatus(status string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.refundStatus = status
}

// FailRefund makes a refund fail after it was made.
func (s *Server) FailRefund(refundID string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, r := range s.refunds {
		if r.ID == refundID {
			r.Status, r.FailureReason = "failed", "expired_or_canceled_card"
			s.recount(r.Charge)
			s.event("refund.failed", r)
			s.event("charge.refund.updated", r)
		}
	}
}

// RefundInDashboard is a refund that the merchant makes in Stripe's dashboard.
func (s *Server) RefundInDashboard(paymentID string, amount int64) (refundID string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.refund(s.intents[paymentID], amount, map[string]string{}, "requested_by_customer").ID
}

// Dispute is a demand of the customer's bank for the money.
func (s *Server) Dispute(paymentID string, amount int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.event("charge.dispute.created", map[string]any{
		"id": s.id("dp"), "object": "dispute", "amount": amount, "currency": "usd", "metadata": map[string]string{}, "reason": "fraudulent",
		"status": "needs_response", "charge": s.intents[paymentID].LatestCharge, "payment_intent": paymentID,
	})
}

func (s *Server) expire(c *session) {
	c.Status, c.URL = "expired", ""
	s.event("checkout.session.expired", c)
}

func (s *Server) intent(c *session) *intent {
	p := &intent{ID: s.id("pi"), Object: "payment_intent", Amount: c.AmountTotal, Currency: "usd", Metadata: c.intentMetadata, Status: "processing"}
	s.intents[p.ID] = p
	return p
}

// capture captures the money. Stripe copies the payment's metadata to the charge.
func (s *Server) capture(c *session, p *intent) {
	paid := &charge{ID: s.id("ch"), Object: "charge", Amount: p.Amount, Currency: "usd", Metadata: p.Metadata, PaymentIntent: p.ID, Status: "succeeded"}
	s.charges[paid.ID] = paid
	p.AmountReceived, p.LatestCharge, p.Status = p.Amount, paid.ID, "succeeded"
	c.Status, c.PaymentStatus, c.URL, c.PaymentIntent = "complete", "paid", "", p.ID
	s.event("payment_intent.succeeded", p)
}
