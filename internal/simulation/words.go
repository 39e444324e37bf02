package simulation

import (
	"cmp"
	"fmt"
	"net/http"
	"regexp"
	"strings"

	"purveyor/internal/commerce"
	"purveyor/internal/outside/webhook"
	"purveyor/internal/storage"
)

// deeds are what calls of an order are in words. Each stands before the order.
var deeds = map[string]string{
	"confirm": "confirms", "ready-for-pickup": "has the goods ready of", "picked-up": "hands over the goods of", "cancel": "cancels",
	"refund": "gives money back for", "": "reads", "ping": "asks how it stands with", "tracking": "follows", "timeline": "reads the timeline of",
	"driver-location": "asks where the courier is of",
}

// words says what a request asks for.
func (r request) words() string {
	path, _, _ := strings.Cut(r.path, "?")
	var b struct {
		External    string `json:"external_order_id"`
		Items       []wanted
		Adjustments []wanted
		Fulfillment string `json:"fulfillment_type"`
		Amount      int64  `json:"amount_cents"`
		Refund      bool
	}
	_ = decode([]byte(r.body), &b) // what is not there is not told
	switch {
	case path == "/v1/orders/report":
		return fmt.Sprintf("reports the order %q: %s, %s", b.External, listed(b.Items), b.Fulfillment)
	case path == "/v1/checkout/session":
		return fmt.Sprintf("checks out %s, %s", listed(b.Items), b.Fulfillment)
	case path == "/v1/products/availability":
		return "asks whether it can have " + listed(b.Items)
	case path == "/v1/inventory/adjustments":
		return "adjusts the stock: " + listed(b.Adjustments)
	case strings.HasPrefix(path, "/sandbox/"):
		return "has its customer answer the payment page with " + r.body
	}
	rest, ofOrders := strings.CutPrefix(path, "/v1/orders/")
	id, act, _ := strings.Cut(rest, "/")
	deed, known := deeds[act]
	switch {
	case !ofOrders || !known || !strings.HasPrefix(id, commerce.PrefixOrder):
		return "calls " + r.method + " " + r.path
	case b.Amount > 0:
		deed = fmt.Sprintf("gives %d cents back for", b.Amount)
	case b.Refund:
		deed += ", and asks for the money back,"
	}
	return deed + " order " + id
}

// wanted is a line of a request.
type wanted struct {
	ProductID string `json:"product_id"`
	Quantity  *int64
	Price     int64
	Delta     int64
}

func listed(lines []wanted) string {
	var list []string
	for _, l := range lines {
		switch {
		case l.Quantity == nil:
			list = append(list, fmt.Sprintf("%+d of %s", l.Delta, l.ProductID))
		case l.Price > 0:
			list = append(list, fmt.Sprintf("%d of %s for %d cents each", *l.Quantity, l.ProductID, l.Price))
		default:
			list = append(list, fmt.Sprintf("%d of %s", *l.Quantity, l.ProductID))
		}
	}
	return strings.Join(list, " and ")
}

// answerWords says what an answer tells.
func answerWords(status int, answer string) string {
	var b struct {
		Error  string
		Status string
		Order  struct {
			Status   string
			Refunded int64 `json:"refunded_total"`
		}
		OrderID   string `json:"order_id"`
		Available *bool  `json:"all_available"`
		Amount    *int64 `json:"amount_refunded_cents"`
		Total     int64  `json:"total_refunded_cents"`
		Count     *int
		Replayed  bool `json:"idempotent_replay"`
	}
	_ = decode([]byte(answer), &b) // what is not there is not told
	text := fmt.Sprint(status, " ", http.StatusText(status))
	switch {
	case status == 0:
		return "there is no answer"
	case b.Error != "":
		return text + ": " + b.Error
	case b.Amount != nil:
		text += fmt.Sprintf(": %d cents are given back, %d in all", *b.Amount, b.Total)
	case b.Available != nil:
		text += fmt.Sprintf(", all available: %v", *b.Available)
	case b.OrderID != "" && status == http.StatusCreated:
		text += ": it is order " + b.OrderID
	case b.Count != nil:
		text += fmt.Sprintf(": %d entries", *b.Count)
	}
	if status := cmp.Or(b.Status, b.Order.Status); status != "" {
		text += ", " + strings.ReplaceAll(status, "_", " ")
	}
	if b.Replayed {
		text += ", as before"
	}
	return text
}

// sayCall tells of a call. What a partner reads is told when it is new.
func (w *world) sayCall(by string, r request, status int, answer, process string) {
	if !w.tale.open() {
		return
	}
	said := fmt.Sprintf("%s %s: %s", by, r.words(), answerWords(status, answer))
	switch {
	case status == 0 && process != "":
		said = fmt.Sprintf("%s %s: %s does not answer", by, r.words(), process)
	case process != "" && r.method != http.MethodGet:
		said = fmt.Sprintf("%s %s: %s answers %s", by, r.words(), process, answerWords(status, answer))
	}
	if r.about != "" && !strings.Contains(said, "ord_") {
		said += " (" + r.about + ")"
	}
	if r.method == http.MethodGet && status == http.StatusOK {
		w.news(r.path, "%s", said)
		return
	}
	w.say("%s", said)
}

