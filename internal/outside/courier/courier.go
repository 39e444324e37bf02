// Package courier is the port to courier providers, who bring goods from a
// store to a customer. There are three: the Sandbox, for test mode, Uber Direct
// and DoorDash Drive.
package courier

import (
	"context"
	"net/http"
	"time"

	"purveyor/internal/commerce"
)

// Provider brings goods. An error of its calls is a *Refusal, which is definite;
// a *Limited or a *commerce.CredentialsError, with which nothing was done; or it
// leaves open whether the call had an effect.
type Provider interface {
	// Quote tells what a delivery would cost now, and how long it would take.
	Quote(ctx context.Context, r QuoteRequest) (Quote, error)

	// Create makes a delivery by a quote that the provider has given just now; if
	// the quote expired or was used meanwhile, it is quoted once more. One Ref is
	// delivered once: if there is a delivery of it already, that is returned.
	Create(ctx context.Context, r CreateRequest) (Delivery, error)

	// Get reads a delivery as it is now. Without its ID it is looked for by its Ref;
	// a *Refusal with NotFound says that there is none.
	Get(ctx context.Context, k Key) (Delivery, error)

	// Cancel ends a delivery. A *Refusal with TooLate says that the goods are with
	// the courier. One that is cancelled already is no error.
	Cancel(ctx context.Context, k Key) (Delivery, error)

	// ReadCallback translates what the provider has posted to us, once it is found to
	// be from the provider; a *BadCallback if it is not. A callback of no interest is an
	// empty list. Any other error asks for the callback to be sent again.
	ReadCallback(ctx context.Context, header http.Header, body []byte) ([]Callback, error)

	// CallbackForm says what every callback has, so that anything else is refused
	// unread: one of these headers at least, and at most so many bytes.
	CallbackForm() (headers []string, maxBytes int)
}

// Stop is one end of the way.
type Stop struct {
	Name         string
	Phone        string // as it was given; empty: none
	Address      commerce.Address
	At           *commerce.Point // nil: not known
	Instructions string
}

// QuoteRequest is what is to be delivered.
type QuoteRequest struct {
	Ref             string // of the delivery, or of this question alone
	StoreID         string
	Pickup, Dropoff Stop
	ValueCents      commerce.Cents // of the goods
}

// Quote is an offer.
type Quote struct {
	ID                    string
	FeeCents              commerce.Cents
	Currency              string // as in USD
	DropoffETA            int64  // Unix ms
	ExpiresOn             int64  // Unix ms
	DurationSeconds       int64  // from now to the drop-off
	PickupDurationSeconds int64  // from now to the pick-up
}

// CreateRequest asks for a delivery.
type CreateRequest struct {
	QuoteRequest
	QuoteID string
	OrderID string
	Items   []Item
	// AskedOn is when this Ref was first asked to be delivered (Unix ms); providers
	// forget idempotency keys after a while.
	AskedOn int64
}

// Item is a line of what is delivered.
type Item struct {
	Name       string
	Quantity   int64
	PriceCents commerce.Cents // of one piece
}

// Key names a delivery.
type Key struct {
	ID  string // of the provider; empty: not known
	Ref string // of ours
	// AskedOn is when it was first asked for, as in CreateRequest: whoever looks for
	// it by its Ref need not look at older ones. 0: not known.
	AskedOn int64
}

// Delivery is a delivery as its provider sees it. Fields that it does not tell
// are empty.
type Delivery struct {
	ID          string
	Ref         string // as it was created with
	QuoteID     string
	Status      commerce.CourierStatus
	TrackingURL string // a page for the customer
	FeeCents    commerce.Cents
	PickupETA   int64 // Unix ms
	DropoffETA  int64 // Unix ms
	Courier     commerce.Courier
	Imminent    bool
	SeenOn      int64 // Unix ms, of what is told; 0: now
	// Reason says, in the provider's words, why it was cancelled or is returned.
	Reason string
}

// Callback is news of a delivery. Callbacks may come late, in any order, and more
// than once.
type Callback struct {
	ID string // at the provider: the same for a repeated callback
	Delivery
}

// Code is why a provider refuses.
type Code string

// The codes.
const (
	OutOfZone    Code = "out_of_zone"   // one end is not served, or they are too far apart
	NoCouriers   Code = "no_couriers"   // nobody is free now
	BadAddress   Code = "bad_address"   // or a phone number that is missing or wrong
	QuoteExpired Code = "expired_quote" // even when quoted again
	TooLate      Code = "too_late"      // to cancel
	NotFound     Code = "not_found"     // no such delivery
	Other        Code = "refused"
)

// Refusal is a definite no. The Message may be shown to partners and merchants.
type Refusal struct {
	Code    Code
	Message string
}

func (r *Refusal) Error() string { return "refused by the courier provider: " + r.Message }

// Limited says that the provider wants to be asked less often.
type Limited struct {
	RetryAfter time.Duration // 0: it does not say
}

func (l *Limited) Error() string { return "the courier provider is asked too often" }

// BadCallback is a callback that nobody can trust or read.
type BadCallback struct{ Reason string }

func (b *BadCallback) Error() string { return "courier notice: " + b.Reason }
