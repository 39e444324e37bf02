package command

import (
	"errors"
	"slices"

	"purveyor/internal/commerce"
)

// Advanced is the result of confirm, ready-for-pickup and picked-up.
type Advanced struct {
	Order commerce.Order
	// Replay says that the order had come this far before, and nothing was changed.
	Replay bool
	// Refused is set when the order could not be confirmed but the attempt was
	// recorded on it (stock ran out after payment).
	Refused error
}

// ConfirmOrder moves a paid order to processed and takes its goods from stock.
type ConfirmOrder struct {
	Facts          OrderFacts
	Actor          commerce.Actor
	ReadyInMinutes *int64 // nil: as the checkout said
}

// Needs names the order, its delivery, the stock of its products, and the partner.
func (c ConfirmOrder) Needs() commerce.Needs {
	n := c.Facts.needs(commerce.Confirm)
	n.Deliveries = c.Facts.delivery()
	return n
}

// Decide confirms. If stock is short, the order stays paid and the merchant is asked to
// look at it.
func (c ConfirmOrder) Decide(rows *commerce.Rows, now commerce.Millis) (Advanced, commerce.Changes, error) {
	oc, err := c.Facts.begin(rows, now, c.Actor)
	if err != nil {
		return Advanced{}, commerce.Changes{}, err
	}
	if confirmedBefore(oc.order) {
		return oc.replay()
	}
	if err := oc.transition(commerce.Confirm, ""); err != nil {
		return recordShortStock(oc, err)
	}
	if c.ReadyInMinutes != nil {
		oc.order.ReadyInMinutes = c.ReadyInMinutes
	}
	if c.Facts.Fulfillment == commerce.ByDelivery {
		oc.startDelivery()
	}
	return Advanced{Order: oc.order}, oc.finish(), nil
}

// replay answers a repeated call with the order as it is stored.
func (oc *orderChange) replay() (Advanced, commerce.Changes, error) {
	order, _ := oc.rows.Orders.Get(oc.order.Key())
	return Advanced{Order: order, Replay: true}, commerce.Changes{}, nil
}

func confirmedBefore(o commerce.Order) bool {
	movedOn := []commerce.OrderStatus{commerce.Shipped, commerce.OutForDelivery, commerce.ReadyForPickup}
	return o.Status == commerce.Processed || (o.Confirmed && slices.Contains(movedOn, o.Status))
}

// recordShortStock records, once, that stock is short for a paid order. Any other refusal
// changes nothing.
func recordShortStock(oc *orderChange, refusal error) (Advanced, commerce.Changes, error) {
	e, ok := errors.AsType[*commerce.Error](refusal)
	if !ok || e.Code != commerce.CodeInsufficientStock || oc.raised(commerce.AttentionInsufficientStock) {
		return Advanced{}, commerce.Changes{}, refusal
	}
	oc.raiseAttention(commerce.AttentionInsufficientStock, "Could not be confirmed: "+e.Message)
	return Advanced{Order: oc.order, Refused: refusal}, oc.finish(), nil
}
