package service_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"purveyor/internal/command"
	"purveyor/internal/commerce"
	"purveyor/internal/outside/courier"
	"purveyor/internal/outside/geocode"
	"purveyor/internal/service"
	"purveyor/internal/storage/storagetest"
	"purveyor/internal/testkit/fixture"
)

var errOutage = errors.New("no route to the provider")

// TestLiveFee: a checkout asks a courier for the fee before its batch, and only if the
// store charges the live quote and the checkout can take place.
func TestLiveFee(t *testing.T) {
	closed := command.ImportStore{ChargesQuote: new(true), Active: new(false)}
	charges := command.ImportStore{ChargesQuote: new(true), RadiusMiles: new(5.0)}
	for _, c := range []struct {
		name  string
		store command.ImportStore
		by    service.Caller
		given bool // the partner names a fee of 100
		far   bool
		err   error // of the courier
		want  string
		fee   commerce.Cents
		asked int64
	}{
		{"the store charges the quote", charges, caller(commerce.Live), false, false, nil, "", fee, 1},
		{"the store charges nothing", command.ImportStore{}, caller(commerce.Live), false, false, nil, "", 0, 0},
		{"the partner names the fee", charges, caller(commerce.Live), true, false, nil, "", 100, 0},
		{"the store is closed", closed, caller(commerce.Live), false, false, nil, "invalid_body", 0, 0},
		{"the store does not deliver", command.ImportStore{ChargesQuote: new(true), DeliveryEnabled: new(false)}, caller(commerce.Live), false, false, nil, "invalid_body", 0, 0},
		{"the key is for other stores", charges, restricted(), false, false, nil, "", 0, 0},
		{"the address is too far", charges, caller(commerce.Live), false, true, nil, "out_of_radius", 0, 0},
		{"no courier answers", charges, caller(commerce.Live), false, false, errOutage, errOutage.Error(), 0, 1},
		{"there is no processor", charges, caller(commerce.Test), false, false, nil, "no provider is configured: payment", 0, 0},
	} {
		in(t, func(t *testing.T, s *shop) {
			s.store(c.store)
			s.places.far, s.couriers.err = c.far, c.err
			checkout := bought(commerce.ByDelivery)
			if c.given {
				checkout.FeeGiven, checkout.DeliveryFeeCents = true, 100
			}
			var orders int
			for range 2 { // a repeat of an accepted call asks nothing
				_, err := s.StartCheckout(t.Context(), c.by, checkout, awaiting[commerce.Order](s, "k"))
				if code(err) != c.want {
					t.Errorf("%s: %v, want %q", c.name, err, c.want)
				}
			}
			if c.want == "" {
				orders = 1
				if o := s.db.Orders()[0]; o.DeliveryFeeCents != c.fee || o.TotalCents != fixture.Price+c.fee {
					t.Errorf("%s: the order is %+v", c.name, o)
				}
			} else if c.asked > 0 {
				c.asked *= 2
			}
			if len(s.orders()) != orders || s.couriers.asked.Load() != c.asked {
				t.Errorf("%s: orders %v, %d questions, want %d", c.name, s.orders(), s.couriers.asked.Load(), c.asked)
			}
		})
	}
}

// TestDeathAfterQuote: a process that dies between the answer of a courier and its
// batch leaves nothing behind. The repeat asks again, and makes one order.
func TestDeathAfterQuote(t *testing.T) {
	in(t, func(t *testing.T, s *shop) {
		s.store(command.ImportStore{ChargesQuote: new(true)})
		checkout := func() (service.Outcome[commerce.Order], error) {
			return s.StartCheckout(t.Context(), caller(commerce.Live), bought(commerce.ByDelivery), awaiting[commerce.Order](s, "k"))
		}
		s.Committer.Close()
		if _, err := checkout(); !errors.Is(err, service.ErrClosed) {
			t.Errorf("a call of a process that ends: %v", err)
		}
		s.restart(t)
		s.engine.Fail(storagetest.Refused)
		if _, err := checkout(); err == nil {
			t.Error("the batch was not saved, and the call succeeded")
		}
		if len(s.orders()) != 0 || len(s.Jobs(commerce.JobWaiting, "")) != 0 {
			t.Errorf("orders %v", s.orders())
		}
		if out, err := checkout(); err != nil || out.Replayed || len(s.orders()) != 1 || s.couriers.asked.Load() != 3 {
			t.Errorf("%+v, %v; orders %v, %d questions", out, err, s.orders(), s.couriers.asked.Load())
		}
	})
}

