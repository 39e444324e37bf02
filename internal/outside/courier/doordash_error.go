package courier

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"purveyor/internal/commerce"
	"purveyor/internal/outside/httpcall"
)

var errNotDoorDash = errors.New("the answer is not one of DoorDash's; check the URL and proxies")

// doordashError is an answer by which DoorDash refuses a call.
type doordashError struct {
	status      int
	Code        string               `json:"code"`
	Message     string               `json:"message"`
	Reason      string               `json:"reason"` // why the delivery cannot be made or cancelled
	FieldErrors []doordashFieldError `json:"field_errors"`
}

type doordashFieldError struct {
	Field string `json:"field"`
	Error string `json:"error"`
}

func (e *doordashError) Error() string { return fmt.Sprintf("it answered %d: %s", e.status, e.words()) }

// words returns DoorDash's own text, cleaned for storage.
func (e *doordashError) words() string {
	words := []string{cmp.Or(e.Message, e.Reason, e.Code, "no reason given")}
	for _, f := range e.FieldErrors {
		words = append(words, f.Field+": "+f.Error)
	}
	if e.Reason != "" && e.Message != "" {
		words = append(words, e.Reason)
	}
	return commerce.CleanText(strings.Join(words, "; "), commerce.MaxNote)
}

func (e *doordashError) says(word string) bool { return e.Code == word || e.Reason == word }

// doordashSaid reports whether err is a refusal with this code or reason.
func doordashSaid(err error, word string) bool {
	e, ok := errors.AsType[*doordashError](err)
	return ok && e.says(word)
}

// denied reports whether DoorDash refuses our key or account, whatever the call.
func (e *doordashError) denied() bool {
	return e.status == http.StatusUnauthorized || e.status == http.StatusForbidden || e.says("authorization_error")
}

// definite reports whether the request itself is at fault. Otherwise the cause may
// pass, or the operator can fix it.
func (e *doordashError) definite() bool {
	return httpcall.BlamesRequest(e.status) && !e.denied() && !slices.ContainsFunc(doordashPasses, e.says)
}

// doordashRefused reports whether err is a definite refusal of the call.
func doordashRefused(err error) bool {
	e, ok := errors.AsType[*doordashError](err)
	return ok && e.definite()
}

// readDoorDashError reads an error answer. Proxies between us and DoorDash answer
// too: an answer without a code is not DoorDash's, unless it is about an outage, a
// limit or the key.
func readDoorDashError(answer httpcall.Answer, now time.Time) error {
	e := &doordashError{status: answer.Status}
	err := json.Unmarshal(answer.Body, e)
	switch {
	case e.status == http.StatusTooManyRequests:
		return &Limited{RetryAfter: httpcall.RetryAfter(answer.Header, now)}
	case e.status >= 500, e.status == http.StatusUnauthorized, e.status == http.StatusRequestTimeout:
		return e
	case err != nil || e.Code == "" || e.status/100 != 4:
		return fmt.Errorf("%w (it is %d)", errNotDoorDash, e.status)
	}
	return e
}

// doordashCodes are the codes and reasons that have a Code of ours.
var doordashCodes = map[string]Code{
	"distance_too_long":                OutOfZone,
	"pickup_address_not_in_coverage":   OutOfZone,
	"delivery_address_not_in_coverage": OutOfZone,
	"outside_of_delivery_time":         NoCouriers,
	"delivery_abandoned":               TooLate,
	"delivery_completed":               TooLate,
	"delivery_picked_up":               TooLate,
	"cancellation_window_closed":       TooLate,
	"unknown_delivery_id":              NotFound,
}

// doordashPasses are refusals that last while DoorDash still works on an earlier
// call.
var doordashPasses = []string{"delivery_creation_in_progress", "duplicate_request", "delivery_cancelled"}

// code returns the kind of refusal.
func (e *doordashError) code() Code {
	if code, ok := doordashCodes[e.Reason]; ok {
		return code
	}
	if code, ok := doordashCodes[e.Code]; ok {
		return code
	}
	for _, f := range e.FieldErrors {
		if strings.Contains(f.Field, "address") || strings.Contains(f.Field, "phone") {
			return f.code()
		}
	}
	if e.status == http.StatusNotFound {
		return NotFound
	}
	return Other
}

// code tells an address that DoorDash does not serve from one that it does not
// understand. DoorDash has one code for both, so its text decides.
func (f doordashFieldError) code() Code {
	words := strings.ToLower(f.Error)
	for _, w := range []string{"distance", "does not serve", "service area", "serviceable", "coverage"} {
		if strings.Contains(words, w) {
			return OutOfZone
		}
	}
	return BadAddress
}

// doordashFailure turns err into a *Refusal if the call was definitely refused, and
// returns nil for nil.
// Otherwise the call may be repeated, and the text says what an operator can do. The
// text contains no secret.
func doordashFailure(doing string, err error) error {
	if limited, ok := errors.AsType[*Limited](err); ok {
		return limited
	}
	answer, answered := errors.AsType[*doordashError](err)
	switch {
	case err == nil:
		return nil
	case answered && answer.status == http.StatusUnauthorized:
		return &commerce.CredentialsError{Message: "DoorDash: " + doing + ": it does not accept the key: check the developer id, key id and signing secret, and this machine's clock"}
	case answered && answer.denied():
		return &commerce.CredentialsError{Message: "DoorDash: " + doing + ": this account may not do this: " + answer.words()}
	case answered && answer.definite():
		return &Refusal{Code: answer.code(), Message: answer.words()}
	case answered:
		return fmt.Errorf("DoorDash: %s: %w", doing, answer)
	}
	return fmt.Errorf("DoorDash: %s: %w", doing, err)
}
