package api

import (
	"purveyor/internal/commerce"
	"purveyor/internal/jsonin"
	"purveyor/internal/service"
)

// confirmOrder takes a paid order to processed.
func (a *API) confirmOrder(r *request, order commerce.Order) (reply, error) {
	out, err := a.service.ConfirmOrder(r.Context(), r.caller(), order)
	if err != nil {
		return reply{}, err
	}
	return ok(advanced(r, out))
}

// advancedOut is the answer to confirm, ready-for-pickup and picked-up.
type advancedOut struct {
	OK               bool            `json:"ok"`
	OrderID          string          `json:"order_id"`
	Status           string          `json:"status"`
	UpdatedOn        commerce.Millis `json:"updated_on"`
	ReadyForPickupAt commerce.Millis `json:"ready_for_pickup_at,omitzero"`
	PickedUpAt       commerce.Millis `json:"picked_up_at,omitzero"`
	Delivery         *deliveryAnswer `json:"delivery,omitempty"`
	IdempotentReplay bool            `json:"idempotent_replay"`
	TraceID          string          `json:"trace_id"`
}

func advanced(r *request, out service.Outcome[service.Advanced]) any {
	o := out.Result.Order
	return advancedOut{true, o.ID, string(o.Status), o.UpdatedOn, o.ReadyForPickupAt, o.PickedUpAt, deliveryOf(out.Result.Now), out.Replayed, r.traceID}
}

// handover reads the order that the path names, with an optional time in Unix ms. The
// command checks the time again with that of the change.
func (r *request) handover(field string, v *jsonin.Int) (what service.Handover, err error) {
	var c check
	at := c.OptBetween(field, v, 1, maxMillis)
	if c.Err != nil {
		return what, c.Err
	}
	if at != nil {
		if what.At, err = commerce.Moment(field, commerce.Millis(*at), commerce.MillisOf(r.api.now())); err != nil {
			return what, err
		}
	}
	what.Order, err = r.order()
	return what, err
}
