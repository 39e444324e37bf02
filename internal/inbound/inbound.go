// Package inbound takes the callbacks of providers. The provider's adapter verifies and
// translates a callback, and a use case of package service records it. A provider that
// gets no 2xx sends its callback again.
package inbound

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"slices"
	"strings"
	"time"

	"purveyor/internal/commerce"
	"purveyor/internal/env"
	"purveyor/internal/outside/courier"
	"purveyor/internal/outside/payment"
	"purveyor/internal/outside/sandbox"
	"purveyor/internal/service"
	"purveyor/internal/web"
)

// Prefix of the paths that callbacks are posted to. The name of the provider follows,
// as in /inbound/payments/stripe.
const Prefix = "/inbound/"

// PaymentsPath is the path of a processor's callbacks.
func PaymentsPath(processor string) string { return Prefix + "payments/" + processor }

// CouriersPath is the path of a courier provider's callbacks.
func CouriersPath(provider string) string { return Prefix + "couriers/" + provider }

// Inbound takes callbacks.
type Inbound struct {
	env     env.Env
	service *service.Service
	posters map[string]poster // by path
	bodies  *web.Bodies
	// Took is told what became of each callback: ok, duplicate, unknown, or bad_signature for a whole request;
	// nil: it is not called.
	Took func(provider, result string)
}

// poster is a provider that posts callbacks.
type poster struct {
	name string
	// form returns the headers of which every callback has at least one, and the largest
	// size of a body: payment.Processor.CallbackForm.
	form func() (headers []string, maxBytes int)
	take func(ctx context.Context, by commerce.Actor, header http.Header, body []byte) error
}

// actor is the provider as the actor of a change.
func (p poster) actor(traceID string) commerce.Actor {
	return commerce.Actor{Kind: commerce.ActorProvider, ID: p.name, TraceID: traceID}
}

// New takes the callbacks of these processors and couriers, by their names.
func New(e env.Env, s *service.Service, payments map[string]payment.Processor, couriers map[string]courier.Provider) *Inbound {
	in := &Inbound{env: e, service: s, posters: map[string]poster{}, bodies: web.NewStrangersBodies(e)}
	for name, p := range payments {
		in.posters[PaymentsPath(name)] = poster{name, p.CallbackForm, takeEach[*payment.BadCallback](in, p.ReadCallback, in.payment)}
	}
	for name, p := range couriers {
		in.posters[CouriersPath(name)] = poster{name, p.CallbackForm, takeEach[*courier.BadCallback](in, p.ReadCallback, in.courier)}
	}
	return in
}

// takeEach reads the callbacks of a body, and records one after the other. Bad is the
// type of error with which the port refuses a body.
func takeEach[Bad error, C any](in *Inbound, read func(context.Context, http.Header, []byte) ([]C, error),
	record func(ctx context.Context, by commerce.Actor, c C, body []byte) error) func(context.Context, commerce.Actor, http.Header, []byte) error {
	return func(ctx context.Context, by commerce.Actor, header http.Header, body []byte) error {
		callbacks, err := read(ctx, header, body)
		if bad, ok := errors.AsType[Bad](err); ok {
			in.tell(by.ID, "bad_signature")
			return badCallback(bad.Error())
		}
		for _, c := range callbacks {
			if err != nil {
				break
			}
			switch err = record(ctx, by, c, body); {
			case errors.Is(err, errUnknown):
				in.tell(by.ID, "unknown")
				err = nil
			case errors.Is(err, service.ErrDuplicate):
				in.tell(by.ID, "duplicate")
				err = nil
			case err == nil:
				in.tell(by.ID, "ok")
			}
		}
		return err
	}
}

// ServeHTTP answers {"ok":true} once a callback is on record. It refuses a callback that
// cannot be trusted or read (400), an unknown path (404), another method (405), and a
// callback that comes too early and is to be sent again (409). If the callback cannot be
// recorded, it answers 500. It expects web.Trace around it.
func (in *Inbound) ServeHTTP(rw http.ResponseWriter, r *http.Request) {
	w := web.WriterOf(rw)
	if err := in.take(w, r); err != nil {
		web.WriteError(w, err)
		return
	}
	web.WriteJSON(w, http.StatusOK, []byte(`{"ok":true}`))
}

