package simulation

import (
	"context"
	"strings"

	"purveyor/internal/commerce"
)

// book is what the payment processor knows of an order: its own account, which the service
// does not write.
type book struct {
	sessions int
	captured commerce.Cents
	refunds  map[string]commerce.Cents // by our ids
	twice    []string                  // refunds that were made twice
}

// books are those of the processor, by order.
func (w *world) books() map[string]*book {
	books := map[string]*book{}
	for _, o := range w.db.SandboxObjects() {
		if !strings.HasPrefix(o.ID, "cs_") {
			continue
		}
		var s struct {
			Request struct {
				OrderID, CustomerEmail     string
				DeliveryFeeCents, TaxCents commerce.Cents
				Lines                      []commerce.OrderLine
			}
			PaymentID string
			Refunds   []struct {
				OurID       string
				AmountCents commerce.Cents
				FailsOn     int64
			}
		}
		if err := decode(o.Data, &s); err != nil || s.Request.OrderID == "" {
			w.broke("the processor's session %s could not be read: %v", o.ID, err)
			continue
		}
		b := books[s.Request.OrderID]
		if b == nil {
			b = &book{refunds: map[string]commerce.Cents{}}
			books[s.Request.OrderID] = b
		}
		b.sessions++
		if s.PaymentID != "" {
			b.captured += s.Request.DeliveryFeeCents + s.Request.TaxCents
			if strings.Contains(s.Request.CustomerEmail, paidLess) {
				b.captured--
			}
			for _, l := range s.Request.Lines {
				b.captured += l.PriceCents * commerce.Cents(l.Quantity)
			}
		}
		for _, r := range s.Refunds {
			if r.FailsOn != 0 { // the bank has given it back since
				continue
			}
			if b.refunds[r.OurID] != 0 {
				b.twice = append(b.twice, r.OurID)
			}
			b.refunds[r.OurID] += r.AmountCents
		}
	}
	return books
}

// checkBook: the processor took and gave back what the ledger says, with one refund for each of
// ours.
func (w *world) checkBook(ctx context.Context, o commerce.Order, paid commerce.Payment, b *book) {
	if b == nil {
		b = &book{}
	}
	var back commerce.Cents
	for _, amount := range b.refunds {
		back += amount
	}
	if b.captured != paid.CapturedCents || back != paid.RefundedCents || back != o.RefundedCents || b.sessions > 1 || len(b.twice) > 0 {
		w.broke("order %s: the processor took %d cents in %d sessions and gave %d back (twice: %v), and the ledger says %d and %d, the order %d", o.ID, b.captured, b.sessions, back, b.twice, paid.CapturedCents, paid.RefundedCents, o.RefundedCents)
	}
	refunds, err := w.reader.Refunds(ctx, o.Key())
	done := 0
	for _, r := range refunds {
		if r.State != commerce.RefundDone {
			continue
		}
		if done++; b.refunds[r.ID] != r.AmountCents {
			w.broke("order %s: the refund %s is of %d cents, and the processor's of %d", o.ID, r.ID, r.AmountCents, b.refunds[r.ID])
		}
	}
	if err != nil || done != len(b.refunds) {
		w.broke("order %s has %d refunds, and the processor made %d: %v", o.ID, done, len(b.refunds), err)
	}
}
