package commerce

import (
	"fmt"
	"strconv"
)

// Kind says what sort of refusal an Error is. One table in package web maps
// it to an HTTP status.
type Kind int

const (
	KindInvalid   Kind = iota + 1 // the request itself is wrong (400)
	KindForbidden                 // the caller may not do this (403)
	KindNotFound                  // there is no such thing for this caller (404)
	KindConflict                  // the state does not allow it (409)
)

// Error is a refusal that a partner may read. Code is stable snake case, Message is for a
// person. Field is the JSON path at fault (KindInvalid). OrderID is the order that already
// has the external id. Stale has the quantities of a refusal by Stock.Expect.
type Error struct {
	Kind    Kind
	Code    string
	Message string
	Field   string
	OrderID string
	Stale   *StaleQuantity
}

func (e *Error) Error() string { return e.Message }

// Invalid refuses a value of the request: code invalid_body, with its path.
func Invalid(field, format string, args ...any) *Error {
	return &Error{Kind: KindInvalid, Code: "invalid_body", Field: field, Message: fmt.Sprintf(format, args...)}
}

// NotFound is the refusal of an id that does not exist for this caller.
func NotFound(noun string) *Error {
	return &Error{Kind: KindNotFound, Code: "not_found", Message: noun + " not found"}
}

// Conflict is a refusal because of the present state.
func Conflict(code, format string, args ...any) *Error {
	return &Error{Kind: KindConflict, Code: code, Message: fmt.Sprintf(format, args...)}
}

// Index is the path of a field of a list's element, as Error.Field names it:
// items[3].quantity.
func Index(list string, i int, field string) string {
	path := list + "[" + strconv.Itoa(i) + "]"
	if field != "" {
		path += "." + field
	}
	return path
}

// CredentialsError is a provider's refusal of our credentials or our account (HTTP 401 or
// 403). The call had no effect, and repeating it does not help until the operator changes
// the configuration.
type CredentialsError struct{ Message string } // for the operator: what to change; no secret

func (e *CredentialsError) Error() string { return e.Message }

// ProviderError is the failure of a call to a payment processor or a courier provider to
// which the provider gave no answer of its own. Unless Err is a CredentialsError, the call
// may have had an effect.
type ProviderError struct {
	Provider string // the name that is configured
	Err      error
}

func (e *ProviderError) Error() string { return e.Err.Error() }
func (e *ProviderError) Unwrap() error { return e.Err }

// ProcessorRefusesUs is the text for partners about a payment processor's CredentialsError.
// It is stored as the error of the payment or the refund, and the call that waits for the
// outcome recognises the cause by it.
const ProcessorRefusesUs = "The payment processor does not accept this service's credentials; its operator has to set them right"