// tell counts a callback.
func (in *Inbound) tell(provider, result string) {
	if in.Took != nil {
		in.Took(provider, result)
	}
}

func (in *Inbound) take(w *web.Writer, r *http.Request) error {
	from, known := in.posters[r.URL.Path]
	switch {
	case !known:
		return commerce.NotFound("path")
	case r.Method != http.MethodPost:
		w.Header().Set("Allow", http.MethodPost)
		return &web.Error{Status: http.StatusMethodNotAllowed, Code: "method_not_allowed", Message: r.Method + " is not allowed on this path"}
	}
	w.Operation = "inbound:" + from.name
	headers, maxBytes := from.form()
	if !slices.ContainsFunc(headers, func(name string) bool { return r.Header.Get(name) != "" }) {
		in.tell(from.name, "bad_signature")
		return badCallback("The notice is not signed: the header " + strings.Join(headers, " or ") + " is missing")
	}
	return in.bodies.Decode(w, r, web.Address(r), maxBytes, func(body []byte) error {
		return from.take(r.Context(), from.actor(w.TraceID), r.Header, body)
	})
}

func badCallback(message string) error {
	return &web.Error{Status: http.StatusBadRequest, Code: "bad_notice", Message: message}
}

// errUnknown is the outcome of a callback about what is not ours. It is accepted: the provider could
// not correct it.
var errUnknown = errors.New("the callback is about what is not ours")

// courier records one callback. A callback about an unknown delivery, or about one of
// another provider, is stored as a stray callback and accepted: the provider could not
// correct it.
func (in *Inbound) courier(ctx context.Context, by commerce.Actor, n courier.Callback, body []byte) error {
	err := in.service.RecordCourierUpdate(ctx, by, n.Delivery)
	if !errors.Is(err, service.ErrUnknownSubject) {
		return err
	}
	slog.Warn("a courier callback is about an unknown delivery", "provider", by.ID, "delivery", n.Delivery.ID, "ref", n.Ref, "callback", n.ID)
	return cmp.Or(in.service.KeepStrayCallback(ctx, by, n.Delivery.ID, body), errUnknown)
}

// payment records one callback of a processor. A callback about an order that is not
// ours is accepted like any other, because the processor could not correct it.
func (in *Inbound) payment(ctx context.Context, by commerce.Actor, n payment.Callback, _ []byte) error {
	err := in.service.RecordPaymentCallback(ctx, by, n)
	if errors.Is(err, service.ErrUnknownSubject) {
		slog.Warn("a payment callback is about an unknown order", "processor", by.ID, "kind", n.Kind, "order", n.OrderID, "session", n.SessionID, "payment", n.PaymentID)
		return errUnknown
	}
	return err
}

// Signer signs the callbacks of sandboxes; it is a sandbox.Signer.
type Signer interface {
	Sign(ctx context.Context, now time.Time, body []byte) (string, error)
}

// FromSandbox returns a function that signs a callback of a sandbox and hands it to its
// port. The callback is verified, translated and recorded as one of another provider, but
// no request is made. Its error is about this callback alone, whatever caused it.
func (in *Inbound) FromSandbox(signer Signer) func(ctx context.Context, port string, body []byte) error {
	return func(ctx context.Context, port string, body []byte) error {
		signature, err := signer.Sign(ctx, in.env.Now(), body)
		if err != nil {
			return err
		}
		from, known := in.posters[Prefix+port+"/sandbox"]
		if !known {
			return commerce.NotFound("path")
		}
		header := http.Header{}
		header.Set(sandbox.SignatureHeader, signature)
		if err := from.take(ctx, from.actor(web.NewTraceID(in.env)), header, body); err != nil {
			return fmt.Errorf("the callback was refused: %v", err)
		}
		return nil
	}
}
