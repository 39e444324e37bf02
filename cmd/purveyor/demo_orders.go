package main

import (
	"context"
	"fmt"
	"strings"
	"time"

	"purveyor/internal/commerce"
	"purveyor/internal/service"
)

// demoOrder is an order of the demo, and what becomes of it.
type demoOrder struct {
	store  int // of demoStores
	way    commerce.Fulfillment
	card   bool   // it is paid on a page of the processor, and otherwise reported as paid
	native bool   // the store takes it
	asks   string // of the sandbox: a tag of the e-mail address, or of the delivery address
	acts   []demoAct
}

// demoAct is what happens to an order.
type demoAct func(s *demoShop, ctx context.Context, o commerce.Order) error

const (
	pickup   = commerce.ByPickup
	delivery = commerce.ByDelivery
)

// demoWaiting are orders that have been at the counter for a while.
var demoWaiting = []struct {
	ago time.Duration
	demoOrder
}{
	{34 * time.Minute, demoOrder{store: 2, way: pickup}},
	{27 * time.Minute, demoOrder{store: 0, way: pickup, acts: []demoAct{(*demoShop).ready}}},
	{21 * time.Minute, demoOrder{store: 4, way: pickup, acts: []demoAct{(*demoShop).ready, (*demoShop).pickUp}}},
	{17 * time.Minute, demoOrder{store: 1, way: pickup}},
	{12 * time.Minute, demoOrder{store: 0, way: pickup, acts: []demoAct{(*demoShop).ready}}},
	{9 * time.Minute, demoOrder{store: 3, way: pickup, acts: []demoAct{(*demoShop).ready, (*demoShop).pickUp}}},
	{6 * time.Minute, demoOrder{store: 5, way: pickup}},
	{3 * time.Minute, demoOrder{store: 0, way: pickup}},
}

// demoOrders are the orders that begin when the demo serves. Together with demoWaiting they are
// 40, and have every status. First come those whose couriers need a while.
var demoOrders = []demoOrder{
	{store: 0, way: delivery, asks: "stuck"},
	{store: 1, way: delivery},
	{store: 2, way: delivery, card: true, acts: confirmed()},
	{store: 4, way: delivery, asks: "cancel"}, // the next courier delivers
	{store: 5, way: delivery},
	{store: 0, way: delivery, card: true, acts: confirmed()},
	{store: 1, way: delivery, asks: "never-assigned"},
	{store: 2, way: delivery, asks: "no-couriers"}, // needs attention
	{store: 2, way: delivery},

	{store: 0, way: pickup, card: true},
	{store: 4, way: delivery, card: true},
	{store: 3, way: pickup, card: true, asks: "session-refused"},
	{store: 5, way: pickup, card: true, asks: "session-refused"},

	{store: 0, way: pickup, card: true, acts: paid()},
	{store: 1, way: delivery, card: true, acts: paid()},
	{store: 2, way: pickup, card: true, acts: paid()},
	{store: 3, way: pickup, card: true, acts: paid()},
	{store: 5, way: delivery, card: true, acts: paid()},

	{store: 0, way: pickup, card: true, acts: confirmed()},
	{store: 4, way: pickup, card: true, acts: confirmed((*demoShop).note)},

	{store: 1, way: pickup, card: true, acts: confirmed((*demoShop).ready)},
	{store: 5, way: pickup, card: true, acts: confirmed((*demoShop).ready)},

	{store: 0, way: pickup, card: true, acts: confirmed((*demoShop).ready, (*demoShop).pickUp)},
	{store: 2, way: pickup, card: true, acts: confirmed((*demoShop).ready, (*demoShop).pickUp, refund(150))},
	{store: 3, way: pickup, card: true, acts: confirmed((*demoShop).ready, (*demoShop).pickUp)},

	{store: 1, way: pickup, card: true, acts: confirmed((*demoShop).ready, (*demoShop).pickUp, (*demoShop).wantBack)}, // needs attention

	{store: 4, way: pickup, acts: []demoAct{cancel(false)}},
	{store: 0, way: pickup, card: true, acts: []demoAct{cancel(false)}},
	{store: 5, way: pickup, acts: []demoAct{cancel(false)}},

	{store: 2, way: pickup, card: true, acts: confirmed(cancel(true))},
	{store: 3, way: pickup, card: true, acts: paid(refund(0))},
	{store: 0, way: pickup, card: true, acts: confirmed((*demoShop).ready, refund(0))},
}

// paid are the acts upon an order that is paid on the processor's page.
func paid(then ...demoAct) []demoAct {
	return append([]demoAct{func(s *demoShop, ctx context.Context, o commerce.Order) error { return s.pay(ctx, o) }}, then...)
}

// confirmed are those upon an order that is also confirmed by staff.
func confirmed(then ...demoAct) []demoAct {
	return paid(append([]demoAct{func(s *demoShop, ctx context.Context, o commerce.Order) error {
		_, err := s.uses.ConfirmOrder(ctx, s.staff(o.Mode), service.ConfirmOrder{Order: o})
		return err
	}}, then...)...)
}

