package command

import (
	"purveyor/internal/commerce"
	"purveyor/internal/wire"
)

// CancelOrder ends an order before its goods were handed over.
type CancelOrder struct {
	Facts   OrderFacts
	TraceID string
	Reason  string // for the audit log
}

// CancelResult tells what cancelling undid.
type CancelResult struct {
	Order             commerce.Order
	DeliveryCancelled bool
	InventoryRestored bool
}

// Needs names the order, the stock of its products, and the partner.
func (c CancelOrder) Needs() commerce.Needs {
	n := c.Facts.needs()
	n.Stock = commerce.ProductKeys(c.Facts.Key.StoreID, c.Facts.Lines)
	return n
}

// Decide cancels from every status that is not terminal. Stock comes back
// exactly when it had been deducted, whatever the status.
func (c CancelOrder) Decide(rows *commerce.Rows, now int64) (CancelResult, commerce.Changes, error) {
	order, err := c.Facts.load(rows)
	if err != nil {
		return CancelResult{}, commerce.Changes{}, err
	}
	transition, err := order.Check(commerce.Cancel)
	if err != nil {
		return CancelResult{}, commerce.Changes{}, err
	}
	s := begin(order, rows, now, c.TraceID)
	moves := s.restore(rows)
	var data []byte
	if moves != nil {
		data = wire.InventoryData(moves)
	}
	s.move(transition, c.Reason, data)
	if order.Fulfillment == commerce.Delivery {
		s.tell(commerce.TimelineDeliveryCancelled, "", nil)
		s.notify(commerce.WebhookDeliveryCancelled, wire.DeliveryEventData(s.order))
	}
	cancelled, changes := s.end()
	return CancelResult{Order: cancelled, InventoryRestored: moves != nil}, changes, nil
}
