package api

import (
	"net/http"
	"slices"
	"time"

	"purveyor/internal/api/wire"
	"purveyor/internal/commerce"
	"purveyor/internal/jsonin"
	"purveyor/internal/service"
)

type faultIn struct {
	Kind      *string     `json:"kind"`
	Operation *string     `json:"operation"`
	Calls     *jsonin.Int `json:"calls"`
	DelayMs   *jsonin.Int `json:"delay_ms"`
}

// defaultDelay is that of a slow call.
const defaultDelay = 3 * time.Second

// makeFault has the next calls of the partner's test keys hit by a fault.
func makeFault(a *API, r *request) (reply, error) {
	defer a.faults.forget(r.Partner.ID)
	return newFault(a, r)
}

var newFault = keyed[faultIn](0, (*service.Service).MakeFault, func(r *request, f commerce.Fault) (int, []byte) {
	return http.StatusCreated, wire.Encode(struct {
		OK      bool     `json:"ok"`
		Fault   faultOut `json:"fault"`
		TraceID string   `json:"trace_id"`
	}{true, faultOf(f), r.traceID})
})

func (in faultIn) call(r *request) (commerce.Fault, error) {
	var c check
	f := commerce.Fault{Kind: commerce.FaultKind(c.Required("kind", in.Kind, jsonin.MaxID)), Operation: c.Optional("operation", in.Operation, jsonin.MaxID)}
	if !slices.Contains(commerce.FaultKinds, f.Kind) {
		c.Fail("kind", "must be one of %v", commerce.FaultKinds)
	}
	if f.Operation != "" && !r.api.operations[f.Operation] {
		c.Fail("operation", "must be the id of an operation, as reportOrder")
	}
	if f.Kind == commerce.FaultStock && f.Operation != "" && !slices.Contains(commerce.StockOperations, f.Operation) {
		c.Fail("operation", "must be one of %v with this kind", commerce.StockOperations)
	}
	f.Calls = c.Between("calls", in.Calls, 1, commerce.MaxFaultCalls)
	delay := c.OptBetween("delay_ms", in.DelayMs, 1, 10_000)
	switch {
	case f.Kind == commerce.FaultSlow && delay == nil:
		f.Delay = defaultDelay
	case f.Kind == commerce.FaultSlow:
		f.Delay = time.Duration(*delay) * time.Millisecond
	case delay != nil:
		c.Fail("delay_ms", "is for slow alone")
	}
	return f, c.Err
}
