package api

import (
	"purveyor/internal/command"
	"purveyor/internal/commerce"
	"purveyor/internal/commit"
	"purveyor/internal/wire"
)

// confirmOrder takes a paid order to processed.
func (a *API) confirmOrder(r *request) (reply, error) {
	order, err := a.order(r)
	if err != nil {
		return reply{}, err
	}
	return a.advance(r, command.ConfirmOrder{Facts: command.FactsOf(order), TraceID: r.traceID})
}

// markReady says that a pickup order waits for its customer.
func (a *API) markReady(r *request) (reply, error) {
	var in struct {
		ReadyAt *wire.Int `json:"ready_at"`
	}
	if err := r.decodeOptionalBody(&in); err != nil {
		return reply{}, err
	}
	at, err := a.moment("ready_at", in.ReadyAt)
	if err != nil {
		return reply{}, err
	}
	order, err := a.order(r)
	if err != nil {
		return reply{}, err
	}
	return a.advance(r, command.MarkReady{Facts: command.FactsOf(order), TraceID: r.traceID, ReadyAt: at})
}

// markPickedUp says that the customer has the goods.
func (a *API) markPickedUp(r *request) (reply, error) {
	var in struct {
		PickedUpAt *wire.Int `json:"picked_up_at"`
	}
	if err := r.decodeOptionalBody(&in); err != nil {
		return reply{}, err
	}
	at, err := a.moment("picked_up_at", in.PickedUpAt)
	if err != nil {
		return reply{}, err
	}
	order, err := a.order(r)
	if err != nil {
		return reply{}, err
	}
	return a.advance(r, command.MarkPickedUp{Facts: command.FactsOf(order), TraceID: r.traceID, PickedUpAt: at})
}

// moment is an optional time in Unix ms; 0 if it is not given. The command
// holds it against the time of the change again.
func (a *API) moment(field string, v *wire.Int) (int64, error) {
	var c check
	at := c.OptBetween(field, v, 1, maxMillis)
	if at == nil || c.Err != nil {
		return 0, c.Err
	}
	return commerce.Moment(field, *at, a.now().UnixMilli())
}

// advance runs one of the three calls and answers in their common shape.
func (a *API) advance(r *request, cmd commit.Command[command.Advanced]) (reply, error) {
	done, err := commit.Do(r.Context(), a.committer, cmd)
	if err == nil {
		err = done.Refused
	}
	if err != nil {
		return reply{}, err
	}
	o := done.Order
	return ok(struct {
		OK               bool   `json:"ok"`
		OrderID          string `json:"order_id"`
		Status           string `json:"status"`
		UpdatedOn        int64  `json:"updated_on"`
		ReadyForPickupAt int64  `json:"ready_for_pickup_at,omitzero"`
		PickedUpAt       int64  `json:"picked_up_at,omitzero"`
		IdempotentReplay bool   `json:"idempotent_replay"`
		TraceID          string `json:"trace_id"`
	}{true, o.ID, string(o.Status), o.UpdatedOn, o.ReadyForPickupAt, o.PickedUpAt, done.Replay, r.traceID})
}
