package service

import (
	"context"
	"errors"

	"purveyor/internal/command"
	"purveyor/internal/commerce"
	"purveyor/internal/outside/geocode"
	"purveyor/internal/storage"
)

// Checkout is the input of StartCheckout. The use case sets Actor, the ids, Titles, Place
// and Processor.
type Checkout = command.StartCheckout

// StartCheckout is an order that the customer pays on a page of the payment processor.
type StartCheckout struct {
	Checkout
	// FeeGiven reports that the partner set DeliveryFeeCents. Otherwise the store
	// decides whether the customer pays the courier's live quote.
	FeeGiven bool
}

// StartCheckout makes an order and opens its payment session. The answer contains the
// session, so it waits for the processor.
func (s *Service) StartCheckout(ctx context.Context, by Caller, in StartCheckout, o Once[commerce.Order]) (out Outcome[commerce.Order], err error) {
	cmd := in.Checkout
	if cmd.Processor = s.o.Processors[by.Mode]; cmd.Processor == "" {
		return out, &PortError{Port: PaymentPort, Fault: NotConfigured, Mode: by.Mode}
	}
	if cmd.OrderID, err = s.newOrderID(ctx, cmd.StoreID); err != nil {
		return out, err
	}
	if cmd.Titles, err = s.titles(ctx, cmd.StoreID, cmd.Lines); err != nil {
		return out, err
	}
	cmd.CustomerID = s.newID(commerce.PrefixCustomer)
	keyed := o.Key.Key != ""
	if !keyed {
		o.Key.Key = cmd.OrderID // never repeated; it carries the answer of the job to this call
	}
	cmd.Actor = by.Actor
	if cmd.Fulfillment == commerce.ByDelivery {
		place := s.place(ctx, cmd.Address.Address)
		cmd.Place = forReach(place)
		if !in.FeeGiven {
			if cmd.DeliveryFeeCents, err = s.liveFee(ctx, by, o.Key, cmd, place); err != nil {
				return out, err
			}
		}
	}
	sale := auditPeople(by.Actor, sold(cmd.Sale), cmd)
	if keyed {
		return once(ctx, s, by, o, sale, s.sessionRefused)
	}
	return onceWithRoom(ctx, s, o, sale, s.sessionRefused)
}

// titles returns the current names of the products of the lines. A product that the store
// does not have gets an empty title; the command will refuse it.
func (s *Service) titles(ctx context.Context, storeID string, lines []commerce.OrderLine) ([]commerce.LineTitle, error) {
	ids := make([]string, len(lines))
	for i, l := range lines {
		ids[i] = l.ProductID
	}
	items, err := s.reader.Items(ctx, storeID, ids)
	if err != nil {
		return nil, err
	}
	titles := make([]commerce.LineTitle, len(lines))
	for i, id := range ids {
		titles[i] = commerce.LineTitle{Name: items[id].Stock.Name, ImageURL: items[id].FeaturedImage}
	}
	return titles, nil
}

// liveFee returns the delivery fee if the partner gave none: nothing, unless the store
// charges the courier's live quote. No courier provider is asked if the command will
// refuse the checkout anyway, or if the call is a repeat with a stored answer.
func (s *Service) liveFee(ctx context.Context, by Caller, key commerce.ReplyKey, cmd command.StartCheckout, place *geocode.Place) (commerce.Cents, error) {
	store, err := s.reader.Store(ctx, cmd.StoreID)
	sale := commerce.Sale{Store: store, Fulfillment: commerce.ByDelivery}
	if err != nil || !store.ChargesQuote || len(sale.Obstacles()) > 0 || by.Partner.MayUse(store.ID) != nil {
		return 0, err
	}
	if _, err := s.reader.Reply(ctx, key); !errors.Is(err, storage.ErrNotFound) {
		return 0, err
	}
	t := s.trip(store, *cmd.Address, place, 0)
	if t.reach.Beyond {
		return 0, commerce.OutOfRadius()
	}
	q, err := s.quote(ctx, by.Mode, t)
	return q.FeeCents, err
}

// sessionRefused returns the error of a call whose payment session the processor refused.
func (s *Service) sessionRefused(ctx context.Context, job commerce.Job) error {
	payment, err := s.reader.Payment(ctx, commerce.OrderKey{StoreID: job.Owner, OrderID: job.Subject})
	if err != nil && !errors.Is(err, storage.ErrNotFound) {
		return err
	}
	return &ProcessorError{payment.Error, madeOrder(job)}
}
