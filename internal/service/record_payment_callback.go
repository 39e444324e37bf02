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

// RecordPaymentCallback is a callback about a payment that moves no money.
type RecordPaymentCallback struct {
	OrderID     string
	Kind        PaymentCallbackKind
	CallbackID  string // a repeated callback has the same id
	Message     string // in the processor's words
	AmountCents commerce.Cents
	Job         *commerce.JobKey // as for RecordPayment
}

// RecordPaymentCallback adds the callback to the order's timeline. by is as for
// RecordPayment.
func (s *Service) RecordPaymentCallback(ctx context.Context, by commerce.Actor, in RecordPaymentCallback) error {
	facts, err := s.paymentFacts(ctx, by, in.OrderID)
	if err != nil {
		return err
	}
	return run(ctx, s, command.RecordPaymentCallback{Facts: facts, Kind: in.Kind, CallbackID: in.CallbackID, Message: in.Message,
		AmountCents: in.AmountCents, Actor: by, Job: in.Job})
}
