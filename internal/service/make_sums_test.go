package service_test

import (
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"
	"time"

	"purveyor/internal/command"
	"purveyor/internal/commerce"
	"purveyor/internal/commit"
	"purveyor/internal/outside/courier"
	"purveyor/internal/outside/payment"
	"purveyor/internal/service"
	"purveyor/internal/storage"
	"purveyor/internal/storage/storagetest"
	"purveyor/internal/testkit/fixture"
)

// summed is all stored sums, by day and hour.
type summed map[commerce.DaySumsKey]map[int64]commerce.Sum

func (s summed) of(key commerce.DaySumsKey) map[int64]commerce.Sum {
	if s[key] == nil {
		s[key] = map[int64]commerce.Sum{}
	}
	return s[key]
}

func (s *shop) storedSums(t *testing.T) summed {
	t.Helper()
	list := summed{}
	for _, mode := range []commerce.Mode{commerce.Live, commerce.Test} {
		err := s.Reader.HourSums(t.Context(), storage.SumFilter{StoreIDs: []string{fixture.StoreID}, Mode: mode, Until: 1 << 50},
			func(key commerce.DaySumsKey, h *commerce.HourSum) { list.of(key)[h.Hour] = h.Sum })
		if err != nil {
			t.Fatal(err)
		}
	}
	return list
}

// sumsOfOrders sums all orders of the shop.
func (s *shop) sumsOfOrders(t *testing.T) summed {
	t.Helper()
	list := summed{}
	for _, o := range s.db.Orders() {
		at := commerce.TimeOfOrder(o.ID)
		f := commerce.SumFacts{Order: o}
		payment, err := s.Reader.Payment(t.Context(), o.Key())
		if err == nil {
			f.CapturedCents = payment.CapturedCents
		}
		events, err := s.Reader.Timeline(t.Context(), o.Key(), 1000)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range events {
			event := commerce.SumEvent{Kind: e.Kind, CreatedOn: e.CreatedOn}
			if d, ok := e.Data.(commerce.DeliveryData); ok {
				event.DropoffETA = d.DropoffETA
			}
			f.Events = append(f.Events, event)
		}
		hours := list.of(commerce.DaySumsKey{StoreID: o.StoreID, Day: commerce.DayOf(at), Mode: o.Mode, PartnerID: o.PartnerID, Source: o.Source})
		hour := int64(at.Time().UTC().Hour())
		sum := hours[hour]
		sum.Add(f)
		hours[hour] = sum
	}
	s.addEvents(t, list)
	return list
}

// addEvents adds the webhook events of the shop's partner to sums.
func (s *shop) addEvents(t *testing.T, list summed) {
	t.Helper()
	page, err := s.Reader.EventPage(t.Context(), storage.EventFilter{PartnerID: fixture.PartnerID, Limit: 1 << 20})
	if err != nil {
		t.Fatal(err)
	}
	until := commerce.HourOf(commerce.MillisOf(time.Now()))
	for _, e := range page.Events {
		attempts, err := s.Reader.Attempts(t.Context(), e.Key())
		if err != nil {
			t.Fatal(err)
		}
		at := commerce.TimeOfEvent(e.ID)
		if at >= until {
			continue
		}
		hours := list.of(commerce.DaySumsKey{StoreID: e.StoreID, Day: commerce.DayOf(at), Mode: e.Mode, PartnerID: e.PartnerID, Source: commerce.SumWebhooks})
		hour := int64(at.Time().UTC().Hour())
		sum := hours[hour]
		sum.AddWebhook(commerce.WebhookFacts{Tried: len(attempts) > 0, Delivered: slices.ContainsFunc(attempts, commerce.WebhookAttempt.Delivered)})
		hours[hour] = sum
	}
}

