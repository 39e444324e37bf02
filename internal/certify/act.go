package certify

import "purveyor/internal/commerce"

// Act is something that is done to the integration or to its orders. Fault, Do and Forge exclude each
// other.
type Act struct {
	Key   string             `json:"key"` // unique in the run; an act that is done again under its key changes nothing more
	Fault commerce.FaultKind `json:"fault,omitzero"`
	// Operation is the one that the fault hits, Calls how often.
	Operation string `json:"operation,omitzero"`
	Calls     int64  `json:"calls,omitzero"`
	// Do is an action of the sandbox on the order with this id.
	Do      string `json:"do,omitzero"`
	OrderID string `json:"order_id,omitzero"`
	// Forge sends a webhook about this event to the endpoint.
	Forge   Forgery `json:"forge,omitzero"`
	EventID string  `json:"event_id,omitzero"`
}

// Forgery is what is wrong with a webhook.
type Forgery string

// The forgeries.
const (
	WrongSignature Forgery = "wrong_signature" // signed with another secret, under another id
	OldTime        Forgery = "old_time"        // signed ten minutes ago, under another id
	Replay         Forgery = "replay"          // twice the same bytes, signature and time
	Duplicate      Forgery = "duplicate"       // signed now, with the id of an event that was delivered
)

// Forged is what became of it.
type Forged struct {
	EventID string `json:"event_id"`
	Status  int64  `json:"status"` // of the last answer; 0: there was none
}

// Post is how the events of an order are sent.
type Post string

// The ways.
const (
	PostDown    Post = "down"    // the first try of each event finds nothing there
	PostSlow    Post = "slow"    // the first answer to each event counts as too late
	PostFailing Post = "failing" // the first answer to each event counts as a 500
	PostLate    Post = "late"    // the first event of the order comes after the next one
	PostDoubled Post = "doubled" // each event is sent twice at the same time
	PostNever   Post = "never"   // events are only in the feed
)
