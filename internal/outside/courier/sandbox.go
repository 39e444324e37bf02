package courier

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"time"

	"purveyor/internal/commerce"
	"purveyor/internal/env"
	"purveyor/internal/outside/sandbox"
)

// Sandbox is the Provider of test mode. Its couriers carry nothing, but they move
// step by step (Sandbox is a sandbox.Mover) from a side street to the store and on to
// the customer, and a public page shows them (Handler). It misbehaves on request: the
// second line of the customer's address says how (docs/SANDBOX.md). All of its state
// is kept in sandbox objects, so every process sees it and it survives a restart.
// Quotes are not stored: the id of a quote holds its time, and the rest follows from
// the way.
type Sandbox struct {
	sandbox.Base
	// StepEvery is the time between two steps of a courier. NewSandbox sets 5 s.
	StepEvery time.Duration
	// Locate returns the coordinates of an address that came without them. If it is
	// nil, such addresses have none.
	Locate func(context.Context, commerce.Address) (commerce.Point, bool)
}

// SandboxObjects is the prefix, up to the first underscore, of the ids of the objects
// that a Sandbox moves.
const SandboxObjects = "del"

const (
	deliveryPrefix = SandboxObjects + "_test_"
	// retryAfter is the wait that the sandbox asks for with the tag limited.
	retryAfter = 7 * time.Second
	// slowness is how long quotes and deliveries with the tag slow take. A job allows
	// 5 s for a quote, and a caller waits 10 s for both together.
	slowness = 4 * time.Second
)

// NewSandbox makes a sandbox. Handler must be served below baseURL, the service's
// public URL.
func NewSandbox(e env.Env, objects sandbox.Objects, baseURL string) *Sandbox {
	return &Sandbox{Base: sandbox.NewBase(e, objects, baseURL), StepEvery: 5 * time.Second}
}

// Quote implements Provider.
func (s *Sandbox) Quote(ctx context.Context, r QuoteRequest) (Quote, error) {
	if err := s.misbehave(ctx, tagsOf(r)); err != nil {
		return Quote{}, err
	}
	way, err := s.route(ctx, r)
	if err != nil {
		return Quote{}, err
	}
	return s.offer(ctx, way, commerce.MillisOf(s.Now()))
}

// Create implements Provider. The id of a delivery is derived from its Ref: a first
// request is a single write, and only a repeated one reads.
func (s *Sandbox) Create(ctx context.Context, r CreateRequest) (Delivery, error) {
	asked := tagsOf(r.QuoteRequest)
	if err := s.misbehave(ctx, asked); err != nil {
		return Delivery{}, err
	}
	switch {
	case asked.has(tagQuoteExpired):
		return Delivery{}, &Refusal{QuoteExpired, "The quote has expired, as the address asks."}
	case r.Ref == "":
		return Delivery{}, &Refusal{Other, "The delivery has no name."}
	}
	x, err := s.newDelivery(ctx, r, asked)
	if err != nil {
		return Delivery{}, err
	}
	object := sandbox.Object{ID: x.ID}
	if x.moves() {
		object.FirstStep = s.StepEvery
	}
	if object.Data, err = sandbox.Encode(x); err != nil {
		return Delivery{}, err
	}
	err = s.Objects.PutObject(ctx, object)
	if errors.Is(err, sandbox.ErrChanged) {
		return s.Get(ctx, Key{ID: x.ID})
	}
	if err != nil {
		return Delivery{}, fmt.Errorf("make a sandbox delivery: %w", err)
	}
	return s.view(x), nil
}

func (s *Sandbox) newDelivery(ctx context.Context, r CreateRequest, asked tags) (delivery, error) {
	id, err := s.Signer.ID(ctx, deliveryPrefix, r.Ref)
	if err != nil {
		return delivery{}, err
	}
	way, err := s.route(ctx, r.QuoteRequest)
	if err != nil {
		return delivery{}, err
	}
	now := commerce.MillisOf(s.Now())
	quote, err := s.honour(ctx, r.QuoteID, way, now)
	if err != nil {
		return delivery{}, err
	}
	return delivery{ID: id, Ref: r.Ref, Store: r.Pickup.Name, Phone: r.Pickup.Phone, QuoteID: quote.ID, FeeCents: quote.FeeCents,
		Tags: asked.attempt(r.Ref), Way: way, SeenOn: now, ReadyAt: r.ReadyAt}, nil
}

