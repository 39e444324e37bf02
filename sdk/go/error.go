package purveyor

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"time"
)

// Codes of errors that are not those of the service.
const (
	CodeNoAnswer        ErrorCode = "no_answer"        // the connection failed, or the answer took too long
	CodeBadAnswer       ErrorCode = "bad_answer"       // the answer is not what the API promises
	CodeCancelled       ErrorCode = "cancelled"        // the context ended
	CodeInvalidArgument ErrorCode = "invalid_argument" // nothing was sent
	CodeNotModified     ErrorCode = "not_modified"     // what WithIfNoneMatch names is still the answer
)

// Error is why a call failed.
type Error struct {
	Status  int       // of the answer; 0: there was none
	Code    ErrorCode // stable; empty if something between here and the service answered
	Message string    // for people
	Field   string    // what is at fault in a 400
	TraceID string    // quote it when you ask for help

	// SafeToRepeat reports whether the same call may succeed later, and is not done twice
	// then. Give a repeat of a POST the IdempotencyKey.
	SafeToRepeat   bool
	IdempotencyKey string

	RetryAfter time.Duration // what the service asks to wait; 0: it does not say
	Tries      int
	Body       ErrorBody // all that the service says
	Answer     *Answer   // nil: there was none

	cause error
}

func (e *Error) Error() string {
	text := e.Message
	if e.Code != "" {
		text += " (" + string(e.Code) + ")"
	}
	if e.TraceID != "" {
		text += ", trace id " + e.TraceID
	}
	return text
}

// Unwrap returns the error of the connection or the context, if there is one.
func (e *Error) Unwrap() error { return e.cause }

// CodeOf returns the code of an error of the SDK, empty for others.
func CodeOf(err error) ErrorCode {
	var e *Error
	if errors.As(err, &e) {
		return e.Code
	}
	return ""
}

// Answer is an answer as it came.
type Answer struct {
	Status         int
	Header         http.Header
	Body           []byte
	TraceID        string
	Replayed       bool   // the first answer to this idempotency key, again
	IdempotencyKey string // that was sent
	Tries          int
}

// refusal makes the error of an answer that is no success.
func refusal(a *Answer) *Error {
	e := &Error{Status: a.Status, Answer: a, TraceID: a.TraceID, RetryAfter: retryAfter(a.Header, time.Now())}
	if json.Unmarshal(a.Body, &e.Body) == nil && e.Body.Code != "" {
		e.Code, e.Message, e.Field = e.Body.Code, e.Body.Error, e.Body.Field
		if e.Body.TraceID != "" {
			e.TraceID = e.Body.TraceID
		}
		return e
	}
	if a.Status == http.StatusNotModified {
		e.Code = CodeNotModified
	}
	e.Message = fmt.Sprintf("the answer is %d %s", a.Status, http.StatusText(a.Status))
	return e
}

// retryAfter returns what the header Retry-After asks to wait, in seconds or until a time.
func retryAfter(h http.Header, now time.Time) time.Duration {
	text := h.Get("Retry-After")
	if seconds, err := strconv.ParseInt(text, 10, 32); err == nil {
		return max(0, time.Duration(seconds)*time.Second)
	}
	if at, err := http.ParseTime(text); err == nil {
		return max(0, at.Sub(now))
	}
	return 0
}

func invalid(format string, args ...any) error {
	return &Error{Code: CodeInvalidArgument, Message: fmt.Sprintf(format, args...)}
}
