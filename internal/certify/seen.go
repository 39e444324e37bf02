package certify

import (
	"strings"
	"time"

	"purveyor/internal/commerce"
)

// Seen is what is known of the integration at one time.
type Seen struct {
	Requests []Request                 // in test mode since the run began, oldest first
	Lost     int64                     // requests of that time that the log has dropped
	Orders   map[string]commerce.Order // by our number, as far as Run.Orders knows them
	Events   map[string][]Event        // of these orders, oldest first
	Products int                       // that the partner can read; more than ManyProducts are not counted
}

// ManyProducts is how many products are counted for the pages of a sync.
const ManyProducts = 10

// Request is a call of the partner, as the log of requests has it.
type Request struct {
	At         commerce.Millis // of the end of the answer
	Took       time.Duration
	Operation  string
	Target     string // path and query
	Status     int
	Key        string // Idempotency-Key
	ExternalID string // external_order_id of the body
	OrderID    string
	RetryAfter int64 // seconds; 0: the answer does not say
	TraceID    string
	Connection string // the same for calls over one connection; empty: not known
}

func (r Request) began() commerce.Millis { return r.At.Add(-r.Took) }

func (r Request) ok() bool { return r.Status/100 == 2 }

func (r Request) asks(parameter string) bool {
	_, query, _ := strings.Cut(r.Target, "?")
	return strings.Contains("&"+query, "&"+parameter+"=")
}

// Event is an event of an order of the run, with its tries at the endpoint of the run.
type Event struct {
	ID    string
	Kind  commerce.WebhookKind
	Tries []commerce.WebhookAttempt
}

func (e Event) delivered() bool {
	for _, a := range e.Tries {
		if a.Delivered() {
			return true
		}
	}
	return false
}