// attempt is an attempt to deliver one of the newest events.
func (h *history) attempt(t *testing.T) {
	page, err := h.Reader.EventPage(t.Context(), storage.EventFilter{PartnerID: fixture.PartnerID, Newest: true, Limit: 60})
	if err != nil || len(page.Events) == 0 {
		return
	}
	e := page.Events[h.rng.IntN(len(page.Events))]
	if at := commerce.TimeOfEvent(e.ID); at < commerce.MillisOf(time.Now().Add(-20*time.Hour)) {
		return // too late to be counted
	}
	a := commerce.WebhookAttempt{PartnerID: e.PartnerID, EventID: e.ID, ID: fmt.Sprint("att_", h.n), Status: []int64{500, 200}[h.rng.IntN(2)]}
	fixture.Change(t, h.Engine, commerce.Needs{}, func(*commerce.Rows, commerce.Millis) commerce.Changes {
		return commerce.Changes{Attempts: []commerce.WebhookAttempt{a}}
	})
}

// wantSums compares what is stored with the orders.
func (s *shop) wantSums(t *testing.T) {
	t.Helper()
	got, want := s.storedSums(t), s.sumsOfOrders(t)
	for key := range want {
		for hour, sum := range want[key] {
			if !reflect.DeepEqual(got[key][hour], sum) {
				t.Errorf("%+v, hour %d:\n got %+v\nwant %+v", key, hour, got[key][hour], sum)
			}
			delete(got[key], hour)
		}
		if len(got[key]) == 0 {
			delete(got, key)
		}
	}
	if len(got) > 0 {
		t.Errorf("sums without orders: %v", got)
	}
}

// history makes orders and takes them on, as chance has it.
type history struct {
	*shop
	rng *rand.Rand
	n   int
}

// step is one act of a partner or a provider about some order. Refusals are part of it.
func (h *history) step(t *testing.T) {
	ctx, live := t.Context(), caller(commerce.Live)
	h.n++
	pick := func() (o commerce.Order) {
		if all := h.db.Orders(); len(all) > 0 {
			o = all[h.rng.IntN(len(all))]
		}
		return o
	}
	if h.n%3 == 0 {
		h.attempt(t)
	}
	switch o := pick(); h.rng.IntN(10) {
	case 0:
		h.ordered(live, reported(fmt.Sprint("A-", h.n)))
	case 1:
		h.ordered(caller(commerce.Test), reported(fmt.Sprint("T-", h.n)))
	case 2:
		h.delivered(fmt.Sprint("D-", h.n))
	case 3:
		h.checkedOut([]commerce.Fulfillment{commerce.ByPickup, commerce.ByDelivery}[h.n%2], fmt.Sprint("key ", h.n))
	case 4:
		_ = h.RecordPaymentCallback(ctx, commerce.Actor{Kind: commerce.ActorProvider, ID: processor}, payment.Callback{
			Kind: payment.CallbackPaid, OrderID: o.ID, SessionID: session, PaymentID: fmt.Sprint("pay_", h.n), AmountCents: o.TotalCents})
	case 5:
		_, _ = h.ConfirmOrder(ctx, live, service.ConfirmOrder{Order: o})
	case 6:
		_, _ = h.MarkReady(ctx, live, service.Handover{Order: o})
	case 7:
		_, _ = h.MarkPickedUp(ctx, live, service.Handover{Order: o})
	case 8:
		if h.n%2 == 0 {
			_, _ = h.CancelOrder(ctx, live, service.CancelOrder{Order: o, Refund: h.n%4 == 0}, once[service.Cancelled](h.shop, fmt.Sprint("cancel ", h.n)))
			return
		}
		_, _ = h.RefundOrder(ctx, live, service.RefundOrder{Order: o, AmountCents: commerce.Cents(h.rng.IntN(3)) * 10}, once[commerce.Refund](h.shop, fmt.Sprint("refund ", h.n)))
	case 9:
		status := []commerce.CourierStatus{commerce.CourierAssigned, commerce.CourierLoaded, commerce.CourierDone, commerce.CourierCancelled}[h.rng.IntN(4)]
		_ = h.RecordCourierUpdate(ctx, provided(provider), courier.Delivery{ID: "bike_1", Ref: commerce.DeliveryRef(o.ID, 1), Status: status,
			DropoffETA: commerce.MillisOf(time.Now().Add(time.Hour))})
	}
}