// Get implements Provider.
func (s *Sandbox) Get(ctx context.Context, k Key) (Delivery, error) {
	id, err := s.id(ctx, k)
	if err != nil {
		return Delivery{}, err
	}
	x, err := s.load(ctx, id)
	return s.view(x), err
}

// Cancel implements Provider.
func (s *Sandbox) Cancel(ctx context.Context, k Key) (Delivery, error) {
	id, err := s.id(ctx, k)
	if err != nil {
		return Delivery{}, err
	}
	x, err := sandbox.Change(ctx, s.Objects, deliveries, id, func(x *delivery) ([]sandbox.Callback, error) {
		switch err := x.check(); {
		case err != nil || x.status() == commerce.CourierCancelled:
			return nil, err
		case x.Tags.has(tagUncancellable) || x.status().Rank() >= commerce.CourierLoaded.Rank():
			return nil, errTooLate
		}
		return s.cancel(x), nil
	})
	return s.view(x), err
}

// ReadCallback implements Provider.
func (s *Sandbox) ReadCallback(ctx context.Context, header http.Header, body []byte) ([]Callback, error) {
	return sandbox.Read(ctx, &s.Base, header, body, readCallback, func(reason string) error { return &BadCallback{reason} })
}

// id returns the sandbox's id of a delivery.
func (s *Sandbox) id(ctx context.Context, k Key) (string, error) {
	if k.ID != "" {
		return k.ID, nil
	}
	return s.Signer.ID(ctx, deliveryPrefix, k.Ref)
}

func (s *Sandbox) load(ctx context.Context, id string) (delivery, error) {
	return sandbox.Change(ctx, s.Objects, deliveries, id, func(x *delivery) ([]sandbox.Callback, error) {
		return nil, x.check()
	})
}

var deliveries = sandbox.Kind{Name: "sandbox delivery", IDs: regexp.MustCompile("^" + deliveryPrefix + "[0-9a-f]{40}$"), Missing: errNoDelivery}

var (
	errNoDelivery = &Refusal{NotFound, "There is no such delivery in the sandbox."}
	errTooLate    = &Refusal{TooLate, "The goods are with the courier."}
)

// The tags by which the second line of the drop-off address asks the sandbox to
// misbehave. They follow "sandbox:" and are separated by '.' or ','. docs/SANDBOX.md
// says what each of them does.
const (
	tagOutOfZone     = "out-of-zone"
	tagNoCouriers    = "no-couriers"
	tagBadAddress    = "bad-address"
	tagQuoteExpired  = "quote-expired"
	tagUnreachable   = "unreachable"
	tagSlow          = "slow"
	tagLimited       = "limited"
	tagCancel        = "cancel"
	tagCancelAlways  = "cancel-always"
	tagCancelLater   = "cancel-later"
	tagReturn        = "return"
	tagTwice         = "twice"
	tagLate          = "late"
	tagUnordered     = "unordered"
	tagSkipPickup    = "skip-pickup"
	tagUncancellable = "uncancellable"
	tagNeverAssigned = "never-assigned"
	tagStuck         = "stuck"
	tagBrief         = "brief"
)

// tags are the misbehaviours that an address asks for.
type tags []string

const tagMark = "sandbox:"

func tagsOf(r QuoteRequest) tags {
	_, text, found := strings.Cut(strings.ToLower(r.Dropoff.Address.Line2), tagMark)
	if !found {
		return nil
	}
	if end := strings.IndexAny(text, " \t"); end >= 0 {
		text = text[:end]
	}
	return strings.FieldsFunc(text, func(c rune) bool { return c == '.' || c == ',' })
}

