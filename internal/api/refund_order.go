package api

import (
	"context"
	"errors"

	"purveyor/internal/command"
	"purveyor/internal/commerce"
	"purveyor/internal/storage"
	"purveyor/internal/wire"
)

type refundIn struct {
	AmountCents *wire.Int `json:"amount_cents"`
	Reason      *string   `json:"reason"`
}

// refundOrder gives money of a card payment back.
func (a *API) refundOrder(r *request) (reply, error) {
	key, err := r.keyRequired()
	if err != nil {
		return reply{}, err
	}
	var in refundIn
	if err := r.decodeOptionalBody(&in); err != nil {
		return reply{}, err
	}
	var c check
	reason := c.Optional("reason", in.Reason, wire.MaxText)
	var amount commerce.Cents
	if given := c.OptBetween("amount_cents", in.AmountCents, 1, int64(commerce.MaxTotal)); given != nil {
		amount = commerce.Cents(*given)
	}
	if c.Err != nil {
		return reply{}, c.Err
	}
	order, err := a.order(r)
	if err != nil {
		return reply{}, err
	}
	cmd := command.StartRefund{Facts: command.FactsOf(order), RefundID: a.newRefundID(order), AmountCents: amount, Reason: reason,
		TraceID: r.traceID}
	return awaiting(a, r, r.replyKey(r.Mode, key), in, cmd, func(commerce.Refund) (int, []byte) { return 0, nil }, a.refundRefused)
}

// refundRefused says why the processor gave nothing back.
func (a *API) refundRefused(ctx context.Context, job commerce.Job) error {
	refund, err := a.reader.Refund(ctx, commerce.RefundKey{StoreID: job.Owner, RefundID: job.Subject})
	if err != nil && !errors.Is(err, storage.ErrNotFound) {
		return err
	}
	return refusedByProcessor(refund.Error, job)
}

func (a *API) newRefundID(o commerce.Order) string {
	no, _ := commerce.StoreNoOfOrder(o.ID) // the order was found by it
	return commerce.NewRefundID(no, commerce.MillisOf(a.now()), a.env.Entropy())
}
