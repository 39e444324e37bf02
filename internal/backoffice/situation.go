package backoffice

import (
	"cmp"
	"fmt"
	"purveyor/internal/requestlog"
	"slices"
	"strings"

	"purveyor/internal/commerce"
)

// orderFacts is what the page of an order is made of.
type orderFacts struct {
	Order     commerce.Order
	Store     commerce.Store
	Partner   commerce.Partner // without an ID for an order of the merchant
	Timeline  []commerce.TimelineEvent
	Payment   *commerce.Payment // nil: no processor takes money for the order
	Refunds   []commerce.Refund
	Delivery  *commerce.Delivery // nil: no courier was asked for yet
	Attention []commerce.Attention
	Jobs      []commerce.Job // that are about the order and not done
	Webhooks  []sentEvent    // newest last
	Audit     []commerce.AuditEntry
	Calls     []requestlog.Entry // of the partner about the order
	Names     map[string]string  // of the products, by their ids
}

// sentEvent is a webhook event with its attempts, oldest first.
type sentEvent struct {
	commerce.WebhookEvent
	Attempts []commerce.WebhookAttempt
}

// since is when the newest timeline event of a kind happened; 0: there is none.
func (f orderFacts) since(kinds ...commerce.TimelineKind) commerce.Millis {
	for _, e := range slices.Backward(f.Timeline) {
		if slices.Contains(kinds, e.Kind) {
			return e.CreatedOn
		}
	}
	return 0
}

// open are the open reasons to look at the order, the most urgent first.
func (f orderFacts) open() []commerce.Attention {
	list := slices.DeleteFunc(slices.Clone(f.Attention), func(a commerce.Attention) bool { return !a.Open() })
	slices.SortStableFunc(list, func(a, b commerce.Attention) int { return cmp.Compare(a.Code.Rank(), b.Code.Rank()) })
	return list
}

func (f orderFacts) raised(code commerce.AttentionCode) (commerce.Attention, bool) {
	i := slices.IndexFunc(f.Attention, func(a commerce.Attention) bool { return a.Code == code && a.Open() })
	if i < 0 {
		return commerce.Attention{}, false
	}
	return f.Attention[i], true
}

// job is the newest job of a kind that is not done.
func (f orderFacts) job(kind commerce.JobKind) (commerce.Job, bool) {
	for _, j := range f.Jobs {
		if j.Kind == kind {
			return j, true
		}
	}
	return commerce.Job{}, false
}

// situation says in one sentence what is going on with the order. clock gives a time as the
// store's clock shows it.
func (f orderFacts) situation(clock func(commerce.Millis) string) string {
	o := f.Order
	switch o.Status {
	case commerce.PendingPayment:
		return f.unpaid(clock)
	case commerce.FailedPayment:
		return "The payment failed, and the customer cannot pay any more"
	case commerce.Paid:
		if a, short := f.raised(commerce.AttentionInsufficientStock); short {
			return sentence("Paid, but it cannot be confirmed", a.Detail)
		}
		return at(fmt.Sprintf("Paid %s", o.TotalCents.Dollars()), " at ", f.paidOn(), clock) + ", and waits to be confirmed"
	case commerce.Processed:
		if o.Fulfillment == commerce.ByDelivery {
			return f.dispatching(clock)
		}
		return at("To be made", " since ", f.since(commerce.TimelineProcessed), clock) + "; mark it ready when the goods wait for the customer"
	case commerce.ReadyForPickup:
		return at("Ready", " since ", o.ReadyForPickupAt, clock) + ", and waits for its customer"
	case commerce.Shipped, commerce.OutForDelivery:
		return f.underWay(clock)
	case commerce.Delivered:
		return at("Delivered", " at ", f.since(commerce.TimelineDelivered), clock)
	case commerce.PickedUp:
		return at("Picked up", " at ", o.PickedUpAt, clock)
	case commerce.RefundRequested:
		return at("A refund is requested", " since ", f.since(commerce.TimelineRefundRequested), clock) + "; refund it or decline"
	case commerce.Cancelled:
		return f.withMoneyLeft(at("Cancelled", " at ", f.since(commerce.TimelineCancelled), clock))
	case commerce.Refunded:
		return f.withMoneyLeft(at("Refunded in full", " at ", f.since(commerce.TimelineRefunded), clock))
	}
	return "The status is " + string(o.Status)
}

