// Package command holds the verbs: one file for each change of state. A
// command names the rows it needs and is decided over them in pure Go; package
// commit loads the rows before and saves the changes after. Ids of what a
// command makes are drawn by its caller, and facts that never change (an
// order's lines, a product's store) are handed in.
package command

import (
	"purveyor/internal/commerce"
	"purveyor/internal/wire"
)

// OrderFacts are what never changes of an order, read before the command is
// made, so that its needs are complete.
type OrderFacts struct {
	Key         commerce.OrderKey
	PartnerID   string // empty: made by the merchant
	Fulfillment commerce.Fulfillment
	Lines       []commerce.OrderLine
}

// FactsOf an order.
func FactsOf(o commerce.Order) OrderFacts {
	return OrderFacts{o.Key(), o.PartnerID, o.Fulfillment, o.Lines}
}

func (f OrderFacts) needs() commerce.Needs {
	n := commerce.Needs{Orders: []commerce.OrderKey{f.Key}}
	if f.PartnerID != "" {
		n.Partners = []string{f.PartnerID}
	}
	return n
}

// delivery names the delivery of an order that has one.
func (f OrderFacts) delivery() []commerce.OrderKey {
	if f.Fulfillment != commerce.ByDelivery {
		return nil
	}
	return []commerce.OrderKey{f.Key}
}

// access refuses the order's partner once it may not use the store any more.
func (f OrderFacts) access(rows *commerce.Rows) error {
	if f.PartnerID == "" {
		return nil
	}
	if partner, _ := rows.Partners.Get(f.PartnerID); !partner.MayUse(f.Key.StoreID) {
		return commerce.StoreDenied()
	}
	return nil
}

func (f OrderFacts) load(rows *commerce.Rows) (commerce.Order, error) {
	o, ok := rows.Orders.Get(f.Key)
	if !ok {
		return o, commerce.NotFound("order")
	}
	return o, nil
}

// story collects what one command does to one order, in the order in which
// the partner will read it.
type story struct {
	order   commerce.Order
	rows    *commerce.Rows // as they were when the command began
	now     int64
	traceID string
	push    bool // the partner has a callback URL
	changes commerce.Changes
}

func begin(o commerce.Order, rows *commerce.Rows, now int64, traceID string) *story {
	s := &story{order: o, rows: rows, now: now, traceID: traceID}
	s.order.UpdatedOn = now
	if o.PartnerID != "" {
		p, ok := rows.Partners.Get(o.PartnerID)
		s.push = ok && p.CallbackURL != ""
	}
	return s
}

// tell appends to the timeline.
func (s *story) tell(kind commerce.TimelineKind, message string, data []byte) {
	s.order.Events++
	s.changes.Timeline = append(s.changes.Timeline, commerce.TimelineEvent{
		StoreID: s.order.StoreID, OrderID: s.order.ID, Seq: s.order.Events,
		Kind: kind, Status: s.order.Status, Message: message, Data: data, CreatedOn: s.now,
	})
}

// note is a timeline event for people, with a code for machines.
func (s *story) note(code, message string) {
	s.tell(commerce.TimelineNote, message, wire.NoteData(code))
}

// notify stores a webhook event. Orders of the merchant have nobody to tell.
func (s *story) notify(kind commerce.WebhookKind, data []byte) {
	if s.order.PartnerID == "" {
		return
	}
	s.order.NotifiedOn = max(s.now, s.order.NotifiedOn+1)
	s.changes.Webhooks = append(s.changes.Webhooks, commerce.WebhookEvent{
		PartnerID: s.order.PartnerID, Kind: kind, Mode: s.order.Mode, StoreID: s.order.StoreID, OrderID: s.order.ID,
		TraceID: s.traceID, Data: data, Timestamp: s.order.NotifiedOn, Deliver: s.push,
	})
}

