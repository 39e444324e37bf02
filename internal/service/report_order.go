package service

import (
	"context"

	"purveyor/internal/command"
	"purveyor/internal/commerce"
)

// Sale is the part of an order that a report and a checkout have in common.
type Sale = command.Sale

// ReportOrder is an order whose customer paid the partner. The use case sets Actor and the
// ids.
type ReportOrder = command.ReportOrder

// ReportOrder records an order that was paid outside of the service. For a delivery, the
// answer waits for a courier, and says meanwhile that there is none.
func (s *Service) ReportOrder(ctx context.Context, by Caller, in ReportOrder, o Once[commerce.Order]) (out Outcome[commerce.Order], err error) {
	if in.OrderID, err = s.newOrderID(ctx, in.StoreID); err != nil {
		return out, err
	}
	in.CustomerID = s.newID(commerce.PrefixCustomer)
	in.Actor = by.Actor
	return once(ctx, s, by, o, in, neverRefused)
}