// TestQuote: what a courier answers, and what the caller is told.
func TestQuote(t *testing.T) {
	refused := func(field string) func(error) bool {
		return func(err error) bool {
			e, ok := errors.AsType[*commerce.Error](err)
			return ok && e.Kind == commerce.KindInvalid && e.Field == "delivery_address" && e.Code+": "+e.Message == field
		}
	}
	fault := func(fault service.Fault, after time.Duration) func(error) bool {
		return func(err error) bool {
			e, ok := errors.AsType[*service.PortError](err)
			return ok && e.Port == service.CourierPort && e.Fault == fault && e.RetryAfter == after && e.Mode == commerce.Live && e.Error() != ""
		}
	}
	for _, c := range []struct {
		says error
		want func(error) bool
	}{
		{nil, func(err error) bool { return err == nil }},
		{&courier.Refusal{Code: courier.NoCouriers, Message: "no courier is free"}, refused(string(courier.NoCouriers) + ": no courier is free")},
		{&courier.Refusal{Code: courier.Other}, refused(string(courier.Other) + ": The courier does not deliver there")},
		{courier.ErrNoProvider, fault(service.NotConfigured, 0)},
		{&commerce.CredentialsError{Message: "renew the key"}, fault(service.RefusesUs, 0)},
		{&courier.Limited{RetryAfter: time.Minute}, fault(service.Unavailable, time.Minute)},
		{fmt.Errorf("asked: %w", errOutage), fault(service.Unavailable, 0)},
	} {
		in(t, func(t *testing.T, s *shop) {
			s.couriers.err = c.says
			q, err := s.QuoteDelivery(t.Context(), caller(commerce.Live), service.QuoteDelivery{StoreID: fixture.StoreID, To: *at(commerce.ByDelivery), ValueCents: 700})
			if !c.want(err) {
				t.Errorf("the courier says %v: %v", c.says, err)
			}
			asked := s.couriers.quoted
			if asked.StoreID != fixture.StoreID || asked.ValueCents != 700 || asked.Dropoff.At == nil || !strings.HasPrefix(asked.Ref, commerce.PrefixQuote) {
				t.Errorf("asked %+v", asked)
			}
			if err == nil && (q.FeeCents != fee || q.Miles == nil || *q.Miles != 0) {
				t.Errorf("quoted %+v", q)
			}
		})
	}
}

// TestPreflight: every obstacle is named, in the order of SPEC, and no courier is asked
// when it is certain that nothing will be delivered.
func TestPreflight(t *testing.T) {
	no := false
	for _, c := range []struct {
		name    string
		store   command.ImportStore
		lines   []commerce.OrderLine
		way     commerce.Fulfillment
		far     bool
		unknown bool // the address is found nowhere
		err     error
		want    []commerce.Obstacle
		asked   int64
	}{
		{"pickup", command.ImportStore{}, lines(1), commerce.ByPickup, true, false, errOutage, nil, 0},
		{"delivery", command.ImportStore{}, lines(1), commerce.ByDelivery, false, false, nil, nil, 1},
		{"all at once", command.ImportStore{Active: &no, DeliveryEnabled: &no, RadiusMiles: new(5.0)}, lines(quantity + 1), commerce.ByDelivery, true, false, nil,
			[]commerce.Obstacle{commerce.StoreInactive, commerce.ItemUnavailable, commerce.OutOfReach, commerce.NoDelivery}, 0},
		{"no pickup", command.ImportStore{PickupEnabled: &no}, lines(1), commerce.ByPickup, false, false, nil, []commerce.Obstacle{commerce.NoPickup}, 0},
		{"no delivery", command.ImportStore{DeliveryEnabled: &no}, lines(1), commerce.ByDelivery, false, false, nil, []commerce.Obstacle{commerce.NoDelivery}, 0},
		{"too far", command.ImportStore{RadiusMiles: new(5.0)}, lines(1), commerce.ByDelivery, true, false, nil, []commerce.Obstacle{commerce.OutOfReach}, 0},
		{"far, without a radius", command.ImportStore{}, lines(1), commerce.ByDelivery, true, false, nil, nil, 1},
		{"nowhere", command.ImportStore{RadiusMiles: new(5.0)}, lines(1), commerce.ByDelivery, true, true, nil, nil, 1},
		{"no offer", command.ImportStore{}, lines(1), commerce.ByDelivery, false, false, errOutage, []commerce.Obstacle{commerce.QuoteUnavailable}, 1},
		{"short stock is no reason not to ask", command.ImportStore{}, lines(quantity + 1), commerce.ByDelivery, false, false, nil, []commerce.Obstacle{commerce.ItemUnavailable}, 1},
	} {
		in(t, func(t *testing.T, s *shop) {
			s.store(c.store)
			s.places.far, s.couriers.err = c.far, c.err
			if c.unknown {
				s.places.err = geocode.ErrNotFound
			}
			cart := service.Cart{StoreID: fixture.StoreID, Lines: c.lines, Fulfillment: c.way}
			if c.way == commerce.ByDelivery {
				cart.To = *at(c.way)
			}
			p, err := s.Preflight(t.Context(), caller(commerce.Live), cart)
			if err != nil || p.Obstacles == nil || !slices.Equal(p.Obstacles, c.want) || s.couriers.asked.Load() != c.asked {
				t.Errorf("%s: %v, %v; %d questions, want %v and %d", c.name, p.Obstacles, err, s.couriers.asked.Load(), c.want, c.asked)
			}
			if offered := c.asked > 0 && c.err == nil; (p.Quote != nil) != offered || (p.Miles != nil) != (c.way == commerce.ByDelivery && !c.unknown) {
				t.Errorf("%s: quote %+v, miles %v", c.name, p.Quote, p.Miles)
			}
			if len(s.orders()) != 0 || s.Stock(0).Quantity != quantity {
				t.Errorf("%s: something was changed", c.name)
			}
		})
	}
}