func (f orderFacts) unpaid(clock func(commerce.Millis) string) string {
	switch {
	case f.Payment == nil || f.Payment.State == "":
		return "Waiting for the payment"
	case f.Payment.SessionID == "" && f.Payment.Error != "":
		return sentence("No payment page could be opened", f.Payment.Error)
	case f.Payment.SessionID == "":
		return "The payment page is being opened"
	}
	return at(fmt.Sprintf("Waiting for the customer to pay %s", f.Order.TotalCents.Dollars()), " since ", f.Order.CreatedOn, clock)
}

// paidOn is when the order was paid: for a reported order, when it was made.
func (f orderFacts) paidOn() commerce.Millis {
	return cmp.Or(f.since(commerce.TimelinePaid), f.Order.CreatedOn)
}

// dispatching is the situation of a delivery order without a courier.
func (f orderFacts) dispatching(clock func(commerce.Millis) string) string {
	d := f.Delivery
	if a, gaveUp := f.raised(commerce.AttentionCourierGaveUp); gaveUp {
		return sentence("No courier delivers it", a.Detail)
	}
	if d == nil {
		return "No courier was asked yet"
	}
	if d.ProviderID != "" {
		return at(providerName(d.Provider)+" looks for a courier", " since ", cmp.Or(d.AskedOn, d.CreatedOn), clock)
	}
	text := at("Waiting for a courier", " since ", d.CreatedOn, clock)
	if d.Error != "" {
		text = sentence(text, d.Error)
	}
	switch job, waits := f.job(commerce.JobDispatch); {
	case waits && job.State == commerce.JobHeld:
		text += "; held until the operator releases it, because the database was restored"
	case waits && job.Tries > 0 && job.State == commerce.JobWaiting:
		text = at(text, "; next try ", job.RunAt, clock)
	}
	return text
}

// underWay is the situation of an order that a courier has taken.
func (f orderFacts) underWay(clock func(commerce.Millis) string) string {
	d := f.Delivery
	if d == nil {
		return "A courier has it"
	}
	name := cmp.Or(d.Courier.Name, "A courier")
	switch d.Status {
	case commerce.CourierReturning:
		return name + " brings the goods back to the store"
	case commerce.CourierLoaded, commerce.CourierEnRoute:
		if d.Imminent {
			return name + " is about to arrive at the customer"
		}
		return at(name+" is on the way to the customer", ", there at ", d.DropoffETA, clock)
	case commerce.CourierAssigned:
		return at(name+" is on the way to the store", ", there at ", d.PickupETA, clock)
	}
	return at(providerName(d.Provider)+" looks for a courier", " since ", cmp.Or(d.AskedOn, d.CreatedOn), clock)
}

func (f orderFacts) withMoneyLeft(text string) string {
	if f.Payment == nil || f.Payment.CapturedCents == 0 {
		return text
	}
	if p := f.Payment; p.PendingCents > 0 {
		text += fmt.Sprintf("; %s is on its way back", p.PendingCents.Dollars())
	} else if left := p.Left(); left > 0 {
		text += fmt.Sprintf("; %s of the payment is not refunded", left.Dollars())
	}
	return text
}

// at adds a time to a text, if it is known.
func at(text, between string, when commerce.Millis, clock func(commerce.Millis) string) string {
	if when == 0 {
		return text
	}
	return text + between + clock(when)
}

// sentence joins a text and its reason, which comes from elsewhere and may end with a full
// stop.
func sentence(text, reason string) string {
	return text + "; " + strings.TrimRight(strings.TrimSpace(reason), ".")
}

// providerName is a provider as people write it.
func providerName(name string) string {
	switch name {
	case "":
		return "The provider"
	case "uber":
		return "Uber Direct"
	case "doordash":
		return "DoorDash Drive"
	case "stripe":
		return "Stripe"
	case "sandbox":
		return "The sandbox"
	}
	return name
}
