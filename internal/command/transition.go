package command

import (
	"errors"
	"fmt"
	"slices"

	"purveyor/internal/commerce"
)

// transition takes the order through the row of the lifecycle table that the trigger
// names, and is the only function that executes the table. It checks the actor, the
// status and the condition, and checks, holds, deducts or gives back stock. Then it sets the
// status, appends the timeline event, the webhook event and the jobs, and resolves the
// attention that the trigger resolves. If it returns an error, it has changed nothing.
// message is the text of the timeline event.
func (oc *orderChange) transition(trigger commerce.Trigger, message string) error {
	t, err := oc.check(trigger)
	if err == nil {
		err = oc.fresh()
	}
	if err != nil {
		return err
	}
	moves, err := oc.moveStock(t.Stock)
	if err != nil {
		return err
	}
	previous := oc.order.Status
	oc.order = oc.order.After(t)
	oc.resolveBy(trigger)
	if t.Only == commerce.ByDelivery {
		oc.addDeliveryTimeline(t.Timeline, message)
	} else {
		oc.addTimeline(t.Timeline, message, oc.timelineData(trigger, moves))
	}
	if t.Webhook != "" {
		oc.addWebhook(t.Webhook, oc.webhookData(t.Webhook, previous))
	}
	for _, kind := range t.Jobs {
		oc.enqueue(kind, oc.order.ID, false)
	}
	return nil
}

// check returns the row of the trigger if the actor may take the order through it now.
// The stock is checked later. An actor that may not is refused with 403, an order of
// another status or for which the condition does not hold with 409.
func (oc *orderChange) check(trigger commerce.Trigger) (commerce.Transition, error) {
	t, err := oc.order.Check(trigger)
	switch {
	case !slices.Contains(t.By, oc.by.Kind):
		return t, &commerce.Error{Kind: commerce.KindForbidden, Code: "actor_not_allowed", Message: fmt.Sprintf("%s is not open to a %s", trigger, oc.by.Kind)}
	case err != nil:
		return t, err
	case !t.If.Holds(oc.order, oc.payment):
		return t, commerce.Conflict("condition_not_met", "%s is possible only if %s", trigger, t.If)
	}
	return t, nil
}

// tryTransition executes the transition if the order allows it, and else changes nothing
// and returns false. It is for reports of providers, which may be late. An actor without the
// right to the transition is a bug of the command, so it panics.
func (oc *orderChange) tryTransition(trigger commerce.Trigger, message string) bool {
	err := oc.transition(trigger, message)
	if refusal, ok := errors.AsType[*commerce.Error](err); err != nil && (!ok || refusal.Kind != commerce.KindConflict) {
		panic(fmt.Sprintf("command: %s of order %s: %v", trigger, oc.order.ID, err))
	}
	return err == nil
}

// transitionOrEvents executes the transition if the order allows it. Otherwise the order's
// status stays, and only the events of the transition are appended.
func (oc *orderChange) transitionOrEvents(trigger commerce.Trigger, message string) {
	previous := oc.order.Status
	if !oc.tryTransition(trigger, message) {
		t := commerce.TransitionOf(trigger)
		oc.addTimeline(t.Timeline, message, oc.timelineData(trigger, nil))
		oc.addWebhook(t.Webhook, oc.webhookData(t.Webhook, previous))
	}
}

// timelineData is the data of the timeline event of a transition. moves are the changes of
// stock by the transition.
func (oc *orderChange) timelineData(trigger commerce.Trigger, moves []commerce.InventoryMove) commerce.TimelineData {
	switch {
	case trigger == commerce.PaymentSucceeded:
		return commerce.PaymentData{AmountCents: oc.payment.CapturedCents, PaymentID: oc.payment.PaymentID}
	case trigger == commerce.RefundInFull:
		return commerce.RefundData{RefundID: oc.refund.ID, AmountCents: oc.refund.AmountCents, TotalCents: oc.order.RefundedCents,
			Reason: oc.refund.Reason, Moves: slices.Concat(oc.givenBack, moves)}
	case trigger == commerce.DeclineRefund:
		return commerce.NoteData{Code: "refund_declined"}
	case trigger == commerce.RefundCameBack:
		return commerce.NoteData{Code: string(commerce.AttentionRefundFailed)}
	case moves != nil:
		return commerce.StockData{Moves: moves}
	}
	return nil
}

// webhookData is the data of a webhook event about the order, whose status was previous
// before the command.
func (oc *orderChange) webhookData(kind commerce.WebhookKind, previous commerce.OrderStatus) commerce.EventData {
	data := commerce.EventData{Order: oc.order, Previous: previous}
	switch kind {
	case commerce.WebhookRefunded, commerce.WebhookRefundFailed:
		data.Refund = *oc.refund
	}
	return data
}

