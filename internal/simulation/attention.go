package simulation

import (
	"context"
	"slices"
	"strings"

	"purveyor/internal/commerce"
	"purveyor/internal/outside/courier"
)

// ride is what the courier's own books tell of a delivery.
type ride struct {
	Ref       string
	Cancelled bool // it was called off
	Tags      []string
	SeenOn    commerce.Millis // when it moved last; the clock may be wrong by mostSkew
}

func (r ride) has(tags ...string) bool {
	return slices.ContainsFunc(r.Tags, func(t string) bool { return slices.Contains(tags, t) })
}

// fails reports whether the courier does not bring the goods.
func (r ride) fails() bool {
	return r.Cancelled || r.has("return", "cancel", "cancel-always", "cancel-later")
}

// rides are all deliveries, by order.
func (w *world) rides() map[string][]ride {
	of := map[string][]ride{}
	for _, o := range w.db.SandboxObjects() {
		if !strings.HasPrefix(o.ID, courier.SandboxObjects+"_") {
			continue
		}
		var r ride
		if err := decode(o.Data, &r); err != nil {
			w.broke("a delivery of the sandbox could not be read: %v", err)
		}
		order, _, _ := commerce.ParseDeliveryRef(r.Ref)
		of[order] = append(of[order], r)
	}
	return of
}

// cause is something for which a person has to look at an order, and the reasons of the list of attention
// that say so.
type cause struct {
	what  string
	codes []commerce.AttentionCode
}

// The reasons for which a person looks at an order (BACKOFFICE, Attention; BEHAVIOUR, Lifecycle).
var (
	aboutStock    = []commerce.AttentionCode{commerce.AttentionInsufficientStock}
	aboutCouriers = []commerce.AttentionCode{commerce.AttentionNotDispatched, commerce.AttentionCourierGaveUp, commerce.AttentionGoodsReturned, commerce.AttentionGoodsReturning, commerce.AttentionGoodsWithCourier}
	aboutGoods    = []commerce.AttentionCode{commerce.AttentionGoodsWithCourier, commerce.AttentionNotCancelled}
	aboutBanks    = map[string]commerce.AttentionCode{disputed: commerce.AttentionDisputed, paidTwice: commerce.AttentionSecondPayment}
	aboutMoney    = []commerce.AttentionCode{commerce.AttentionRefundDue, commerce.AttentionRefundUnknown, commerce.AttentionRefundFailed}
)

// causes are those of an order at rest, as far as what its partner and the providers know tells.
func (w *world) causes(s *story, o commerce.Order, rides []ride) (list []cause) {
	switch {
	case o.Status == commerce.Paid:
		list = append(list, cause{"it is paid, and was not confirmed", aboutStock})
	case !atRest(string(o.Status)):
		list = append(list, cause{"no courier brings it", aboutCouriers})
	}
	for _, r := range rides {
		switch {
		case r.Cancelled, r.has("cancel", "cancel-always"): // before the courier had the goods
		case r.has("cancel-later"):
			list = append(list, cause{"its courier has left with the goods", aboutGoods})
		case r.has("return"):
			if !s.cancelled { // else the goods are where they are to be
				list = append(list, cause{"its courier has brought the goods back", []commerce.AttentionCode{commerce.AttentionGoodsReturned}})
			}
		case s.cancelled:
			wasOver := r.SeenOn.Time().Before(w.callingOff[o.ID].Add(mostSkew)) // then there was nothing to call off
			if w.calledOff[r.Ref].Before(w.taken[r.Ref]) && !wasOver {
				w.broke("order %s is cancelled, and its courier, which took it at %v, was never called off since", o.ID, w.taken[r.Ref])
			}
			list = append(list, cause{"it is cancelled, and its courier is not", aboutGoods})
		}
	}
	return list
}

// checkAttention: for each cause a reason was raised. A person may have resolved it since. And none is
// open that is over.
func (w *world) checkAttention(ctx context.Context, s *story, o commerce.Order, rides []ride, mails mails) {
	reasons, err := w.reader.Attention(ctx, o.Key())
	if err != nil {
		w.broke("the reasons of order %s could not be read: %v", o.ID, err)
	}
	list := w.causes(s, o, rides)
	payment, err := w.reader.Payment(ctx, o.Key())
	if owed := payment.CapturedCents - payment.RefundedCents; err == nil && owed > 0 && o.Status == commerce.Cancelled {
		list = append(list, cause{"it is cancelled, and money of its customer is kept", aboutMoney})
	}
	ledger, _ := w.reader.Ledger(ctx, o.Key()) // checkMoney looks at its errors
	if slices.ContainsFunc(ledger, func(e commerce.LedgerEntry) bool { return e.Kind == commerce.EntryRefundFailed }) {
		list = append(list, cause{"a bank has given a refund of it back", []commerce.AttentionCode{commerce.AttentionRefundFailed}})
	}
	if err == nil && payment.PendingCents > 0 {
		list = append(list, cause{"a refund of it is never decided", []commerce.AttentionCode{commerce.AttentionRefundUnknown}})
	}
	list = append(list, w.mishaps(s, o, ledger)...)
	if mails.kept[o.ID] == commerce.UnsentTooManyOfPartner {
		list = append(list, cause{"its customer was not told that it is ready", []commerce.AttentionCode{commerce.AttentionMailNotSent}})
	}
	for _, c := range list {
		if !slices.ContainsFunc(reasons, func(a commerce.Attention) bool { return a.Since != 0 && slices.Contains(c.codes, a.Code) }) {
			w.broke("staff were never asked to look at order %s, which is %s: %s (%s)", o.ID, o.Status, c.what, s.name)
		}
	}
	for _, a := range reasons {
		if now, is := w.outdated(a); a.Open() && is {
			w.broke("staff are still asked to look at order %s for %s, which is over: it is %s", o.ID, a.Code, now)
		}
	}
}

// mishaps are what went wrong with an order beside its own course.
func (w *world) mishaps(s *story, o commerce.Order, ledger []commerce.LedgerEntry) (list []cause) {
	add := func(what string, code commerce.AttentionCode) {
		list = append(list, cause{what, []commerce.AttentionCode{code}})
	}
	paid := slices.IndexFunc(ledger, func(e commerce.LedgerEntry) bool { return e.Kind == commerce.EntryCapture })
	if code := aboutBanks[s.bank]; code != "" && paid >= 0 {
		add("its payment is "+s.bank, code)
	}
	if paid >= 0 && ledger[paid].CreatedOn.Time().Add(mostSkew).Before(s.shortTill) {
		add("its customer has paid too little", commerce.AttentionPaymentMismatch)
	}
	if s.far && !s.cancelled {
		add("it goes beyond the radius of the store", commerce.AttentionOutOfRadius)
	}
	if w.denied[o.ID] >= surelyDenied {
		add("the provider of couriers has refused us", commerce.AttentionProviderRefusesUs)
	}
	return list
}
