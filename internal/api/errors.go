package api

import (
	"errors"
	"log/slog"
	"net/http"
	"time"

	"purveyor/internal/commerce"
	"purveyor/internal/service"
	"purveyor/internal/storage"
	"purveyor/internal/web"
)

// outward translates an error into one that tells partners what they can do.
func outward(err error) error {
	if e, ok := errors.AsType[*service.ProcessorError](err); ok {
		return refusedByProcessor(e)
	}
	if e, ok := errors.AsType[*service.PortError](err); ok {
		return withoutPort(e)
	}
	switch {
	case errors.Is(err, service.ErrTooManyReplies):
		return &web.Error{Status: http.StatusTooManyRequests, Code: "too_many_replies", RetryAfter: 60,
			Message: "Too much is stored for repeats of your calls of the last 72 hours; new calls with an Idempotency-Key are taken again when the oldest are over that age"}
	case errors.Is(err, storage.ErrOutcomeUnknown):
		return errors.Join(&web.Error{Status: http.StatusInternalServerError, Code: "outcome_unknown", Log: slog.LevelError,
			Message: "It is not known whether this was done; look, or repeat it with the same Idempotency-Key if it had one"}, err)
	case errors.Is(err, storage.ErrUnavailable), errors.Is(err, service.ErrClosed):
		return errors.Join(&web.Error{Status: http.StatusInternalServerError, Code: "unavailable", Log: slog.LevelError,
			Message: "The service cannot use its database right now; nothing was changed, try again"}, err)
	}
	return err
}

// refusedByProcessor answers the definite refusal of a processor (SPEC, Errors: 502). If
// the processor refuses our credentials, a checkout is answered as if there were no
// processor.
func refusedByProcessor(e *service.ProcessorError) error {
	status, code := http.StatusBadGateway, "payment_processor_error"
	if e.Message == commerce.ProcessorRefusesUs {
		code = "payment_not_configured"
		if e.OrderID != "" {
			status = http.StatusInternalServerError
		}
	}
	return &web.Error{Status: status, Code: code, Message: e.Message, OrderID: e.OrderID}
}

// withoutPort answers a call that needs a provider that could not be used.
func withoutPort(e *service.PortError) error {
	answer := &web.Error{Status: http.StatusInternalServerError, Code: string(e.Port) + "_not_configured", Log: slog.LevelWarn}
	switch {
	case e.Port == service.PaymentPort:
		answer.Message = notConfigured(e.Mode, "No payment processor", "set PURVEYOR_STRIPE_KEY and PURVEYOR_STRIPE_WEBHOOK_SECRET",
			"set PURVEYOR_SANDBOX=on, or PURVEYOR_STRIPE_TEST_KEY and PURVEYOR_STRIPE_TEST_WEBHOOK_SECRET")
	case e.Port == service.GeocodePort:
		answer.Code, answer.Message = "geocoder_unavailable", "The service cannot look up addresses right now; try again"
	case e.Fault == service.NotConfigured:
		answer.Message = notConfigured(e.Mode, "No courier", "set up Uber Direct or DoorDash Drive", "set PURVEYOR_SANDBOX=on or set up Uber's test mode")
	case e.Fault == service.RefusesUs:
		answer.Log, answer.Message = slog.LevelInfo, service.CourierRefusesUs
	default:
		return errors.Join(&web.Error{Status: http.StatusBadGateway, Code: "courier_unavailable", RetryAfter: int(e.RetryAfter / time.Second),
			Message: "The courier provider cannot be reached right now; try again"}, e)
	}
	return errors.Join(answer, e)
}

// notConfigured is the text that tells the operator how to configure a provider for orders
// of a mode.
func notConfigured(mode commerce.Mode, missing, live, test string) string {
	if mode == commerce.Test {
		return missing + " is configured for test orders: the operator has to " + test
	}
	return missing + " is configured for live orders: the operator has to " + live
}
