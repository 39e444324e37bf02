package simulation

import (
	"slices"

	"purveyor/internal/commerce"
)

// next has the statuses that an order may have after another one (SPEC, States; BEHAVIOUR,
// Lifecycle). It is written from these pages, not from the code.
var next = map[string][]string{
	"":                 {"pending_payment", "processed"},
	"pending_payment":  {"paid", "failed_payment", "cancelled"},
	"failed_payment":   {"cancelled"},
	"paid":             {"processed", "cancelled", "refunded", "refund_requested"},
	"processed":        {"shipped", "ready_for_pickup", "cancelled", "refunded", "refund_requested"},
	"shipped":          {"out_for_delivery", "delivered", "cancelled", "refunded", "refund_requested"},
	"out_for_delivery": {"delivered", "cancelled", "refunded", "refund_requested"},
	"ready_for_pickup": {"picked_up", "cancelled", "refunded", "refund_requested"},
	"delivered":        {"refunded", "refund_requested"},
	"picked_up":        {"refunded", "refund_requested"},
	"cancelled":        {"refunded"},
	"refund_requested": {"paid", "processed", "shipped", "out_for_delivery", "delivered", "ready_for_pickup", "picked_up", "cancelled", "refunded"},
	// A bank may give a refund back.
	"refunded": {"cancelled", "paid", "processed", "shipped", "out_for_delivery", "delivered", "ready_for_pickup", "picked_up"},
}

// leads reports whether an order may come from one status to another, by several steps that
// its partner did not see. Without requests for refunds and refunds that came back, nothing leads back.
func leads(from, to string) bool {
	seen := []string{from}
	for i := 0; i < len(seen); i++ {
		if seen[i] == to {
			return true
		}
		if i > 0 && (seen[i] == "refund_requested" || seen[i] == "refunded") {
			continue
		}
		for _, n := range next[seen[i]] {
			if !slices.Contains(seen, n) {
				seen = append(seen, n)
			}
		}
	}
	return false
}

// atRest reports whether an order with this status waits for no staff, partner or provider.
func atRest(status string) bool {
	switch status {
	case "pending_payment", "failed_payment", "delivered", "picked_up", "cancelled", "refunded":
		return true
	}
	return false
}

// expected is what an order of the story must look like, whatever its status (SPEC, Order;
// BEHAVIOUR, Money and content).
func (s *story) expected() (o orderJSON) {
	o.ID, o.StoreID, o.Fulfillment, o.Dev = s.id, storeID(s.store), "pickup", s.mode == commerce.Test
	if s.delivery {
		o.Fulfillment = "delivery"
	}
	o.Items = []itemJSON{{productID(s.store, s.item), s.pieces, int64(price)}}
	o.Subtotal = int64(price) * s.pieces
	if s.paidHere { // on the items, rounded half up once per order
		o.Tax = (o.Subtotal*taxRate(s.store) + 5000) / 10_000
	} else {
		o.ExternalID = s.name
	}
	o.Total, o.Refunded = o.Subtotal+o.Tax, s.refunded
	return o
}

// orderJSON has the fields of an order that follow from what was asked for.
type orderJSON struct {
	ID          string     `json:"id"`
	StoreID     string     `json:"store_id"`
	ExternalID  string     `json:"external_order_id"`
	Fulfillment string     `json:"fulfillment_type"`
	Dev         bool       `json:"dev"`
	Items       []itemJSON `json:"items"`
	Fee         int64      `json:"delivery_fee"`
	Subtotal    int64      `json:"subtotal"`
	Tax         int64      `json:"tax_amount"`
	Total       int64      `json:"total"`
	Refunded    int64      `json:"refunded_total"`
}

type itemJSON struct {
	ProductID string `json:"product_id"`
	Quantity  int64  `json:"quantity"`
	Price     int64  `json:"price"`
}
