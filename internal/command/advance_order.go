package command

import (
	"errors"
	"slices"

	"purveyor/internal/commerce"
	"purveyor/internal/wire"
)

// Advanced is the result of confirm, ready-for-pickup and picked-up.
type Advanced struct {
	Order commerce.Order
	// Replay: the order had come this far before; nothing was changed.
	Replay bool
	// Refused is set when the order could not be confirmed but the attempt was
	// recorded on it (stock ran out after payment).
	Refused error
}

// ConfirmOrder moves a paid order to processed and takes its goods.
type ConfirmOrder struct {
	Facts   OrderFacts
	TraceID string
}

// Needs names the order, its delivery, the stock of its products, and the partner.
func (c ConfirmOrder) Needs() commerce.Needs {
	n := c.Facts.needs()
	n.Stock = commerce.ProductKeys(c.Facts.Key.StoreID, c.Facts.Lines)
	n.Deliveries = c.Facts.delivery()
	c.Facts.mayRaise(&n, commerce.ResolvedBy(commerce.Confirm)...)
	return n
}

// Decide confirms. When stock is gone the order stays paid and is flagged.
func (c ConfirmOrder) Decide(rows *commerce.Rows, now int64) (Advanced, commerce.Changes, error) {
	order, err := c.Facts.load(rows)
	if err != nil {
		return Advanced{}, commerce.Changes{}, err
	}
	if confirmedBefore(order) {
		return Advanced{Order: order, Replay: true}, commerce.Changes{}, nil
	}
	transition, err := order.Check(commerce.Confirm)
	if err != nil {
		return Advanced{}, commerce.Changes{}, err
	}
	s := begin(order, rows, now, c.TraceID)
	moves, err := s.deduct(rows, commerce.Stock.Deduct)
	if err != nil {
		return c.flag(s, err)
	}
	s.order.Confirmed = true
	s.resolveBy(commerce.Confirm)
	s.move(transition, "", wire.InventoryData(moves))
	if order.Fulfillment == commerce.ByDelivery {
		s.dispatch(commerce.ReplyKey{})
	}
	moved, changes := s.end()
	return Advanced{Order: moved}, changes, nil
}

func confirmedBefore(o commerce.Order) bool {
	movedOn := []commerce.OrderStatus{commerce.Shipped, commerce.OutForDelivery, commerce.ReadyForPickup}
	return o.Status == commerce.Processed || (o.Confirmed && slices.Contains(movedOn, o.Status))
}

// flag records once that a paid order cannot be fulfilled.
func (c ConfirmOrder) flag(s *story, refusal error) (Advanced, commerce.Changes, error) {
	var e *commerce.Error
	if !errors.As(refusal, &e) || s.raised(commerce.AttentionInsufficientStock) {
		return Advanced{}, commerce.Changes{}, refusal
	}
	s.flag(commerce.AttentionInsufficientStock, "Could not be confirmed: "+e.Message)
	order, changes := s.end()
	return Advanced{Order: order, Refused: refusal}, changes, nil
}

// MarkReady says that a pickup order waits for its customer.
type MarkReady struct {
	Facts   OrderFacts
	TraceID string
	ReadyAt int64 // Unix ms; 0: now
}

// Needs names the order and its partner.
func (c MarkReady) Needs() commerce.Needs { return c.Facts.needs() }

// Decide marks it and asks for the customer's e-mail.
func (c MarkReady) Decide(rows *commerce.Rows, now int64) (Advanced, commerce.Changes, error) {
	at, err := commerce.Moment("ready_at", c.ReadyAt, now)
	if err != nil {
		return Advanced{}, commerce.Changes{}, err
	}
	order, err := c.Facts.load(rows)
	if err != nil {
		return Advanced{}, commerce.Changes{}, err
	}
	if order.Fulfillment == commerce.ByPickup && (order.Status == commerce.ReadyForPickup || order.Status == commerce.PickedUp) {
		return Advanced{Order: order, Replay: true}, commerce.Changes{}, nil
	}
	transition, err := order.Check(commerce.MarkReady)
	if err != nil {
		return Advanced{}, commerce.Changes{}, err
	}
	s := begin(order, rows, now, c.TraceID)
	s.order.ReadyForPickupAt = at
	s.move(transition, "", nil)
	moved, changes := s.end()
	return Advanced{Order: moved}, changes, nil
}

// MarkPickedUp says that the customer has the goods.
type MarkPickedUp struct {
	Facts      OrderFacts
	TraceID    string
	PickedUpAt int64 // Unix ms; 0: now
}

// Needs names the order and its partner.
func (c MarkPickedUp) Needs() commerce.Needs {
	n := c.Facts.needs()
	c.Facts.mayRaise(&n, commerce.ResolvedBy(commerce.MarkPickedUp)...)
	return n
}

// Decide marks it.
func (c MarkPickedUp) Decide(rows *commerce.Rows, now int64) (Advanced, commerce.Changes, error) {
	at, err := commerce.Moment("picked_up_at", c.PickedUpAt, now)
	if err != nil {
		return Advanced{}, commerce.Changes{}, err
	}
	order, err := c.Facts.load(rows)
	if err != nil {
		return Advanced{}, commerce.Changes{}, err
	}
	if order.Fulfillment == commerce.ByPickup && order.Status == commerce.PickedUp {
		return Advanced{Order: order, Replay: true}, commerce.Changes{}, nil
	}
	transition, err := order.Check(commerce.MarkPickedUp)
	if err != nil {
		return Advanced{}, commerce.Changes{}, err
	}
	s := begin(order, rows, now, c.TraceID)
	s.order.PickedUpAt = at
	s.resolveBy(commerce.MarkPickedUp)
	s.move(transition, "", nil)
	moved, changes := s.end()
	return Advanced{Order: moved}, changes, nil
}
