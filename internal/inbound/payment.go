package inbound

import (
	"cmp"
	"context"
	"errors"
	"log/slog"

	"purveyor/internal/command"
	"purveyor/internal/commerce"
	"purveyor/internal/commit"
	"purveyor/internal/outside/payment"
	"purveyor/internal/storage"
)

// payment records one notice of a processor.
func (in *Inbound) payment(ctx context.Context, n payment.Notice, traceID string) error {
	key, err := in.orderKey(ctx, n.OrderID)
	var order commerce.Order
	if err == nil {
		order, err = in.reader.Order(ctx, key)
	}
	if errors.Is(err, storage.ErrNotFound) {
		unknown(n)
		return nil
	}
	if err != nil {
		return err
	}
	err = in.record(ctx, n, command.FactsOf(order), traceID)
	if refusal, ok := errors.AsType[*commerce.Error](err); ok && refusal.Kind == commerce.KindNotFound {
		unknown(n) // the order has no payment
		return nil
	}
	return err
}

func (in *Inbound) record(ctx context.Context, n payment.Notice, facts command.OrderFacts, traceID string) error {
	note := command.NotePayment{Facts: facts, NoticeID: n.ID, Message: n.Message, AmountCents: n.AmountCents, TraceID: traceID}
	switch n.Kind {
	case payment.NoticePaid:
		return run(ctx, in.committer, command.RecordPayment{Facts: facts, SessionID: n.SessionID, PaymentID: n.PaymentID,
			AmountCents: n.AmountCents, TraceID: traceID})
	case payment.NoticeRefunded, payment.NoticeRefundFailed:
		return run(ctx, in.committer, command.RecordRefundNotice{Facts: facts, RefundID: cmp.Or(n.OurRefundID, n.RefundID), Ref: n.RefundID,
			AmountCents: n.AmountCents, Failed: n.Kind == payment.NoticeRefundFailed, Message: n.Message, TraceID: traceID})
	case payment.NoticePending:
		note.News = command.NewsPending
	case payment.NoticeDeclined:
		note.News = command.NewsDeclined
	case payment.NoticeExpired:
		note.News = command.NewsExpired
	case payment.NoticeDisputed:
		note.News = command.NewsDisputed
	default:
		slog.Warn("a payment notice of an unknown kind", "kind", n.Kind)
		return nil
	}
	return run(ctx, in.committer, note)
}

// run runs a command whose result nobody needs.
func run[R any](ctx context.Context, c *commit.Committer, cmd commit.Command[R]) error {
	_, err := commit.Do(ctx, c, cmd)
	return err
}
