// Package courier is the port to courier providers, which bring goods from a store to
// a customer. It has three of them: the Sandbox for test mode, Uber Direct, and
// DoorDash Drive.
package courier

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"time"

	"purveyor/internal/commerce"
	"purveyor/internal/outside/watch"
)

// Provider brings goods from a store to a customer. Its calls return three kinds of
// errors: a *Refusal is definite; a *Limited or *commerce.CredentialsError means that
// the call had no effect; after any other error the call may have had its effect.
type Provider interface {
	// Quote returns what a delivery would cost now, and how long it would take.
	Quote(ctx context.Context, r QuoteRequest) (Quote, error)

	// Create creates a delivery from a quote that the provider returned moments ago.
	// If the quote has expired or was used meanwhile, Create gets a new one, once.
	// Each Ref is delivered once: if it already has a delivery, Create returns that.
	Create(ctx context.Context, r CreateRequest) (Delivery, error)

	// Get reads the current state of a delivery. If k has no ID, the delivery is
	// looked up by its Ref. A *Refusal with NotFound means that it does not exist.
	Get(ctx context.Context, k Key) (Delivery, error)

	// Cancel ends a delivery. A *Refusal with TooLate means that the courier has the
	// goods. Cancelling a cancelled delivery is no error.
	Cancel(ctx context.Context, k Key) (Delivery, error)

	// ReadCallback verifies that the provider posted this callback, and translates
	// it. It returns a *BadCallback if the provider did not, and an empty list for a
	// callback of no interest. After any other error the provider should post the
	// callback again.
	ReadCallback(ctx context.Context, header http.Header, body []byte) ([]Callback, error)

	// CallbackForm returns what every callback of this provider has: at least one of
	// these headers, and at most maxBytes. Everything else is refused without being
	// read.
	CallbackForm() (headers []string, maxBytes int)
}

// Stop is the start or the end of a delivery's way.
type Stop struct {
	Name         string
	Phone        string // as given by the caller; empty: none
	Address      commerce.Address
	At           *commerce.Point // nil: not known
	Instructions string
}

// QuoteRequest says what is to be delivered, from where to where.
type QuoteRequest struct {
	Ref             string // of the delivery, or made for this quote only
	StoreID         string
	Pickup, Dropoff Stop
	ValueCents      commerce.Cents // value of the goods
	// ReadyAt is when the goods can be picked up, if that is later; 0: now.
	ReadyAt commerce.Millis
}

// Quote is a provider's offer.
type Quote struct {
	ID                    string
	FeeCents              commerce.Cents
	Currency              string // upper case, as in USD
	DropoffETA            commerce.Millis
	ExpiresOn             commerce.Millis
	DurationSeconds       int64 // from now to the drop-off
	PickupDurationSeconds int64 // from now to the pick-up
}

// CreateRequest asks for a delivery.
type CreateRequest struct {
	QuoteRequest
	QuoteID string
	OrderID string
	Items   []Item
	// AskedOn is when the first request for this Ref was made (Unix ms). Providers
	// forget idempotency keys after some time.
	AskedOn commerce.Millis
}

// Item is one line of the delivered goods.
type Item struct {
	Name       string
	Quantity   int64
	PriceCents commerce.Cents // per piece
}

// Key names a delivery.
type Key struct {
	ID  string // given by the provider; empty: not known
	Ref string // given by us
	// AskedOn is when the delivery was first asked for, as in CreateRequest. A search
	// by Ref can skip older deliveries. 0: not known.
	AskedOn commerce.Millis
}

// Delivery is a delivery as its provider reports it. Fields that the provider leaves
// out are empty. The JSON is as the sandbox posts it.
type Delivery struct {
	ID          string                 `json:"delivery_id"`
	Ref         string                 `json:"ref"` // the Ref it was created with
	QuoteID     string                 `json:"quote_id"`
	Status      commerce.CourierStatus `json:"status"`
	TrackingURL string                 `json:"tracking_url"` // a page for the customer
	FeeCents    commerce.Cents         `json:"fee_cents"`
	PickupETA   commerce.Millis        `json:"pickup_eta,omitzero"`
	DropoffETA  commerce.Millis        `json:"dropoff_eta,omitzero"`
	Courier     commerce.Courier       `json:"courier"`
	Imminent    bool                   `json:"imminent"`
	SeenOn      commerce.Millis        `json:"seen_on"` // when the provider knew this; 0: now
	// Reason is the provider's text on why the delivery was cancelled or is coming
	// back.
	Reason string `json:"reason,omitzero"`
}

// Callback is an update of one delivery. Callbacks may come late, in any order, and
// more than once.
type Callback struct {
	ID string `json:"id"` // given by the provider; a repeated callback has the same
	Delivery
}

// Code is the reason of a refusal.
type Code string

// The codes.
const (
	OutOfZone    Code = "out_of_zone"   // one end is not served, or the distance is too long
	NoCouriers   Code = "no_couriers"   // no courier is free now
	BadAddress   Code = "bad_address"   // or a missing or wrong phone number
	QuoteExpired Code = "expired_quote" // a new quote did not help either
	TooLate      Code = "too_late"      // for a cancellation
	NotFound     Code = "not_found"     // the delivery does not exist
	Other        Code = "refused"
)

// Refusal is a definite refusal. Message may be shown to partners and merchants.
type Refusal struct {
	Code    Code
	Message string
}

