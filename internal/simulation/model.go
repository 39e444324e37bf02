package simulation

import "slices"

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
// nobody has seen. Without requests for refunds and refunds that came back, nothing leads back.
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

// atRest reports whether nobody has to move an order with this status on.
func atRest(status string) bool {
	switch status {
	case "pending_payment", "failed_payment", "delivered", "picked_up", "cancelled", "refunded":
		return true
	}
	return false
}
