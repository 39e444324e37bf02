// Package inbound takes what providers tell the service: it has the callback
// verified and translated by the provider's adapter, and runs the command that
// records it. A provider that gets no 2xx sends its callback again.
package inbound

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"slices"
	"strings"
	"sync"

	"purveyor/internal/commerce"
	"purveyor/internal/commit"
	"purveyor/internal/env"
	"purveyor/internal/outside/payment"
	"purveyor/internal/storage"
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

// Reads are what callbacks are about.
type Reads interface {
	storage.Stores
	storage.Orders
	storage.Money
}

// Inbound takes callbacks.
type Inbound struct {
	env       env.Env
	reader    Reads
	committer *commit.Committer
	payments  map[string]PaymentCallbacks
	couriers  map[string]CourierCallbacks
	bodies    *web.Bodies
	stores    sync.Map // number -> id, which never changes
}

// New makes one that takes the callbacks of these processors and couriers.
func New(e env.Env, reader Reads, committer *commit.Committer, payments map[string]PaymentCallbacks, couriers map[string]CourierCallbacks) *Inbound {
	return &Inbound{env: e, reader: reader, committer: committer, payments: payments, couriers: couriers, bodies: web.NewStrangersBodies(e)}
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

// takePayment reads and records what a payment processor posts.
func (in *Inbound) takePayment(w *web.Writer, r *http.Request, name string, processor PaymentCallbacks, body []byte) error {
	callbacks, err := processor.ReadCallback(r.Context(), r.Header, body)
	if bad, ok := errors.AsType[*payment.BadCallback](err); ok {
		return badCallback(bad)
	}
	if err != nil {
		return err
	}
	for _, n := range callbacks {
		if err := in.payment(r.Context(), name, n, w.TraceID); err != nil {
			return err
		}
	}
	return nil
}

func badCallback(err error) error {
	return &web.Error{Status: http.StatusBadRequest, Code: "bad_notice", Message: err.Error()}
}

// orderKey finds the order that a callback is about; storage.ErrNotFound if it is
// none of ours.
func (in *Inbound) orderKey(ctx context.Context, orderID string) (commerce.OrderKey, error) {
	no, ok := commerce.StoreNoOfOrder(orderID)
	if !ok {
		return commerce.OrderKey{}, storage.ErrNotFound
	}
	if id, known := in.stores.Load(no); known {
		return commerce.OrderKey{StoreID: id.(string), OrderID: orderID}, nil
	}
	store, err := in.reader.StoreByNo(ctx, no)
	if err != nil {
		return commerce.OrderKey{}, err
	}
	in.stores.Store(no, store.ID)
	return commerce.OrderKey{StoreID: store.ID, OrderID: orderID}, nil
}

// unknown is for callbacks of what is not ours. Their sender cannot mend that.
func unknown(processor string, n payment.Callback) {
	slog.Warn("a payment callback is about an unknown order", "processor", processor, "kind", n.Kind, "order", n.OrderID, "session", n.SessionID, "payment", n.PaymentID)
}
