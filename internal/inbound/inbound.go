// Package inbound takes what providers post to the service: the provider's adapter
// verifies and translates the callback, and a use case of package service records
// it. A provider that gets no 2xx sends its callback again.
package inbound

import (
	"context"
	"net/http"
	"slices"
	"strings"

	"purveyor/internal/commerce"
	"purveyor/internal/env"
	"purveyor/internal/outside/payment"
	"purveyor/internal/service"
	"purveyor/internal/web"
)

// Prefix of the paths that callbacks are posted to; what follows names the
// provider, as in /inbound/payments/stripe.
const (
	Prefix       = "/inbound/"
	paymentsPath = Prefix + "payments/"
	couriersPath = Prefix + "couriers/"
)

// PaymentsPath is where a processor posts its callbacks to.
func PaymentsPath(processor string) string { return paymentsPath + processor }

// CouriersPath is where a courier provider posts its callbacks to.
func CouriersPath(provider string) string { return couriersPath + provider }

// PaymentCallbacks reads what a processor has posted, as payment.Processor does.
type PaymentCallbacks interface {
	ReadCallback(ctx context.Context, header http.Header, body []byte) ([]payment.Callback, error)
	callbackForm
}

// callbackForm says by what the callbacks of a provider are known before they are
// read.
type callbackForm interface {
	CallbackForm() (headers []string, maxBytes int)
}

// Inbound takes callbacks.
type Inbound struct {
	env      env.Env
	service  *service.Service
	payments map[string]PaymentCallbacks
	couriers map[string]CourierCallbacks
	bodies   *web.Bodies
}

// New makes one that takes the callbacks of these processors and couriers.
func New(e env.Env, s *service.Service, payments map[string]PaymentCallbacks, couriers map[string]CourierCallbacks) *Inbound {
	return &Inbound{env: e, service: s, payments: payments, couriers: couriers, bodies: web.NewStrangersBodies(e)}
}

// ServeHTTP answers {"ok":true} once a callback is on record. Refusals: 400 for a
// callback that cannot be trusted or read, 404 for an unknown path, 405, 409 for
// one that comes too early and is to be sent again, 500 when it cannot be
// recorded. It expects web.Trace around it.
func (in *Inbound) ServeHTTP(rw http.ResponseWriter, r *http.Request) {
	w := web.WriterOf(rw)
	if err := in.take(w, r); err != nil {
		web.WriteError(w, err)
		return
	}
	web.WriteJSON(w, http.StatusOK, []byte(`{"ok":true}`))
}

func (in *Inbound) take(w *web.Writer, r *http.Request) error {
	form, record := in.recorder(r.URL.Path)
	switch {
	case record == nil:
		return commerce.NotFound("path")
	case r.Method != http.MethodPost:
		w.Header().Set("Allow", http.MethodPost)
		return &web.Error{Status: http.StatusMethodNotAllowed, Code: "method_not_allowed", Message: r.Method + " is not allowed on this path"}
	}
	headers, maxBytes := form.CallbackForm()
	if !slices.ContainsFunc(headers, func(name string) bool { return r.Header.Get(name) != "" }) {
		return &web.Error{Status: http.StatusBadRequest, Code: "bad_notice", Message: "The notice is not signed: the header " + strings.Join(headers, " or ") + " is missing"}
	}
	return in.bodies.Decode(w, r, web.Address(r), maxBytes, func(body []byte) error { return record(w, r, body) })
}

// recorder is the provider whose callbacks are posted to a path, and what records
// them; nil: nothing is posted there.
func (in *Inbound) recorder(path string) (callbackForm, func(w *web.Writer, r *http.Request, body []byte) error) {
	if name, ok := strings.CutPrefix(path, paymentsPath); ok && in.payments[name] != nil {
		return in.payments[name], func(w *web.Writer, r *http.Request, body []byte) error {
			return in.takePayment(w, r, name, in.payments[name], body)
		}
	}
	if name, ok := strings.CutPrefix(path, couriersPath); ok && in.couriers[name] != nil {
		return in.couriers[name], func(w *web.Writer, r *http.Request, body []byte) error {
			return in.takeCourier(w, r, name, in.couriers[name], body)
		}
	}
	return nil, nil
}

func badCallback(err error) error {
	return &web.Error{Status: http.StatusBadRequest, Code: "bad_notice", Message: err.Error()}
}

// provider is the actor of what a provider tells.
func provider(name, traceID string) commerce.Actor {
	return commerce.Actor{Kind: commerce.ActorProvider, ID: name, TraceID: traceID}
}