// TestAvailability: lines of one product count together. A product of a store that the
// caller may not use is not found.
func TestAvailability(t *testing.T) {
	line := func(product string, quantity int64) commerce.OrderLine {
		return commerce.OrderLine{ProductID: product, Quantity: quantity}
	}
	first, second := fixture.ProductID(0), fixture.ProductID(1)
	store, elsewhere := fixture.StoreID, "sto_2"
	for _, c := range []struct {
		name   string
		by     service.Caller
		store  *string
		active bool
		lines  []commerce.OrderLine
		want   string // for each line: f found, a available, w of the wrong store
		all    bool
	}{
		{"enough", caller(commerce.Live), nil, true, []commerce.OrderLine{line(first, quantity), line(second, 1)}, "fa fa", true},
		{"too much", caller(commerce.Live), nil, true, []commerce.OrderLine{line(first, quantity+1), line(second, 1)}, "f fa", false},
		{"too much together", caller(commerce.Live), &store, true, []commerce.OrderLine{line(first, quantity), line(first, 1)}, "f f", false},
		{"unknown", caller(commerce.Live), nil, true, []commerce.OrderLine{line("prd_none", 1), line(first, 1)}, "- fa", false},
		{"of another store", caller(commerce.Live), &elsewhere, true, []commerce.OrderLine{line(first, 1), line("prd_two", 1)}, "fw fa", false},
		{"of any store", caller(commerce.Live), nil, true, []commerce.OrderLine{line(first, 1), line("prd_two", 1)}, "fa fa", true},
		{"inactive store", caller(commerce.Live), nil, false, []commerce.OrderLine{line(first, 1), line("prd_two", 1)}, "f fa", false},
		{"restricted", restricted(), nil, true, []commerce.OrderLine{line(first, 1)}, "-", false},
		{"nothing", caller(commerce.Live), nil, true, nil, "", true},
	} {
		in(t, func(t *testing.T, s *shop) {
			s.store(command.ImportStore{Active: &c.active})
			fixture.Do(s.Shop, command.ImportCatalog{Stores: []command.ImportStore{{ID: elsewhere, Name: "Two"}},
				Products: []command.ImportProduct{{ID: "prd_two", Name: "Tea", StoreID: elsewhere, PriceCents: new(fixture.Price), Quantity: new(int64(1))}}})
			items, all, err := s.CheckAvailability(t.Context(), c.by, c.store, c.lines)
			var got []string
			for i, it := range items {
				marks := ""
				for mark, set := range map[string]bool{"f": it.Found, "a": it.Available, "w": it.WrongStore} {
					if set {
						marks += mark
					}
				}
				sorted := []byte(marks)
				slices.SortFunc(sorted, func(a, b byte) int { return strings.IndexByte("faw", a) - strings.IndexByte("faw", b) })
				if marks = string(sorted); marks == "" {
					marks = "-"
				}
				if it.Line != c.lines[i] {
					t.Errorf("%s: line %d is %+v", c.name, i, it.Line)
				}
				got = append(got, marks)
			}
			if err != nil || strings.Join(got, " ") != c.want || all != c.all {
				t.Errorf("%s: %v, %v, %v; want %s", c.name, got, all, err, c.want)
			}
		})
	}
}

