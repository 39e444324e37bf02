package api

import (
	"purveyor/internal/commerce"
	"purveyor/internal/jsonin"
	"purveyor/internal/service"
)

type confirmIn struct {
	ReadyInMinutes *jsonin.Int `json:"ready_in_minutes"`
}

// confirmOrder takes a paid order to processed.
var confirmOrder = called[confirmIn](needsNoBody, (*service.Service).ConfirmOrder, advanced)

func (in confirmIn) call(r *request) (service.ConfirmOrder, error) {
	var c check
	minutes := c.readyIn(in.ReadyInMinutes)
	if c.Err != nil {
		return service.ConfirmOrder{}, c.Err
	}
	order, err := r.order()
	return service.ConfirmOrder{Order: order, ReadyInMinutes: minutes}, err
}

// readyIn reads after how many minutes a courier can have the goods.
func (c *check) readyIn(v *jsonin.Int) *int64 {
	return c.OptBetween("ready_in_minutes", v, 0, commerce.MaxReadyMinutes)
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