// nextHour waits until the sums of this hour are due.
func nextHour() {
	time.Sleep(time.Until(time.Now().Truncate(time.Hour).Add(time.Hour + 2*time.Minute)))
}

// TestSums: after each run every hour has the sums of its orders, whatever has happened to
// orders of earlier hours meanwhile, also if runs end in the midst of it.
func TestSums(t *testing.T) {
	var sum commerce.Sum // of all histories
	for seed := range uint64(4) {
		in(t, func(t *testing.T, s *shop) {
			s.process(s.Committer, service.Options{SumsPage: 1 + int(seed)})
			h := &history{shop: s, rng: rand.New(rand.NewPCG(seed, 7))}
			for range 6 {
				for range 30 {
					time.Sleep(time.Duration(h.rng.IntN(200)) * time.Second)
					h.step(t)
				}
				if seed%2 == 1 { // a run that breaks off somewhere
					nextHour()
					part, cancel := context.WithCancel(t.Context())
					h.breakOff(cancel)
					_ = s.MakeSums(part)
					cancel()
					time.Sleep(3 * time.Minute) // its lease ends
				}
				nextHour()
				s.engine.Fail(storagetest.Never)
				if err := s.MakeSums(t.Context()); err != nil {
					t.Fatal(err)
				}
				s.wantSums(t)
			}
			all := s.storedSums(t)
			made := sum.Of(commerce.SumMade)
			for _, hours := range all {
				for _, hour := range slices.Collect(maps.Values(hours)) {
					sum.Merge(&hour)
				}
			}
			if got := sum.Of(commerce.SumMade) - made; got != int64(len(s.db.Orders())) {
				t.Errorf("%d of %d orders are in the sums", got, len(s.db.Orders()))
			}
		})
	}
	for _, figure := range []commerce.Figure{commerce.SumPaid, commerce.SumDone, commerce.SumCancelled, commerce.SumReturned, commerce.SumCourierFound, commerce.SumHooksDelivered} {
		if sum.Of(figure) == 0 {
			t.Errorf("the histories are too poor: %+v", sum)
		}
	}
}

// breakOff ends a run by its context, or by a save that fails.
func (h *history) breakOff(cancel func()) {
	if h.rng.IntN(2) == 0 {
		time.AfterFunc(time.Duration(h.rng.IntN(3)), cancel)
		return
	}
	h.engine.Fail([]storagetest.Failure{storagetest.BeforeSave, storagetest.AfterSave, storagetest.Refused}[h.rng.IntN(3)])
}

// TestSumsOfProcesses: of several processes one makes the sums, and only when there is a
// new hour. One that was too slow changes nothing.
func TestSumsOfProcesses(t *testing.T) {
	in(t, func(t *testing.T, s *shop) {
		s.ordered(caller(commerce.Live), reported("A-1"))
		nextHour()
		saves := func(f func()) int64 {
			before := s.engine.Saves.Load()
			f()
			return s.engine.Saves.Load() - before
		}
		run := func() {
			if err := s.MakeSums(t.Context()); err != nil {
				t.Error(err)
			}
		}
		if saves(run) == 0 {
			t.Error("nothing was made")
		}
		if n := saves(func() { run(); run() }); n > 0 {
			t.Errorf("without a new hour, %d batches were saved", n)
		}
		s.wantSums(t)

		nextHour()
		s.ordered(caller(commerce.Live), reported("A-2"))
		nextHour()
		until := commerce.HourOf(commerce.MillisOf(time.Now()))
		slow := sumsBy("slow", until)
		if begun, err := commit.Do(t.Context(), s.Committer, slow.begin); err != nil || !begun.Taken {
			t.Fatal(begun, err)
		}
		if n := saves(run); n > 0 {
			t.Errorf("while another process makes them, %d batches were saved", n)
		}
		time.Sleep(3 * time.Minute)
		run()
		kept, err := commit.Do(t.Context(), s.Committer, slow.keep)
		if advanced, failed := commit.Do(t.Context(), s.Committer, slow.end); kept || advanced || err != nil || failed != nil {
			t.Error("a process that lost the run goes on", kept, advanced, err, failed)
		}
		s.wantSums(t)
	})
}

