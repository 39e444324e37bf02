package certify

// check is a check as the script knows it.
type check struct {
	ID    string
	Group Group
	Title string
}

// script has all checks, in the order in which they are told.
var script = []check{
	{"idempotency_key", Calls, "Each call that makes or changes something has an Idempotency-Key"},
	{"same_key_after_lost_answer", Calls, "A call whose answer was lost is made again under the same key"},
	{"new_key_for_new_order", Calls, "Another order has another key"},
	{"no_doubles", Calls, "No order is made twice"},
	{"unknown_fields", Calls, "Answers may have fields that are not known yet"},
	{"unknown_values", Calls, "Answers may have values that are not known yet"},

	{"rate_limited", Manners, "A call that is refused with 429 is made again, and not often"},
	{"retry_after", Manners, "It waits for as long as Retry-After says"},
	{"polls_apart", Manners, "What is polled is polled every five seconds or more seldom"},
	{"updated_since", Manners, "A second sync of the catalog asks for what has changed since"},
	{"cursors", Manners, "Lists are read to their end, page by page"},
	{"kept_connections", Manners, "Connections are kept and used again"},

	{"wrong_signature", Webhooks, "A webhook that another secret has signed is refused"},
	{"old_time", Webhooks, "A webhook that was signed ten minutes ago is refused"},
	{"replayed_webhook", Webhooks, "A webhook that a listener has recorded and sends again changes nothing"},
	{"duplicate_webhook", Webhooks, "An event that comes twice is answered, and is one event"},
	{"disorder", Webhooks, "An older event that comes late does not move an order back"},
	{"five_seconds", Webhooks, "Webhooks are answered within five seconds"},

	{"paid", Stories, "An order that is paid is confirmed"},
	{"short_stock", Stories, "An order whose goods are gone when it is confirmed is cancelled, and the money goes back"},
	{"merchant_cancels", Stories, "The books know of an order that the merchant has cancelled"},
	{"courier_gives_up", Stories, "The books know of a courier that has given up"},
	{"partial_refund", Stories, "A part of the money is refunded once"},
	{"refund_fails_later", Stories, "The books know of a refund that failed afterwards"},

	{"endpoint_down", Repair, "Events of a time when the endpoint could not be reached are in the books once"},
	{"endpoint_slow", Repair, "Events whose answer was too late are in the books once"},
	{"endpoint_failing", Repair, "Events that the endpoint answered with 500 are in the books once"},
	{"late_events", Repair, "Events that come after newer ones are in the books once"},
	{"doubled_events", Repair, "Events that come twice at the same time are in the books once"},
	{"feed_only", Repair, "Events that no webhook brings are in the books once, from the feed"},
}

// Title says in one sentence what a check wants; empty: there is no such check.
func Title(id string) string {
	for _, c := range script {
		if c.ID == id {
			return c.Title
		}
	}
	return ""
}