// move takes the order through a transition that was checked: status,
// timeline, webhook and jobs. What else the transition fills in is set before.
func (s *story) move(t commerce.Transition, message string, data []byte) {
	previous := s.order.Status
	s.order.Status = t.To
	s.tell(t.Timeline, message, data)
	if t.Webhook != "" {
		s.notify(t.Webhook, wire.OrderEventData(s.order, previous))
	}
	for _, kind := range t.Jobs {
		s.ask(kind, s.order.ID, false)
	}
}

// ask has something done outside of the process.
func (s *story) ask(kind commerce.JobKind, subject string, awaited bool) {
	s.changes.NewJobs = append(s.changes.NewJobs, commerce.Job{
		Kind: kind, Mode: s.order.Mode, Owner: s.order.StoreID, Subject: subject, PartnerID: s.order.PartnerID, RunAt: s.now, Awaited: awaited,
	})
}

// askAt has something done outside of the process at a time to come.
func (s *story) askAt(kind commerce.JobKind, subject string, at int64) {
	s.ask(kind, subject, false)
	s.changes.NewJobs[len(s.changes.NewJobs)-1].RunAt = at
}

// end gives the order's row and everything that was told.
func (s *story) end() (commerce.Order, commerce.Changes) {
	s.changes.Orders = append(s.changes.Orders, s.order)
	return s.order, s.changes
}

// endIfMoved gives everything that was told, and the order's row if it is
// another one than it was.
func (s *story) endIfMoved(was commerce.Order) commerce.Changes {
	if o := s.order; o.Events != was.Events || o.NotifiedOn != was.NotifiedOn || o.Status != was.Status ||
		o.CourierDeliveryID != was.CourierDeliveryID || o.CourierQuoteID != was.CourierQuoteID || o.CourierTrackingURL != was.CourierTrackingURL {
		s.changes.Orders = append(s.changes.Orders, o)
	}
	return s.changes
}

// deduct takes the order's goods from stock by take, which may refuse: all of
// them, or an error and nothing.
func (s *story) deduct(rows *commerce.Rows, take func(commerce.Stock, commerce.Demand, commerce.Mode) (commerce.Stock, error)) ([]wire.InventoryMove, error) {
	demands := commerce.Demands(s.order.Lines)
	taken := make([]commerce.Stock, 0, len(demands))
	moved := make([]commerce.StockMove, 0, len(demands))
	moves := make([]wire.InventoryMove, 0, len(demands))
	order := commerce.OrderBodyOf(s.order.ID)
	for _, d := range demands {
		key := commerce.ProductKey{StoreID: s.order.StoreID, ProductID: d.ProductID}
		stock, _ := rows.Stock.Get(key)
		next, err := take(stock, d, s.order.Mode)
		if err != nil {
			return nil, err
		}
		next, move := next.MovedFrom(stock, commerce.MoveSold, s.now)
		move.Order = order
		taken, moved = append(taken, next), append(moved, move)
		moves = append(moves, wire.InventoryMove{ProductID: d.ProductID, Delta: -d.Quantity, Left: next.Quantity})
	}
	s.changes.Stock = append(s.changes.Stock, taken...)
	s.changes.StockMoves = append(s.changes.StockMoves, moved...)
	s.order.InventoryDeducted = true
	return moves, nil
}

// restore gives back what deduct took, if it took anything.
func (s *story) restore(rows *commerce.Rows) []wire.InventoryMove {
	if !s.order.InventoryDeducted {
		return nil
	}
	s.order.InventoryDeducted = false
	var moves []wire.InventoryMove
	order := commerce.OrderBodyOf(s.order.ID)
	for _, d := range commerce.Demands(s.order.Lines) {
		stock, _ := rows.Stock.Get(commerce.ProductKey{StoreID: s.order.StoreID, ProductID: d.ProductID})
		next, move := stock.Restore(d, s.order.Mode).MovedFrom(stock, commerce.MoveRestored, s.now)
		move.Order = order
		s.changes.Stock, s.changes.StockMoves = append(s.changes.Stock, next), append(s.changes.StockMoves, move)
		moves = append(moves, wire.InventoryMove{ProductID: d.ProductID, Delta: d.Quantity, Left: next.Quantity})
	}
	return moves
}