func (s *demoShop) ready(ctx context.Context, o commerce.Order) error {
	_, err := s.uses.MarkReady(ctx, s.seller(o.Mode), service.Handover{Order: o})
	return err
}

func (s *demoShop) pickUp(ctx context.Context, o commerce.Order) error {
	_, err := s.uses.MarkPickedUp(ctx, s.seller(o.Mode), service.Handover{Order: o})
	return err
}

func (s *demoShop) note(ctx context.Context, o commerce.Order) error {
	_, err := s.uses.AddNote(ctx, s.staff(o.Mode), o, "The customer called: comes after six", service.Once[commerce.Order]{})
	return err
}

func (s *demoShop) wantBack(ctx context.Context, o commerce.Order) error {
	_, err := s.uses.RequestRefund(ctx, s.staff(o.Mode), service.ForReason{Order: o, Reason: "One jar was broken"})
	return err
}

// cancel ends an order; with refund its money goes back.
func cancel(refund bool) demoAct {
	return func(s *demoShop, ctx context.Context, o commerce.Order) error {
		_, err := s.uses.CancelOrder(ctx, s.seller(o.Mode), service.CancelOrder{Order: o, Reason: "The customer changed the plan", Refund: refund}, onceIn[service.Cancelled](o))
		return err
	}
}

// refund gives money back; 0: all of it.
func refund(amount commerce.Cents) demoAct {
	return func(s *demoShop, ctx context.Context, o commerce.Order) error {
		_, err := s.uses.RefundOrder(ctx, s.seller(o.Mode), service.RefundOrder{Order: o, AmountCents: amount, Reason: "requested_by_customer"}, onceIn[commerce.Refund](o))
		return err
	}
}

// onceIn is the idempotency key of a call about an order whose answer waits for the processor.
func onceIn[R any](o commerce.Order) service.Once[R] {
	return service.Once[R]{Key: commerce.ReplyKey{PartnerID: o.PartnerID, Op: "demo", Key: o.ID}, Encode: func(R) (int, []byte) { return 0, nil }}
}

// demoStores are the stores of the catalog, with homes of customers nearby.
var demoStores = []struct {
	id, city, state, area string
	homes                 [3]struct{ line1, zip string }
}{
	{"sto_nyc_soho", "New York", "NY", "+1212", homes{{"118 Prince St", "10012"}, {"73 E 4th St", "10003"}, {"240 W 14th St", "10011"}}},
	{"sto_nyc_uws", "New York", "NY", "+1212", homes{{"315 W 92nd St", "10025"}, {"27 W 71st St", "10023"}, {"140 W 86th St", "10024"}}},
	{"sto_aus_soco", "Austin", "TX", "+1512", homes{{"500 E 4th St", "78701"}, {"2208 Kinney Ave", "78704"}, {"1908 E Riverside Dr", "78741"}}},
	{"sto_aus_east", "Austin", "TX", "+1512", homes{{"1411 Rosewood Ave", "78702"}, {"2512 Willow St", "78702"}, {"701 Brazos St", "78701"}}},
	{"sto_oak_rockridge", "Oakland", "CA", "+1510", homes{{"5421 Shafter Ave", "94618"}, {"456 49th St", "94609"}, {"2090 Mountain Blvd", "94611"}}},
	{"sto_oak_grandlake", "Oakland", "CA", "+1510", homes{{"3820 Lakeshore Ave", "94610"}, {"1421 E 21st St", "94606"}, {"388 17th St", "94612"}}},
}

type homes = [3]struct{ line1, zip string }

// demoPeople are customers. Their telephone numbers are among those that are kept free.
var demoPeople = []string{"Ana Ruiz", "Ben Okafor", "Chloe Martin", "David Kim", "Elena Petrova", "Frank Moore", "Grace Liu", "Hugo Santos", "Isla Brown",
	"Jonas Weber", "Kavya Nair", "Leo Rossi", "Maya Cohen", "Noah Adams", "Olivia Park", "Priya Shah", "Quentin Roy", "Rosa Diaz", "Sam Taylor"}

// address is the n-th customer, with the home if the order goes there.
func (o demoOrder) address(n int) *commerce.DeliveryAddress {
	store, name := demoStores[o.store], demoPeople[n%len(demoPeople)]
	tag := ""
	if o.card && o.asks != "" {
		tag = "+" + o.asks
	}
	a := &commerce.DeliveryAddress{Name: name, Phone: fmt.Sprintf("%s55501%02d", store.area, n%len(demoPeople))}
	if o.card {
		a.Email = strings.ReplaceAll(strings.ToLower(name), " ", ".") + tag + "@example.com"
	}
	if o.way == commerce.ByPickup {
		return a
	}
	home := store.homes[n%len(store.homes)]
	a.Address = commerce.Address{Line1: home.line1, City: store.city, State: store.state, PostalCode: home.zip, Country: "US"}
	if o.asks != "" {
		a.Address.Line2 = "Apt 4 sandbox:" + o.asks
	}
	return a
}
