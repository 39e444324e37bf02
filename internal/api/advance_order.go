package api

import (
	"context"
	"log/slog"

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
func (a *API) moment(field string, v *wire.Int) (commerce.Millis, error) {
	var c check
	at := c.OptBetween(field, v, 1, maxMillis)
	if at == nil || c.Err != nil {
		return 0, c.Err
	}
	return commerce.Moment(field, commerce.Millis(*at), commerce.MillisOf(a.now()))
}

// advance runs one of the three calls and answers in their common shape. A
// courier who is looked for is waited for, as long as any outside result is.
func (a *API) advance(r *request, cmd commit.Command[command.Advanced]) (reply, error) {
	done, asked, err := commit.DoJobs(r.Context(), a.committer, cmd)
	if err == nil {
		err = done.Refused
	}
	if err != nil {
		return reply{}, err
	}
	o := done.Order
	delivery := deliveryOf(o)
	for _, job := range asked {
		if job.Awaited {
			delivery = a.awaitDelivery(r, o, job)
		}
	}
	return ok(struct {
		OK               bool            `json:"ok"`
		OrderID          string          `json:"order_id"`
		Status           string          `json:"status"`
		UpdatedOn        commerce.Millis `json:"updated_on"`
		ReadyForPickupAt commerce.Millis `json:"ready_for_pickup_at,omitzero"`
		PickedUpAt       commerce.Millis `json:"picked_up_at,omitzero"`
		Delivery         *deliveryAnswer `json:"delivery,omitempty"`
		IdempotentReplay bool            `json:"idempotent_replay"`
		TraceID          string          `json:"trace_id"`
	}{true, o.ID, string(o.Status), o.UpdatedOn, o.ReadyForPickupAt, o.PickedUpAt, delivery, done.Replay, r.traceID})
}

// awaitDelivery waits for the courier of an order; what cannot be known in time
// is not created yet.
func (a *API) awaitDelivery(r *request, o commerce.Order, job commerce.Job) *deliveryAnswer {
	ctx, cancel := a.env.WithTimeout(r.Context(), waitTime)
	defer cancel()
	if err := a.jobs.Finish(ctx, job.Key()); err != nil && ctx.Err() == nil {
		slog.Warn("a courier was not waited for", "order", o.ID, "trace_id", r.traceID, "error", err)
	}
	if now, err := a.reader.Order(context.WithoutCancel(r.Context()), o.Key()); err == nil {
		return deliveryOf(now)
	}
	return deliveryOf(o)
}
