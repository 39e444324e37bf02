package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"time"

	"purveyor/internal/command"
	"purveyor/internal/commerce"
	"purveyor/internal/env"
	"purveyor/internal/service"
)

// demoClock is the clock of the demo's database. It is set back while the orders of past days
// are made, so that reports have something to show.
type demoClock struct{ back atomic.Int64 }

// Now is the time of the machine, less what the clock is set back.
func (c *demoClock) Now() time.Time { return time.Now().Add(-time.Duration(c.back.Load())) }

// setBack sets the clock to a time so long ago. Stamps in the database always grow, so each
// call names a shorter time than the one before.
func (c *demoClock) setBack(ago time.Duration) { c.back.Store(int64(ago)) }

// demoShop makes what the back office of the demo shows. Until the process serves it makes the
// past, without a provider, and then the orders of the moment.
type demoShop struct {
	db       *database
	uses     *service.Service
	pay      func(ctx context.Context, order commerce.Order) error
	clock    *demoClock
	owner    commerce.User
	token    string // of the link by which the owner enters
	kiosk    commerce.Partner
	products map[string][]command.ImportProduct // by store, those that can be sold
	taxes    map[string]commerce.Rate           // by store
	met      []commerce.OrderKey                // orders so far
}

// enough is the stock of products that are sold in the demo, so that they are never short.
const enough = 30

// kioskHooks is the endpoint of the kiosk: the port for discarded bytes, where nothing listens.
const kioskHooks = "http://127.0.0.1:9/webhooks"

// newDemoShop makes the owner, the partner that sells, and the orders of past days.
func newDemoShop(ctx context.Context, db *database, clock *demoClock, catalog command.ImportCatalog) (*demoShop, error) {
	s := &demoShop{db: db, uses: db.uses, clock: clock, products: map[string][]command.ImportProduct{}, taxes: map[string]commerce.Rate{}}
	for _, store := range catalog.Stores {
		s.taxes[store.ID] = commerce.Rate(*store.TaxRateBps * commerce.RateScale / 10_000)
	}
	for i, p := range catalog.Products {
		if i > 0 && p.Quantity != nil && *p.Quantity >= enough && (p.Active == nil || *p.Active) { // the first is in the lines that are printed
			s.products[p.StoreID] = append(s.products[p.StoreID], p)
		}
	}
	owner, err := inviteOwner(ctx, db)
	if err != nil {
		return nil, err
	}
	s.owner, s.token = owner.User, owner.Token
	made, err := db.uses.CreatePartner(ctx, operator(), commerce.Partner{
		Name: "Corner Kiosk", Scopes: []commerce.Scope{commerce.AllScopes}, RateLimit: commerce.DefaultRateLimit}, nil, "")
	if err != nil {
		return nil, err
	}
	s.kiosk = made.Partner
	return s, s.past(ctx)
}

// seller is the kiosk, calling with its key of a mode.
func (s *demoShop) seller(mode commerce.Mode) service.Caller {
	return service.Caller{Actor: commerce.PartnerActor(&commerce.APIKey{ID: string(mode), PartnerID: s.kiosk.ID, Mode: mode}, mode, env.Env{}.Text()), Partner: s.kiosk}
}

// staff is the owner, on a page of the back office.
func (s *demoShop) staff(mode commerce.Mode) service.Caller {
	return service.Caller{Actor: commerce.Actor{Kind: commerce.ActorStaff, ID: s.owner.ID, Mode: mode, TraceID: env.Env{}.Text()}, User: s.owner}
}

// The past of the demo.
const (
	pastDays      = 8
	historyBegins = (pastDays + 1) * 24 * time.Hour
)

// past makes the finished live orders of the last days, and the test orders that wait at counters
// for a while. Each commit delays the start, so many customers buy at once, and only today and
// the day a week ago, with which it is compared, have several such times.
func (s *demoShop) past(ctx context.Context) error {
	for day := pastDays; day >= 0; day-- {
		ago, customers := []time.Duration{5 * time.Hour}, 4+3*day%5
		if day%7 == 0 {
			ago, customers = []time.Duration{9 * time.Hour, 6 * time.Hour, 3 * time.Hour}, 2+day%3
		}
		for i, ago := range ago {
			if err := s.rush(ctx, time.Duration(day)*24*time.Hour+ago, customers+i%2); err != nil {
				return err
			}
		}
	}
	for _, o := range demoWaiting {
		s.clock.setBack(o.ago)
		if err := s.make(ctx, o.demoOrder); err != nil {
			return err
		}
	}
	s.clock.setBack(0)
	return nil
}

// rush has customers buy at once so long ago, and pick up a little later.
func (s *demoShop) rush(ctx context.Context, ago time.Duration, customers int) error {
	orders, first := make([]commerce.Order, customers), len(s.met)
	steps := []struct {
		later time.Duration
		do    func(i int) (commerce.Order, error)
	}{
		{0, func(i int) (commerce.Order, error) {
			n := first + i
			return s.sell(ctx, commerce.Live, n, demoOrder{store: n % len(demoStores), way: commerce.ByPickup, native: n%4 == 0})
		}},
		{9 * time.Minute, func(i int) (commerce.Order, error) { return orders[i], s.ready(ctx, orders[i]) }},
		{21 * time.Minute, func(i int) (commerce.Order, error) { return orders[i], s.pickUp(ctx, orders[i]) }},
	}
	for _, step := range steps {
		s.clock.setBack(ago - step.later)
		if err := each(customers, func(i int) (err error) { orders[i], err = step.do(i); return err }); err != nil {
			return err
		}
	}
	for _, o := range orders {
		s.met = append(s.met, o.Key())
	}
	return nil
}