// moveStock does to the stock of the order's products what the effect says, and returns
// what moved. If one product is refused, nothing is changed.
func (oc *orderChange) moveStock(effect commerce.StockEffect) ([]commerce.InventoryMove, error) {
	take, kind := oc.stockChange(effect)
	if take == nil {
		return nil, nil
	}
	moves, err := oc.moveDemands(oc.order.Demands(), take, kind)
	if err != nil {
		return nil, err
	}
	switch kind {
	case commerce.MoveSold:
		oc.order.InventoryDeducted, oc.order.HeldUntil = true, 0
	case commerce.MoveRestored:
		oc.order.InventoryDeducted, oc.order.Restocked = false, true
	case commerce.MoveReleased:
		oc.order.HeldUntil, oc.order.Restocked = 0, oc.order.Restocked || effect != commerce.ReleasesStock
	}
	return moves, nil
}

// giveBack gives pieces that the order has back to stock. What it has not taken yet, or has
// given back, does not move.
func (oc *orderChange) giveBack(pieces []commerce.Demand) {
	take, kind := oc.stockChange(commerce.RestoresStock)
	if take == nil || len(pieces) == 0 {
		return
	}
	oc.givenBack, _ = oc.moveDemands(pieces, take, kind) // it is never refused
	oc.order.Restocked = true
}

// moveDemands changes the stock of each demand, with a move of the kind; empty: it only checks
// whether it could.
func (oc *orderChange) moveDemands(demands []commerce.Demand, take takeStock, kind commerce.MoveKind) ([]commerce.InventoryMove, error) {
	stocks := make([]commerce.Stock, 0, len(demands))
	stockMoves := make([]commerce.StockMove, 0, len(demands))
	moves := make([]commerce.InventoryMove, 0, len(demands))
	order := commerce.OrderBodyOf(oc.order.ID)
	for _, d := range demands {
		stock, _ := oc.rows.Stock.Get(commerce.ProductKey{StoreID: oc.order.StoreID, ProductID: d.ProductID})
		next, err := take(stock, d, oc.order.Mode)
		if err != nil {
			return nil, err
		}
		next, move := next.MovedFrom(stock, kind, oc.now)
		move.Order = order
		stocks, stockMoves = append(stocks, next), append(stockMoves, move)
		moves = append(moves, commerce.InventoryMove{ProductID: d.ProductID, Delta: move.Delta, Left: next.Quantity})
	}
	if kind == "" {
		return nil, nil
	}
	oc.changes.Stock = append(oc.changes.Stock, stocks...)
	oc.changes.StockMoves = append(oc.changes.StockMoves, stockMoves...)
	return moves, nil
}

// takeStock changes a stock row by the demand of an order, or refuses.
type takeStock func(commerce.Stock, commerce.Demand, commerce.Mode) (commerce.Stock, error)

// stockChange is what the effect does to a stock row, and the kind of the move; empty: the
// row is only checked. It is nil if there is nothing to do.
func (oc *orderChange) stockChange(effect commerce.StockEffect) (takeStock, commerce.MoveKind) {
	held := oc.order.HeldUntil != 0
	switch effect {
	case commerce.KeepsStock:
		return nil, ""
	case commerce.ChecksStock:
		if held {
			return func(s commerce.Stock, d commerce.Demand, _ commerce.Mode) (commerce.Stock, error) { return s.Hold(d) }, commerce.MoveHeld
		}
		return commerce.Stock.Sell, ""
	case commerce.SellsStock:
		return commerce.Stock.Sell, commerce.MoveSold
	case commerce.DeductsStock:
		if held {
			return unrefused(commerce.Stock.SellHeld), commerce.MoveSold
		}
		return commerce.Stock.Deduct, commerce.MoveSold
	}
	switch { // the others give back what the order has
	case held:
		return unrefused(func(s commerce.Stock, d commerce.Demand, _ commerce.Mode) commerce.Stock { return s.Release(d) }), commerce.MoveReleased
	case effect == commerce.ReleasesStock || !oc.order.InventoryDeducted || effect == commerce.RestoresUnhanded && !oc.order.StillToFulfil():
		return nil, ""
	}
	return unrefused(commerce.Stock.Restore), commerce.MoveRestored
}

// unrefused is a change of stock that is never refused.
func unrefused(change func(commerce.Stock, commerce.Demand, commerce.Mode) commerce.Stock) takeStock {
	return func(s commerce.Stock, d commerce.Demand, mode commerce.Mode) (commerce.Stock, error) {
		return change(s, d, mode), nil
	}
}