// slowFeeds are reads of which those of changed orders take long.
type slowFeeds struct{ service.Reads }

func (r slowFeeds) ChangedOrders(ctx context.Context, partnerID string, mode commerce.Mode, from commerce.Millis, limit int) ([]storage.OrderChange, error) {
	time.Sleep(50 * time.Second)
	return r.Reads.ChangedOrders(ctx, partnerID, mode, from, limit)
}

// TestLongRunOfSums: a run that reads for longer than it has the job keeps it meanwhile.
func TestLongRunOfSums(t *testing.T) {
	in(t, func(t *testing.T, s *shop) {
		s.ordered(caller(commerce.Live), reported("A-1"))
		nextHour()
		slow := service.New(slowFeeds{s.Reader}, s.engine, s.Committer, service.Options{})
		ended := make(chan error)
		go func() { ended <- slow.MakeSums(t.Context()) }()
		time.Sleep(3 * time.Minute) // of 200 seconds
		before := s.engine.Saves.Load()
		if err := s.MakeSums(t.Context()); err != nil || s.engine.Saves.Load() != before {
			t.Errorf("another process took the run: %v", err)
		}
		if err := <-ended; err != nil {
			t.Error(err)
		}
		s.wantSums(t)
	})
}

// TestSumsAfterAClockWasAhead: positions that a wrong clock has stored far ahead hold up nothing,
// and nothing is passed over because of them.
func TestSumsAfterAClockWasAhead(t *testing.T) {
	in(t, func(t *testing.T, s *shop) {
		s.ordered(caller(commerce.Live), reported("A-1"))
		nextHour()
		ahead := commerce.HourOf(commerce.MillisOf(time.Now().Add(48 * time.Hour)))
		positions := []commerce.SumPosition{{Name: commerce.SumRun, At: ahead}, {Name: commerce.SumEventFeed(fixture.PartnerID), At: ahead}, {Name: commerce.SumFeed(fixture.PartnerID, commerce.Live), At: ahead}}
		var needs commerce.Needs
		for _, p := range positions {
			needs.SumPositions = append(needs.SumPositions, p.Name)
		}
		fixture.Change(t, s.Engine, needs, func(*commerce.Rows, commerce.Millis) commerce.Changes {
			return commerce.Changes{SumPositions: positions}
		})
		s.ordered(caller(commerce.Live), reported("A-2"))
		nextHour()
		if err := s.MakeSums(t.Context()); err != nil {
			t.Fatal(err)
		}
		s.wantSums(t)
		for _, p := range positions {
			if got, err := s.Reader.SumPosition(t.Context(), p.Name); err != nil || got.At >= ahead {
				t.Errorf("%+v, %v", got, err)
			}
		}
	})
}

// slowSums are the commands of a process that makes sums.
type slowSums struct {
	begin command.MakeSums
	keep  command.KeepSums
	end   command.AdvanceSums
}

func sumsBy(worker string, until commerce.Millis) slowSums {
	return slowSums{command.MakeSums{Worker: worker, Until: until},
		command.KeepSums{Worker: worker, Hours: []command.KeptHour{{Day: commerce.DaySumsKey{StoreID: fixture.StoreID, Mode: commerce.Live}}}},
		command.AdvanceSums{Worker: worker, Feeds: []command.FeedPosition{{Name: "feed", At: 1}}, Until: until + 1}}
}
