package simulation

import (
	"net/http"
	"slices"
	"strings"
)

// judgeReport judges an order that was reported: it is processed, whatever its courier does
// meanwhile (SPEC, Checkout and orders; BEHAVIOUR, Lifecycle).
func (x *asked) judgeReport() {
	var c cart
	var b struct {
		OrderID    string `json:"order_id"`
		ExternalID string `json:"external_order_id"`
		Status     string
		Delivery   *struct {
			Created  bool
			ID       string `json:"courier_delivery_id"`
			Tracking string `json:"courier_tracking_url"`
		}
	}
	if err := decode([]byte(x.body), &c); err != nil || !x.read(&b) {
		x.wrong("it cannot be read: %v", err)
		return
	}
	x.want("status", b.Status, "processed")
	if x.status != http.StatusCreated || b.OrderID == "" || !strings.Contains(x.body, `"`+b.ExternalID+`"`) {
		x.wrong("it is no answer of a report")
	}
	if (b.Delivery != nil) != (c.Fulfillment == "delivery") || b.Delivery != nil && (b.Delivery.ID != "") != b.Delivery.Created || b.Delivery != nil && (b.Delivery.Tracking != "") != b.Delivery.Created {
		x.wrong("its delivery is wrong")
	}
	x.enough(c)
}

func (x *asked) judgeCheckout() {
	var c cart
	var b struct {
		OrderID   string `json:"order_id"`
		SessionID string `json:"session_id"`
		URL       string `json:"checkout_url"`
	}
	if err := decode([]byte(x.body), &c); err != nil || !x.read(&b) {
		x.wrong("it cannot be read: %v", err)
		return
	}
	if x.status != http.StatusCreated || b.OrderID == "" || b.SessionID == "" || !strings.HasPrefix(b.URL, publicURL+"/") {
		x.wrong("it is no answer of a checkout")
	}
	x.enough(c)
}

// enough: nothing is sold that is not there.
func (x *asked) enough(c cart) {
	for _, i := range c.Items {
		if seen := x.stock[i.ProductID]; seen == nil || seen.high < i.Quantity {
			x.wrong("%d of %s were sold, and there were %s", i.Quantity, i.ProductID, told(seen))
		}
	}
}

// judgeAdvance judges confirm, ready-for-pickup and picked-up (SPEC, Advancing status).
func (x *asked) judgeAdvance() {
	var b struct {
		OrderID  string `json:"order_id"`
		Status   string
		Updated  int64  `json:"updated_on"`
		Ready    *int64 `json:"ready_for_pickup_at"`
		PickedUp *int64 `json:"picked_up_at"`
		Again    *bool  `json:"idempotent_replay"`
	}
	if !x.read(&b) {
		return
	}
	act := x.path[strings.LastIndex(x.path, "/")+1:]
	to := map[string]string{"confirm": "processed", "ready-for-pickup": "ready_for_pickup", "picked-up": "picked_up"}[act]
	x.want("order_id", b.OrderID, x.order.id)
	again := b.Again != nil && *b.Again
	switch {
	case b.Again == nil || again && x.tries == 1:
		x.wrong("idempotent_replay is wrong after %d tries", x.tries)
	case !again && b.Status != to, again && !leads(to, b.Status):
		x.wrong("the order becomes %s", to)
	case act == "ready-for-pickup" && b.Ready == nil, act == "picked-up" && b.PickedUp == nil:
		x.wrong("the time is missing")
	case x.order.known.status != "" && !slices.Contains(next[x.before.status], to) && !again:
		x.wrong("the order was %s before", x.before.status)
	}
	x.judgeUpdated(x.order, x.before, b.Updated, "")
}

func (x *asked) judgeCancel() {
	var b struct {
		OrderID  string `json:"order_id"`
		Status   string
		Delivery *bool `json:"delivery_cancelled"`
		Restored *bool `json:"inventory_restored"`
		Refund   *struct {
			ID     string `json:"payments_refund_id"`
			Amount int64  `json:"amount_refunded_cents"`
		}
	}
	if !x.read(&b) {
		return
	}
	s := x.order
	x.want("order_id", b.OrderID, s.id)
	x.want("status", b.Status, "cancelled")
	if b.Delivery == nil || *b.Delivery && !s.delivery || b.Restored == nil {
		x.wrong("it does not tell what was cancelled and restored")
	}
	if had := s.had; b.Restored != nil && had.low == had.high && *b.Restored != (had.high > 0) {
		x.wrong("inventory_restored is wrong: %d pieces were taken", had.high)
	}
	total := s.pays()
	switch {
	case b.Refund == nil && s.paidHere && s.paying && x.before.status != "pending_payment":
		x.wrong("the customer has paid, and was to get the money back")
	case b.Refund != nil && (!s.paidHere || b.Refund.ID == "" || b.Refund.Amount != 0 && b.Refund.Amount != total):
		x.wrong("%d cents were paid", total)
	}
}

func (x *asked) judgeRefund() {
	var b struct {
		OrderID string `json:"order_id"`
		ID      string `json:"payments_refund_id"`
		Amount  int64  `json:"amount_refunded_cents"`
		Total   int64  `json:"total_refunded_cents"`
		Status  string
	}
	if !x.read(&b) {
		return
	}
	x.want("order_id", b.OrderID, x.order.id)
	all := x.order.expected().Total
	if b.ID == "" || b.Amount <= 0 || b.Total < b.Amount || b.Total > x.order.mayRefund || (b.Status == "refunded") != (b.Total == all) {
		x.wrong("%d cents of %d may be refunded", x.order.mayRefund, all)
	}
}
