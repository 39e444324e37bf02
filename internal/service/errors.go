package service

import (
	"errors"
	"time"

	"purveyor/internal/command"
	"purveyor/internal/commerce"
	"purveyor/internal/commit"
)

// Besides the errors of this file a use case returns *commerce.Error (a refusal
// that partners may read; nothing was changed), the errors of package storage,
// and ErrClosed.

// ErrClosed means that the service is shutting down. Nothing was changed.
var ErrClosed = commit.ErrClosed

// ErrTooManyReplies means that the stored replies of the partner have reached their limit.
// Calls without an idempotency key, and repeats, are not refused.
var ErrTooManyReplies = errors.New("too much is stored of the partner's replies")

// ProcessorError is the definite refusal of a payment processor.
type ProcessorError struct {
	Message string // in the processor's words, or commerce.ProcessorRefusesUs
	OrderID string // the order that the refused call made; empty: none
}

func (e *ProcessorError) Error() string { return "the payment processor refuses: " + e.Message }

// CourierRefusesUs is the text for partners when a courier provider refuses our
// credentials.
const CourierRefusesUs = command.CourierRefusesUs

// Port is a kind of provider.
type Port string

// The ports that calls depend on.
const (
	PaymentPort Port = "payment"
	CourierPort Port = "courier"
	GeocodePort Port = "geocode"
)

// Fault is the reason why a port could not be used.
type Fault int

// The faults.
const (
	NotConfigured Fault = iota + 1 // the operator has set up no provider for the mode
	RefusesUs                      // the provider refuses our credentials
	Unavailable                    // it did not answer, or not now
)

// PortError means that a call needs a port that could not be used. Nothing was changed.
type PortError struct {
	Port       Port
	Fault      Fault
	Mode       commerce.Mode
	RetryAfter time.Duration // 0: unknown
	Err        error         // the cause; nil: there is none beside Fault
}

func (e *PortError) Error() string {
	if e.Err != nil {
		return e.Err.Error()
	}
	return "no provider is configured: " + string(e.Port)
}

func (e *PortError) Unwrap() error { return e.Err }
