package courier

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"regexp"
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
	if object.Data, err = json.Marshal(x); err != nil {
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
		Tags: asked.attempt(r.Ref), Way: way, SeenOn: now}, nil
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
