package commerce

import "time"

// Reports are made from sums over the orders of an hour. The hour of an order is that of
// the time in its id, which never changes, so what happens to an order later (a refund, the
// end of a delivery) changes the sums of the hour in which the order was made.

// Figure is a number that sums count.
type Figure int

// The figures. Each counts orders or adds up cents, but where it says otherwise. Stored sums
// know them by their numbers, so new ones come last.
const (
	SumMade           Figure = iota
	SumPaid                  // paid here, or reported as paid
	SumDone                  // handed over to the customer
	SumCancelled             // cancelled now
	SumRefunded              // refunded in full now
	SumTotal                 // cents: of paid orders, tax and fee included
	SumTax                   // cents: of paid orders
	SumFee                   // cents: the delivery fees of paid orders
	SumTotalStopped          // cents: of paid orders that are cancelled or refunded in full now
	SumCaptured              // cents: at the payment processor
	SumReturned              // cents: of refunds
	SumCourierFound          // orders that a courier took
	SumCourierLeft           // times that a courier cancelled or brought the goods back
	SumCourierLate           // orders that came later than the courier's provider had promised
	SumByCourier             // orders that a courier brought
	SumHooks                 // webhook events, in the hour in which they were made
	SumHooksTried            // of them, those that were sent
	SumHooksDelivered        // of them, those that arrived within SumWaits
	Figures                  // how many there are
)

// WaitSteps are the upper bounds of the steps in which waiting times are counted. A wait
// beyond the last one counts in one more step.
var WaitSteps = [...]time.Duration{
	15 * time.Second, 30 * time.Second, time.Minute, 90 * time.Second, 2 * time.Minute, 3 * time.Minute, 4 * time.Minute, 5 * time.Minute,
	7 * time.Minute, 10 * time.Minute, 15 * time.Minute, 20 * time.Minute, 30 * time.Minute, 45 * time.Minute, time.Hour, 90 * time.Minute,
	2 * time.Hour, 3 * time.Hour, 4 * time.Hour, 6 * time.Hour, 8 * time.Hour, 12 * time.Hour, 24 * time.Hour,
}

// Waits counts waiting times by WaitSteps.
type Waits [len(WaitSteps) + 1]int64

// Add counts one wait. One below zero, as from a clock that was set back, counts as none.
func (w *Waits) Add(d time.Duration) {
	for i, bound := range WaitSteps {
		if d <= bound {
			w[i]++
			return
		}
	}
	w[len(WaitSteps)]++
}

// Merge adds other counts.
func (w *Waits) Merge(other *Waits) {
	for i, n := range other {
		w[i] += n
	}
}

// Count is the number of waits.
func (w *Waits) Count() (n int64) {
	for _, c := range w {
		n += c
	}
	return n
}

// Quantile is the time within which that part (0 to 1) of the waits ended: a point of the
// step in which it lies, as if the waits of a step were spread evenly over it. Without waits
// it is 0. Of waits beyond the last step it returns the bound of that step.
func (w *Waits) Quantile(part float64) time.Duration {
	wanted := part * float64(w.Count())
	if wanted == 0 {
		return 0
	}
	var before float64
	var low time.Duration
	for i, bound := range WaitSteps {
		if n := float64(w[i]); before+n >= wanted {
			return low + time.Duration(float64(bound-low)*(wanted-before)/n)
		}
		before, low = before+float64(w[i]), bound
	}
	return low
}

// Sum is what reports show of some orders.
type Sum struct {
	Figures [Figures]int64
	Confirm Waits // from paid to confirmed
	Finish  Waits // from confirmed to handed over
}

// Of is a figure.
func (s *Sum) Of(f Figure) int64 { return s.Figures[f] }

// Cents is a figure that counts cents.
func (s *Sum) Cents(f Figure) Cents { return Cents(s.Figures[f]) }

// Merge adds another sum.
func (s *Sum) Merge(other *Sum) {
	for i, n := range other.Figures {
		s.Figures[i] += n
	}
	s.Confirm.Merge(&other.Confirm)
	s.Finish.Merge(&other.Finish)
}

// HourSum is the sum of the orders of one hour.
type HourSum struct {
	Hour int64 // of the day by UTC, 0 to 23
	Sum
}

// DaySums are the sums of one day (by UTC), hour by hour, of the orders of a store that have
// the same mode, partner and source. Hours without orders are left out.
type DaySums struct {
	DaySumsKey
	Hours []HourSum // in their order
}

// DaySumsKey finds the sums of a day.
type DaySumsKey struct {
	StoreID   string
	Day       Millis // at which it begins
	Mode      Mode
	PartnerID string // empty: the merchant
	Source    string
}

// Key of the row.
func (d DaySums) Key() DaySumsKey { return d.DaySumsKey }

// With is the day with another sum for an hour.
func (d DaySums) With(h HourSum) DaySums {
	hours := make([]HourSum, 0, len(d.Hours)+1)
	placed := false
	for _, old := range d.Hours {
		if !placed && old.Hour >= h.Hour {
			hours, placed = append(hours, h), true
		}
		if old.Hour != h.Hour {
			hours = append(hours, old)
		}
	}
	if !placed {
		hours = append(hours, h)
	}
	d.Hours = hours
	return d
}