// each does something for 0 to n-1 at the same time.
func each(n int, do func(i int) error) error {
	errs, calls := make([]error, n), make([]func(), n)
	for i := range n {
		calls[i] = func() { errs[i] = do(i) }
	}
	env.Env{}.Together(calls...)
	return errors.Join(errs...)
}

// open makes the orders of the moment, with the providers of the process, and puts back what
// was sold.
func (s *demoShop) open(ctx context.Context, p *process) error {
	s.uses, s.pay = p.uses, func(ctx context.Context, o commerce.Order) error {
		paid, err := p.db.Reader().Payment(ctx, o.Key())
		if err == nil {
			_, err = p.pay(ctx, paid.SessionID)
		}
		return err
	}
	hooks := kioskHooks
	kiosk, err := s.uses.UpdatePartner(ctx, operator(), service.UpdatePartner{ID: s.kiosk.ID, CallbackURL: &hooks})
	if err != nil {
		return err
	}
	s.kiosk = kiosk
	var errs []error
	for i, o := range demoOrders {
		if err := s.make(ctx, o); err != nil {
			errs = append(errs, fmt.Errorf("order %d: %w", i+1, err))
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
	}
	return errors.Join(append(errs, s.putBack(ctx), p.makeSums(ctx))...)
}

// make makes one test order.
func (s *demoShop) make(ctx context.Context, o demoOrder) error {
	order, err := s.sell(ctx, commerce.Test, len(s.met), o)
	if order.ID != "" {
		s.met = append(s.met, order.Key())
	}
	if err != nil {
		return err
	}
	for _, act := range o.acts {
		if err := act(s, ctx, order); err != nil {
			return err
		}
	}
	return nil
}

// sell makes the order of the n-th customer.
func (s *demoShop) sell(ctx context.Context, mode commerce.Mode, n int, o demoOrder) (commerce.Order, error) {
	to := o.address(n)
	sale := service.Sale{StoreID: demoStores[o.store].id, Fulfillment: o.way, Lines: s.lines(demoStores[o.store].id, n), Address: to}
	if o.way == commerce.ByPickup && n%5 == 0 {
		sale.PickupInstructions = "Blue car, in front of the door"
	}
	var out service.Outcome[commerce.Order]
	var err error
	switch {
	case o.native:
		in := service.NativeOrder{PaidAtStore: true}
		in.Sale = sale
		out, err = s.uses.CreateNativeOrder(ctx, s.staff(mode), in, service.Once[commerce.Order]{})
	case o.card:
		in := service.StartCheckout{}
		in.Sale, in.CustomerEmail = sale, to.Email
		in.SuccessURL, in.CancelURL = "https://kiosk.example/thanks", "https://kiosk.example/cart"
		return s.checkOut(ctx, s.seller(mode), in)
	default:
		rate := s.taxes[sale.StoreID]
		in := service.ReportOrder{Sale: sale, ExternalID: fmt.Sprintf("K-%d", 1001+n), ExternalPaymentID: fmt.Sprintf("card-%06d", 7919*n%1_000_000),
			Given: commerce.GivenTotals{TaxRate: &rate}}
		return s.report(ctx, s.seller(mode), in)
	}
	return out.Result, err
}

// report records a sale. Its idempotency key lets it wait for the courier.
func (s *demoShop) report(ctx context.Context, by service.Caller, in service.ReportOrder) (made commerce.Order, err error) {
	once := service.Once[commerce.Order]{Key: commerce.ReplyKey{PartnerID: s.kiosk.ID, Op: "demo", Key: in.ExternalID},
		Encode: func(o commerce.Order) (int, []byte) { made = o; return 0, nil }}
	_, err = s.uses.ReportOrder(ctx, by, in, once)
	return made, err
}

// checkOut opens a payment page. A processor that refuses to, as an address may ask, leaves an
// order that failed.
func (s *demoShop) checkOut(ctx context.Context, by service.Caller, in service.StartCheckout) (commerce.Order, error) {
	var made commerce.Order
	once := service.Once[commerce.Order]{Encode: func(o commerce.Order) (int, []byte) { made = o; return 0, nil }}
	_, err := s.uses.StartCheckout(ctx, by, in, once)
	if _, refused := errors.AsType[*service.ProcessorError](err); refused && strings.Contains(in.CustomerEmail, "+") {
		err = nil
	}
	return made, err
}

// lines are what the n-th customer of a store buys, at the prices of the catalog.
func (s *demoShop) lines(storeID string, n int) (lines []commerce.OrderLine) {
	products := s.products[storeID]
	for i := range 1 + n%4 {
		p := products[(7*n+11*i)%len(products)]
		lines = append(lines, commerce.OrderLine{ProductID: p.ID, Quantity: int64(1 + (n+i)%2), PriceCents: *p.PriceCents})
	}
	return lines
}

// putBack puts the goods that orders hold back on the shelves, so that nothing is missing from
// the stock of the catalog.
func (s *demoShop) putBack(ctx context.Context) error {
	sold := map[commerce.ProductKey]int64{}
	for _, key := range s.met {
		o, err := s.db.Reader().Order(ctx, key)
		if err != nil {
			return err
		}
		for _, line := range o.Lines {
			if o.InventoryDeducted && !o.Restocked {
				sold[commerce.ProductKey{StoreID: o.StoreID, ProductID: line.ProductID}] += line.Quantity
			}
		}
	}
	var lines []service.Adjustment
	for product, quantity := range sold {
		lines = append(lines, service.Adjustment{Product: product, Delta: quantity, Reason: "Delivery from the warehouse"})
	}
	_, err := s.uses.AdjustInventory(ctx, s.staff(commerce.Live), lines, service.Once[[]service.Adjusted]{})
	return err
}