// sayCommit tells what a batch changes, or was to change.
func (w *world) sayCommit(process, did string, b storage.Batch) {
	if !w.tale.open() {
		return
	}
	if list := changes(b.Rows()); len(list) > 0 {
		w.say("%s %s: %s", process, did, strings.Join(list, "; "))
	}
}

// changes are those of a batch that a person asks about.
func changes(r *commerce.Rows) (list []string) {
	say := func(format string, args ...any) { list = append(list, fmt.Sprintf(format, args...)) }
	each(&r.Orders, func(o, was *commerce.Order) {
		switch {
		case was == nil:
			say("order %s is made, %s", o.ID, o.Status)
		case was.Status != o.Status:
			say("order %s is %s, and was %s", o.ID, o.Status, was.Status)
		}
	})
	each(&r.Stock, func(s, was *commerce.Stock) {
		if was != nil && (s.Quantity != was.Quantity || s.Held != was.Held) {
			say("%s has %d pieces and holds %d, before it was %d and %d", s.ProductID, s.Quantity, s.Held, was.Quantity, was.Held)
		}
	})
	each(&r.Payments, func(p, was *commerce.Payment) {
		if was == nil || p.State != was.State {
			say("the payment of order %s is %s", p.OrderID, p.State)
		}
	})
	each(&r.Refunds, func(f, was *commerce.Refund) {
		if was == nil || f.State != was.State {
			say("a refund of %d cents for order %s is %s", f.AmountCents, f.OrderID, f.State)
		}
	})
	each(&r.Deliveries, func(d, was *commerce.Delivery) {
		if was == nil || d.State != was.State || d.Status != was.Status || d.Attempt != was.Attempt {
			say("the delivery of order %s, attempt %d, is %s (%s)", d.OrderID, d.Attempt, d.State, d.Status)
		}
	})
	each(&r.Attention, func(a, was *commerce.Attention) {
		say("attention for order %s: %s%s", a.OrderID, a.Code, map[bool]string{true: ", resolved"}[a.ResolvedOn != 0])
	})
	for _, e := range r.Appended.Webhooks {
		say("%s has the event %s %s of order %s", e.PartnerID, e.Kind, e.ID, e.OrderID)
	}
	return list
}

func each[K comparable, V any](rows *commerce.Table[K, V], do func(v, was *V)) {
	for i := range rows.Changed() {
		if _, v, was := rows.Change(i); v != nil {
			do(v, was)
		}
	}
}

// sayTry tells of a call of a provider or of a partner's endpoint.
func (w *world) sayTry(by, what string, err error) {
	if !w.tale.open() || strings.HasPrefix(what, "webhook ") {
		return
	}
	if order, attempt, ok := commerce.ParseDeliveryRef(refs.FindString(what)); ok {
		verb, _, _ := strings.Cut(what, " ")
		what = fmt.Sprintf("%s the delivery of order %s, attempt %d", verb, order, attempt)
	}
	if err != nil {
		w.say("%s calls: %s: %v", by, what, err)
		return
	}
	w.say("%s calls: %s: it is done", by, what)
}

// sayCallback tells of a callback of a sandbox.
func (w *world) sayCallback(by, port string, body []byte, err error) {
	if !w.tale.open() {
		return
	}
	var b struct{ Kind, OrderID, Status, Ref string }
	_ = decode(body, &b) // what is not there is not told
	if order, attempt, ok := commerce.ParseDeliveryRef(b.Ref); ok {
		b.OrderID, b.Kind = order, fmt.Sprintf("attempt %d is %s", attempt, b.Status)
	}
	result := "takes it"
	if err != nil {
		result = "does not: " + err.Error()
	}
	w.say("The sandbox for %s tells of order %s: %s; %s %s", port, b.OrderID, b.Kind, by, result)
}

var refs = regexp.MustCompile(commerce.PrefixDelivery + `[0-9a-z]+_\d+`)

// sayWebhook tells of an attempt to deliver an event.
func (w *world) sayWebhook(by string, r webhook.Request, result webhook.Result) {
	if !w.tale.open() {
		return
	}
	var b struct {
		Event   string
		OrderID string `json:"order_id"`
	}
	_ = decode(r.Body, &b) // what is not there is not told
	answer := "taken"
	if result.Error != "" {
		answer = result.Error
	}
	w.say("%s sends %s %s of order %s to %s: %s", by, b.Event, r.ID, b.OrderID, r.URL, answer)
}