// SumPosition says how far the job that makes the sums has come.
type SumPosition struct {
	// Name is SumRun, or that of a feed of changed orders.
	Name string
	// At is, of the run, the time before which every hour has its sums. Of a feed, it is the
	// time before which every change is in the sums.
	At Millis
	// Worker has the run until LeasedUntil.
	Worker      string
	LeasedUntil Millis
}

// Made reports whether the sums up to an hour are made, as far as this position of a run says. One
// that lies far ahead was stored by a clock that was wrong, and says nothing.
func (p SumPosition) Made(until Millis) bool { return p.At >= until && p.At <= until.Add(time.Hour) }

// SumRun is the name of the position of the whole job.
const SumRun = "run"

// SumEventFeed is the name of the position of a partner's webhook events: of the hour before
// which none can be delivered any more.
func SumEventFeed(partnerID string) string { return "events " + partnerID }

// SumFeed is the name of the position of a partner's orders of a mode.
func SumFeed(partnerID string, mode Mode) string { return "orders " + string(mode) + " " + partnerID }

// Key of the row.
func (p SumPosition) Key() string { return p.Name }

// HourOf is the beginning of the hour that a time lies in.
func HourOf(at Millis) Millis { return at - at%Millis(time.Hour.Milliseconds()) }

// DayOf is the beginning of the day (by UTC) that a time lies in.
func DayOf(at Millis) Millis { return at - at%Millis(day.Milliseconds()) }

// SumWebhooks stands in the place of the source of orders in the key of the sums of webhook
// events.
const SumWebhooks = "webhooks"

// SumWaits is how long sums wait for the delivery of a webhook.
const SumWaits = day

// WebhookFacts are the facts of a webhook event that sums count.
type WebhookFacts struct {
	ID        string
	StoreID   string
	Mode      Mode
	Tried     bool
	Delivered bool
}

// AddWebhook counts a webhook event.
func (s *Sum) AddWebhook(f WebhookFacts) {
	s.Figures[SumHooks]++
	if f.Tried {
		s.Figures[SumHooksTried]++
	}
	if f.Delivered {
		s.Figures[SumHooksDelivered]++
	}
}

// SumFacts are the facts of an order that sums count.
type SumFacts struct {
	Order         Order      // without lines and address
	CapturedCents Cents      // at the payment processor
	Events        []SumEvent // in their order: of the kinds in SumEvents
}

// SumEvent is a timeline event, as far as sums look at it.
type SumEvent struct {
	Kind       TimelineKind
	CreatedOn  Millis
	DropoffETA Millis // of TimelineDeliveryCreated; 0: not known
}

// SumEvents are the kinds of events that sums look at.
var SumEvents = []TimelineKind{TimelinePaid, TimelineProcessed, TimelineDelivered, TimelinePickedUp, TimelineDeliveryCreated, TimelineDeliveryCancelled}

// Add counts an order.
func (s *Sum) Add(f SumFacts) {
	t := timesOf(f.Events)
	count := func(figure Figure, n int64) { s.Figures[figure] += n }
	when := func(holds bool, figure Figure) {
		if holds {
			count(figure, 1)
		}
	}
	o := f.Order
	count(SumMade, 1)
	count(SumCaptured, int64(f.CapturedCents))
	count(SumReturned, int64(o.RefundedCents))
	count(SumCourierLeft, t.left)
	paid := t.paid != 0 || t.confirmed != 0
	when(paid, SumPaid)
	when(t.done != 0, SumDone)
	when(o.Status == Cancelled, SumCancelled)
	when(o.Status == Refunded, SumRefunded)
	when(t.courier, SumCourierFound)
	when(t.courier && t.delivered, SumByCourier)
	when(t.courier && t.delivered && t.promised != 0 && t.done > t.promised, SumCourierLate)
	if paid {
		count(SumTotal, int64(o.TotalCents))
		count(SumTax, int64(o.TaxCents))
		count(SumFee, int64(o.DeliveryFeeCents))
		if o.Stopped() {
			count(SumTotalStopped, int64(o.TotalCents))
		}
	}
	if t.paid != 0 && t.confirmed != 0 {
		s.Confirm.Add(t.confirmed.Sub(t.paid))
	}
	if t.confirmed != 0 && t.done != 0 {
		s.Finish.Add(t.done.Sub(t.confirmed))
	}
}

// orderTimes is when an order got where.
type orderTimes struct {
	paid, confirmed, done, promised Millis // 0: not yet
	courier, delivered              bool
	left                            int64
}

func timesOf(events []SumEvent) (t orderTimes) {
	first := func(at *Millis, e SumEvent) {
		if *at == 0 {
			*at = e.CreatedOn
		}
	}
	for _, e := range events {
		switch e.Kind {
		case TimelinePaid:
			first(&t.paid, e)
		case TimelineProcessed:
			first(&t.confirmed, e)
		case TimelineDelivered, TimelinePickedUp:
			first(&t.done, e)
			t.delivered = t.delivered || e.Kind == TimelineDelivered
		case TimelineDeliveryCreated:
			t.courier = true
			if t.done == 0 {
				t.promised = e.DropoffETA
			}
		case TimelineDeliveryCancelled:
			t.left++
		}
	}
	return t
}