func (r *Refusal) Error() string { return "refused by the courier provider: " + r.Message }

// Limited means that the provider wants fewer calls.
type Limited struct {
	RetryAfter time.Duration // 0: the provider did not say
}

func (l *Limited) Error() string { return "the courier provider limits our calls" }

// BadCallback is a callback that cannot be trusted or read.
type BadCallback struct{ Reason string }

func (b *BadCallback) Error() string { return "courier notice: " + b.Reason }

// webLink returns a provider's address if a page may link to it, and otherwise "".
func webLink(text string) string {
	u, err := url.Parse(text)
	if err != nil || u.Host == "" || u.Scheme != "https" && u.Scheme != "http" {
		return ""
	}
	return text
}

// PickupAt is the stop at which a courier collects the goods of a store.
func PickupAt(s commerce.Store, instructions string) Stop {
	stop := Stop{Name: s.Name, Phone: s.Phone, Instructions: instructions,
		Address: commerce.Address{Line1: s.Address, City: s.City, State: s.State, PostalCode: s.ZipCode, Country: "US"}}
	if at, known := s.Point(); known {
		stop.At = &at
	}
	return stop
}

// DropoffAt is the customer's stop; a is nil for an order without an address.
func DropoffAt(a *commerce.DeliveryAddress, instructions string) Stop {
	if a == nil {
		return Stop{Instructions: instructions}
	}
	return Stop{Name: a.Name, Phone: a.Phone, Address: a.Address, Instructions: instructions}
}

// Watch returns p with its calls watched, under its configured name. A call that
// fails is reported to the watcher, and returns a *commerce.ProviderError. Reading
// callbacks is not watched: its errors are about what was posted to us.
func Watch(name string, p Provider, watcher watch.Watcher) Provider {
	return watched{p, watch.Calls[*Refusal]{Provider: name, Watcher: watcher}}
}

type watched struct {
	Provider
	calls watch.Calls[*Refusal]
}

func (w watched) Quote(ctx context.Context, r QuoteRequest) (Quote, error) {
	return watch.Call(ctx, w.calls, "quote", w.Provider.Quote, r)
}

func (w watched) Create(ctx context.Context, r CreateRequest) (Delivery, error) {
	return watch.Call(ctx, w.calls, "create", w.Provider.Create, r)
}

func (w watched) Get(ctx context.Context, k Key) (Delivery, error) {
	return watch.Call(ctx, w.calls, "read", w.Provider.Get, k)
}

func (w watched) Cancel(ctx context.Context, k Key) (Delivery, error) {
	return watch.Call(ctx, w.calls, "cancel", w.Provider.Cancel, k)
}

// Fleet is the set of configured providers.
type Fleet struct {
	// Providers by name. Deliveries store these names.
	Providers map[string]Provider
	// Modes lists the providers of each mode, in the order in which they are asked.
	Modes map[commerce.Mode][]string
}

// ErrNoProvider means that the mode has no configured provider.
var ErrNoProvider = errors.New("no courier provider is configured for these orders")

// Quote returns the offer of the first provider that makes one. If all fail, it
// returns the most promising error: an outage, after which a repeat may help; then a
// *commerce.CredentialsError, which the operator can fix; then a *Refusal, if all
// providers refused.
func (f Fleet) Quote(ctx context.Context, mode commerce.Mode, r QuoteRequest) (Quote, error) {
	var refusal, denied, other error
	for _, name := range f.Modes[mode] {
		q, err := f.Providers[name].Quote(ctx, r)
		if err == nil {
			return q, nil
		}
		if refused, ok := errors.AsType[*Refusal](err); ok {
			refusal = refused
			continue
		}
		if err = fmt.Errorf("%s: %w", name, err); errors.As(err, new(*commerce.CredentialsError)) {
			denied = errors.Join(denied, err)
		} else {
			other = errors.Join(other, err)
		}
	}
	switch {
	case other != nil:
		return Quote{}, other
	case denied != nil:
		return Quote{}, denied
	case refusal != nil:
		return Quote{}, refusal
	}
	return Quote{}, ErrNoProvider
}

// Get reads a delivery from its provider.
func (f Fleet) Get(ctx context.Context, d commerce.Delivery) (Delivery, error) {
	p, ok := f.Providers[d.Provider]
	if !ok {
		return Delivery{}, fmt.Errorf("the courier provider %q is not configured any more", d.Provider)
	}
	return p.Get(ctx, KeyOf(d))
}

// KeyOf returns the key of a delivery's current attempt.
func KeyOf(d commerce.Delivery) Key {
	return Key{ID: d.ProviderID, Ref: d.Ref(), AskedOn: d.AskedOn}
}

// InOrder returns the providers to ask for a delivery. The provider that may have it
// already comes first, and the one that gave it up comes last.
func (f Fleet) InOrder(mode commerce.Mode, d commerce.Delivery) []string {
	names := slices.Clone(f.Modes[mode])
	place := func(name string) int {
		switch name {
		case d.Provider:
			return 0
		case d.Avoid:
			return 2
		}
		return 1
	}
	if _, known := f.Providers[d.Provider]; known && !slices.Contains(names, d.Provider) {
		names = append(names, d.Provider)
	}
	slices.SortStableFunc(names, func(a, b string) int { return place(a) - place(b) })
	return names
}
