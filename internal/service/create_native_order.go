package service

import (
	"context"

	"purveyor/internal/command"
	"purveyor/internal/commerce"
)

// NativeOrder is an order that staff take. The customer has paid at the store, or pays on a
// page of the payment processor.
type NativeOrder struct {
	StartCheckout
	PaidAtStore bool
	// Expected is the total that the customer has paid at the store; nil: whatever it is.
	Expected *commerce.Cents
}

// CreateNativeOrder makes an order of the merchant itself, without a partner. It refuses a total
// that differs from the expected one (409 changed_meanwhile).
func (s *Service) CreateNativeOrder(ctx context.Context, by Caller, in NativeOrder, o Once[commerce.Order]) (out Outcome[commerce.Order], err error) {
	if !in.PaidAtStore {
		return s.StartCheckout(ctx, by, in.StartCheckout, o)
	}
	cmd := command.CreateNativeOrder{Sale: in.Sale, DeliveryFeeCents: in.DeliveryFeeCents, Expected: in.Expected}
	if cmd.OrderID, err = s.newOrderID(ctx, cmd.StoreID); err != nil {
		return out, err
	}
	cmd.CustomerID, cmd.Actor = s.newID(commerce.PrefixCustomer), by.Actor
	if cmd.Fulfillment == commerce.ByDelivery {
		place := s.place(ctx, cmd.Address.Address)
		cmd.Place = forReach(place)
		if !in.FeeGiven {
			if cmd.DeliveryFeeCents, err = s.liveFee(ctx, by, o.Key, command.StartCheckout{Sale: cmd.Sale}, place); err != nil {
				return out, err
			}
		}
	}
	return once(ctx, s, by, o, auditPeople(by.Actor, sold(cmd.Sale), cmd), neverRefused)
}

// sold is the deed of making an order.
func sold(sale command.Sale) deed { return deed{"create_native_order", sale.StoreID, sale.OrderID} }