func (t tags) has(tag string) bool { return slices.Contains(t, tag) }

// attempt returns the tags that apply to this attempt at delivering an order: cancel
// applies to the first, cancel-always to each. It leaves out what earlier attempts
// have done.
func (t tags) attempt(ref string) tags {
	_, attempt, ok := commerce.ParseDeliveryRef(ref)
	var kept tags
	for _, tag := range t {
		switch tag {
		case tagCancel:
			if !ok || attempt == 1 {
				kept = append(kept, tagCancelAlways)
			}
		case tagCancelAlways, tagCancelLater, tagReturn, tagTwice, tagLate, tagUnordered, tagSkipPickup, tagUncancellable, tagNeverAssigned, tagStuck, tagBrief:
			kept = append(kept, tag)
		}
	}
	return kept
}

// misbehave does to a call what the address asks for.
func (s *Sandbox) misbehave(ctx context.Context, asked tags) error {
	if asked.has(tagSlow) {
		if err := s.Env.Sleep(ctx, slowness); err != nil {
			return err
		}
	}
	switch {
	case asked.has(tagUnreachable):
		return errors.New("the sandbox is unreachable, as the address asks")
	case asked.has(tagLimited):
		return &Limited{RetryAfter: retryAfter}
	case asked.has(tagOutOfZone):
		return &Refusal{OutOfZone, "The sandbox does not deliver there, as the address asks."}
	case asked.has(tagNoCouriers):
		return &Refusal{NoCouriers, "No courier of the sandbox is free, as the address asks."}
	case asked.has(tagBadAddress):
		return &Refusal{BadAddress, "The sandbox does not know the address, as it asks for."}
	}
	return nil
}

// CallbackPath is the inbound path for callbacks of couriers, as sandbox.Callback
// names it.
const CallbackPath = "couriers"

// callbackJSON is a Callback as the sandbox posts it.
type callbackJSON struct {
	Callback
	Courier *courierJSON `json:"courier,omitzero"` // in place of the Delivery's
}

// courierJSON is a courier in Uber's form, which the sandbox's callbacks have, too.
type courierJSON struct {
	Name     string          `json:"name"`
	Phone    string          `json:"phone_number"`
	Vehicle  string          `json:"vehicle_type"`
	ImageURL string          `json:"img_href"`
	At       *commerce.Point `json:"location,omitzero"`
}

// seen sets the time of the latest change. It always grows, even if the clocks of two
// processes differ.
func (x *delivery) seen(now time.Time) { x.SeenOn = max(x.SeenOn+1, commerce.MillisOf(now)) }

// callback returns the body of a callback with the current state of a delivery. Its
// id is derived from the delivery's id and the name of the change: it is the same
// whichever process sends it, and however often.
func (s *Sandbox) callback(x *delivery, change string) []byte {
	n := callbackJSON{Callback: Callback{ID: "cev_test_" + strings.TrimPrefix(x.ID, deliveryPrefix) + "_" + change, Delivery: s.view(*x)}}
	if c := n.Delivery.Courier; c != (commerce.Courier{}) {
		n.Courier = (*courierJSON)(&c)
	}
	body, err := sandbox.Encode(n)
	if err != nil {
		panic(err) // strings and numbers always encode
	}
	return body
}

// readCallback translates a body that callback has made. Fields that a newer process
// added are ignored. A status that we do not know is an error: the next attempt may
// reach a process that knows it.
func readCallback(n callbackJSON) (Callback, error) {
	switch {
	case n.Status.Rank() == 0:
		return Callback{}, fmt.Errorf("its status %q is not known", n.Status)
	case n.ID == "" || n.Delivery.ID == "" || n.Ref == "":
		return Callback{}, errors.New("it names no delivery or has no id")
	}
	if n.Courier != nil {
		n.Delivery.Courier = commerce.Courier(*n.Courier)
		if at := n.Courier.At; at != nil && !at.Valid() {
			return Callback{}, errors.New("its courier is nowhere on earth")
		}
	}
	return n.Callback, nil
}