// TestLocate: an address that cannot be placed is the caller's fault, and a geocoder
// that fails is not.
func TestLocate(t *testing.T) {
	for _, c := range []struct {
		says error
		want string
	}{{nil, ""}, {geocode.ErrNotFound, "address_not_found"}, {errOutage, errOutage.Error()}} {
		in(t, func(t *testing.T, s *shop) {
			s.places.err = c.says
			p, err := s.LocateAddress(t.Context(), "2 Elm St", commerce.Address{})
			if code(err) != c.want || err == nil && p != fixture.StoreAt {
				t.Errorf("%v, %v, want %q", p, err, c.want)
			}
			if port, ok := errors.AsType[*service.PortError](err); ok != (c.want == errOutage.Error()) || ok && (port.Port != service.GeocodePort || port.Fault != service.Unavailable) {
				t.Errorf("%+v", err)
			}
		})
	}
}

// TestTrack: the courier is asked when what is stored is older than a minute and the
// delivery goes on. What it says is stored. Without an answer, what is stored is shown.
func TestTrack(t *testing.T) {
	for _, c := range []struct {
		name    string
		wait    time.Duration // since the last report
		over    bool          // the delivery is over
		overToo bool
		err     error
		takes   time.Duration
		asked   int64
		live    bool
		status  commerce.CourierStatus
	}{
		{"fresh", 58 * time.Second, false, false, nil, time.Second, 0, false, commerce.CourierPending},
		{"old", time.Minute + time.Second, false, false, nil, time.Second, 1, true, commerce.CourierAssigned},
		{"over", time.Hour, true, false, nil, time.Second, 0, false, commerce.CourierDone},
		{"over, and asked for", time.Hour, true, true, nil, time.Second, 1, true, commerce.CourierDone},
		{"the provider fails", time.Hour, false, false, errOutage, time.Second, 1, false, commerce.CourierPending},
		{"the provider is slow", time.Hour, false, false, nil, time.Minute, 1, false, commerce.CourierPending},
	} {
		in(t, func(t *testing.T, s *shop) {
			order := s.delivered("a")
			ref := commerce.DeliveryRef(order.ID, 1)
			if c.over {
				if err := s.RecordCourierUpdate(t.Context(), provided(provider), courier.Delivery{ID: "bike_1", Ref: ref, Status: commerce.CourierDone}); err != nil {
					t.Fatal(err)
				}
				order = s.Order(order.Key())
			}
			time.Sleep(c.wait)
			s.couriers.now, s.couriers.err, s.couriers.takes = courier.Delivery{ID: "bike_1", Ref: ref, Status: commerce.CourierAssigned}, c.err, c.takes
			began := time.Now()
			var wg sync.WaitGroup
			for range 10 { // calls at a time share one question
				wg.Go(func() {
					got, live, err := s.TrackOrder(t.Context(), order, c.overToo)
					if err != nil || live != c.live || got.Delivery.Status != c.status || time.Since(began) > 5*time.Second {
						t.Errorf("%s: %+v, %v, %v after %v", c.name, got.Delivery, live, err, time.Since(began))
					}
				})
			}
			wg.Wait()
			if n := s.couriers.asked.Load(); n != c.asked || s.Delivery(order.Key()).Status != c.status {
				t.Errorf("%s: %d questions, stored %s", c.name, n, s.Delivery(order.Key()).Status)
			}
		})
	}
}

// TestTrackPickup: an order that is picked up has no delivery, and a caller that leaves
// gets the error of its context.
func TestTrackPickup(t *testing.T) {
	in(t, func(t *testing.T, s *shop) {
		got, live, err := s.TrackOrder(t.Context(), s.ordered(caller(commerce.Live), reported("a")), true)
		if err != nil || live || got.Delivery.OrderID != "" || s.couriers.asked.Load() != 0 {
			t.Errorf("%+v, %v, %v", got, live, err)
		}
		order := s.delivered("b")
		time.Sleep(time.Hour)
		s.couriers.takes = time.Minute
		ctx, leave := context.WithTimeout(t.Context(), time.Second)
		defer leave()
		if _, _, err := s.TrackOrder(ctx, order, false); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("%v", err)
		}
		time.Sleep(time.Minute) // the question ends by itself
	})
}
