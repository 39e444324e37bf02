// Package sandbox is the base of the sandboxes of all ports: objects that outlive the
// process, and callbacks that reach the service as those of real providers do.
package sandbox

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"regexp"
	"strings"
	"time"

	"purveyor/internal/env"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// Object is the state of one thing in a sandbox.
type Object struct {
	ID      string
	Version int64  // 0: not stored yet; grows with each change
	Data    []byte // a JSON object
	// FirstStep makes PutObject, for a new object, schedule the first step of its
	// Mover after this time; 0: it does not move. FirstStep is not stored.
	FirstStep time.Duration
}

// Errors of Objects. After any other error, storage is not available, or the outcome
// is unknown.
var (
	ErrNoObject = errors.New("there is no such sandbox object")
	ErrChanged  = errors.New("the sandbox object was changed meanwhile")
)

// Objects stores the state of sandboxes for all processes.
type Objects interface {
	// Object reads an object.
	Object(ctx context.Context, id string) (Object, error)

	// PutObject stores an object that still has this version, or does not exist if
	// the version is 0, together with the callbacks to send: all or nothing. It waits
	// a short time for the delivery of callbacks that are due at once. All callbacks
	// are delivered, even if the process dies.
	PutObject(ctx context.Context, o Object, callbacks ...Callback) error
}

// Callback is a message that a sandbox posts to the service: at least once, at or
// after its time.
type Callback struct {
	To    string // the inbound path, as "payments"
	After time.Duration
	Body  []byte // JSON, signed when it is sent
}

// Mover moves objects step by step. When an object is stored with a FirstStep, or a
// step has returned when the next one is due, Step is called at or after that time,
// however often processes restart.
type Mover interface {
	// Step returns the object after its next step, and stores nothing. If a step was
	// not stored, because the process died or the object was changed meanwhile, Step
	// is called again, and returns the same callbacks with the same ids.
	Step(ctx context.Context, o Object) (Step, error)
}

// Step is the state of an object after a step, with the callbacks to post.
type Step struct {
	Data      []byte        // nil: the object and its version stay as they are
	Callbacks []Callback    // posted in order before the step is stored; After is ignored
	Next      time.Duration // time until the next step; 0: there is no next step
}

// Encode makes the JSON of an object or a callback. Text that is no UTF-8, as a customer may
// send it, is mended.
func Encode(v any) ([]byte, error) { return json.Marshal(v, jsontext.AllowInvalidUTF8(true)) }

// Decode reads what Encode made, here or in a process of another build: it ignores fields that
// it does not know.
func Decode(data []byte, into any) error { return json.Unmarshal(data, into) }

// Kind describes the objects of one kind.
type Kind struct {
	Name    string         // for errors: "sandbox delivery"
	IDs     *regexp.Regexp // their ids
	Missing error          // for an id without an object, or of another kind
}

// Change has f change an object whose JSON is a T, and stores the result with the
// callbacks that f returns: all or nothing. If these are nil, nothing is stored, so f
// may also just look at the object. If the object was changed meanwhile, f is called
// again with its new state. Errors: k.Missing, an error of f, or one of storage.
func Change[T any](ctx context.Context, objects Objects, k Kind, id string, f func(*T) ([]Callback, error)) (T, error) {
	var none T
	if !k.IDs.MatchString(id) {
		return none, k.Missing
	}
	for range maxChanges {
		var x T
		object, err := objects.Object(ctx, id)
		if errors.Is(err, ErrNoObject) {
			return none, k.Missing
		}
		if err == nil {
			err = Decode(object.Data, &x)
		}
		if err != nil {
			return none, fmt.Errorf("read a %s: %w", k.Name, err)
		}
		callbacks, err := f(&x)
		if err != nil {
			return none, err
		}
		if callbacks == nil {
			return x, nil
		}
		object.Data, err = Encode(x)
		if err == nil {
			err = objects.PutObject(ctx, object, callbacks...)
		}
		switch {
		case err == nil:
			return x, nil
		case !errors.Is(err, ErrChanged):
			return none, fmt.Errorf("change a %s: %w", k.Name, err)
		}
	}
	return none, fmt.Errorf("change a %s: too many changes at once", k.Name)
}

// maxChanges bounds how often a change is repeated because of others. A customer, a
// courier and a merchant together stay far below it.
const maxChanges = 50

// Base is what the sandboxes of all ports have in common.
type Base struct {
	// Now is the clock by which sessions and quotes expire and signatures age.
	// NewBase sets that of the Env.
	Now     func() time.Time
	Env     env.Env
	Objects Objects
	Signer  *Signer
	URL     string // the service's public URL, without a slash at its end
}

// NewBase makes the base of a sandbox. Its pages must be served below baseURL, the
// service's public URL.
func NewBase(e env.Env, objects Objects, baseURL string) Base {
	return Base{Now: e.Now, Env: e, Objects: objects, Signer: NewSigner(e, objects), URL: strings.TrimSuffix(baseURL, "/")}
}

// CallbackForm implements the interfaces of the ports. The bound is far above the size
// of any callback of a sandbox.
func (*Base) CallbackForm() (headers []string, maxBytes int) {
	return []string{SignatureHeader}, 64 << 10
}

// Read verifies the signature of a callback, decodes its JSON as an N, and translates
// that. The error is made by bad if the callback cannot be trusted, decoded or
// translated.
func Read[N, C any](ctx context.Context, b *Base, header http.Header, body []byte, translate func(N) (C, error), bad func(reason string) error) ([]C, error) {
	err := b.Signer.Verify(ctx, b.Now(), header.Get(SignatureHeader), body)
	if err != nil && !errors.Is(err, ErrSignature) {
		return nil, err
	}
	if err != nil {
		return nil, bad(err.Error())
	}
	var n N
	if err := Decode(body, &n); err != nil {
		return nil, bad("it is no JSON as the sandbox writes it: " + err.Error())
	}
	c, err := translate(n)
	if err != nil {
		return nil, bad(err.Error())
	}
	return []C{c}, nil
}
