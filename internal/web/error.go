package web

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"net/http"
	"strconv"

	"purveyor/internal/commerce"
)

// Error is a refusal with its HTTP status, for refusals that commerce has no kind
// for.
type Error struct {
	Status  int
	Code    string
	Message string
	Field   string
	OrderID string
	// RetryAfter is the number of seconds until a repeat makes sense; 0: unknown.
	RetryAfter int
	// Log is the level of the log line of a 5xx. The zero value is slog.LevelInfo,
	// for errors that are reported to the operator elsewhere, or that a tester asked
	// for.
	Log slog.Level
}

func (e *Error) Error() string { return e.Message }

// statuses is the one mapping from kinds of refusals to HTTP (SPEC, Errors).
var statuses = map[commerce.Kind]int{
	commerce.KindInvalid:   http.StatusBadRequest,
	commerce.KindForbidden: http.StatusForbidden,
	commerce.KindNotFound:  http.StatusNotFound,
	commerce.KindConflict:  http.StatusConflict,
}

// errorBody is the shape of every error (SPEC, Errors; BEHAVIOUR, Errors).
type errorBody struct {
	OK      bool   `json:"ok"`
	Error   string `json:"error"`
	Code    string `json:"code"`
	Field   string `json:"field,omitempty"`
	OrderID string `json:"order_id,omitempty"`
	TraceID string `json:"trace_id"`
}

// WriteError answers with an error. An error that is not a refusal becomes a 500
// without details; the log line with the same trace id has them.
func WriteError(w *Writer, err error) {
	e, ok := errors.AsType[*Error](err)
	if !ok {
		if refusal, ok := errors.AsType[*commerce.Error](err); ok {
			e = &Error{Status: statuses[refusal.Kind], Code: refusal.Code, Message: refusal.Message, Field: refusal.Field, OrderID: refusal.OrderID}
		} else {
			e = &Error{Status: http.StatusInternalServerError, Code: "internal", Message: "Internal error; the trace id leads to the cause", Log: slog.LevelError}
		}
	}
	if e.RetryAfter > 0 {
		w.Header()["Retry-After"] = []string{strconv.Itoa(e.RetryAfter)}
	}
	if e.Status >= http.StatusInternalServerError {
		slog.Log(context.Background(), e.Log, "request failed", "code", e.Code, "error", err, "trace_id", w.TraceID)
	}
	body, err := json.Marshal(errorBody{Error: e.Message, Code: e.Code, Field: e.Field, OrderID: e.OrderID, TraceID: w.TraceID})
	if err != nil {
		panic(err) // strings always encode
	}
	WriteJSON(w, e.Status, body)
}

// WriteJSON answers with an encoded JSON body.
func WriteJSON(w http.ResponseWriter, status int, body []byte) {
	h := w.Header()
	h["Content-Type"] = jsonType
	h["Content-Length"] = []string{strconv.Itoa(len(body))}
	w.WriteHeader(status)
	_, _ = w.Write(body) // an error means that the caller has gone
}

var jsonType = []string{"application/json"}
