package service

import (
	"context"

	"purveyor/internal/command"
	"purveyor/internal/commerce"
)

// PaymentCallbackKind is a change of a payment that the processor reports and that moves
// no money.
type PaymentCallbackKind = command.PaymentCallbackKind

// The kinds.
const (
	CallbackPending  = command.CallbackPending
	CallbackDeclined = command.CallbackDeclined
	CallbackExpired  = command.CallbackExpired
	CallbackDisputed = command.CallbackDisputed
)

// RecordPaymentCallback is a callback about a payment that moves no money. The use case
// sets Facts and Actor.
type RecordPaymentCallback = command.RecordPaymentCallback

// RecordPaymentCallback adds the callback to the order's timeline. by is as for
// RecordPayment.
func (s *Service) RecordPaymentCallback(ctx context.Context, by commerce.Actor, orderID string, in RecordPaymentCallback) (err error) {
	if in.Facts, err = s.paymentFacts(ctx, by, orderID); err != nil {
		return err
	}
	in.Actor = by
	return run(ctx, s, in)
}
