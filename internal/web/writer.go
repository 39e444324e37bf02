// Package web is the HTTP kit of all fronts: trace ids, the access log, errors,
// authentication and rate limits. It knows HTTP and the nouns of commerce, but no use
// case.
package web

import (
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"log/slog"
	"net/http"
	"runtime/debug"
	"strconv"
	"time"

	"purveyor/internal/commerce"
	"purveyor/internal/env"
)

// Writer is the response of a request inside Trace. It carries the fields of the log
// line.
type Writer struct {
	http.ResponseWriter
	TraceID string
	Partner string // empty: not known
	// Operation is what the request asks for, as it is counted: an operation of the API, or
	// office:ROUTE, portal:ROUTE, inbound:PROVIDER. Empty: another request.
	Operation string
	Mode      commerce.Mode // of the key; empty: not known
	Level     slog.Level    // of the log line
	Witness   Witness       // nil: there is none
	gather    *gather
	status    int
	bytes     int
	code      string // of the error that was answered
	body      []byte // the last that WriteJSON was given
}

// Witness sees a request after it was answered. It must not keep the body of the answer.
type Witness interface {
	Answered(w *Writer, r *http.Request, at time.Time, took time.Duration)
}

// Meter counts requests, once they were answered. It must not block.
type Meter interface {
	Request(operation string, mode commerce.Mode, status int, code string, took time.Duration)
}

// Status is the status of the answer; 0: nothing was answered.
func (w *Writer) Status() int { return w.status }

// Bytes is how many bytes the body of the answer had.
func (w *Writer) Bytes() int { return w.bytes }

// Code is the code of the error that was answered; empty: none was.
func (w *Writer) Code() string { return w.code }

// Body is the body of the answer if WriteJSON wrote it; nil: it did not.
func (w *Writer) Body() []byte { return w.body }

// WriteHeader implements http.ResponseWriter.
func (w *Writer) WriteHeader(status int) {
	if w.status == 0 {
		w.status = status
	}
	w.ResponseWriter.WriteHeader(status)
}

// Write implements http.ResponseWriter.
func (w *Writer) Write(b []byte) (int, error) {
	if w.status == 0 {
		w.status = http.StatusOK
	}
	n, err := w.gather.while(func() (int, error) { return w.ResponseWriter.Write(b) })
	w.bytes += n
	return n, err
}

// Unwrap implements the interface of http.ResponseController.
func (w *Writer) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// WriterOf returns the Writer that Trace put around the response.
func WriterOf(w http.ResponseWriter) *Writer { return w.(*Writer) }

// Lose has the answer go to the log alone. The function that it returns cuts the connection.
func (w *Writer) Lose() (cut func()) {
	raw := w.ResponseWriter
	w.ResponseWriter = nowhere{raw.Header()}
	return func() {
		conn, _, err := http.NewResponseController(raw).Hijack()
		if err != nil {
			panic(http.ErrAbortHandler) // which cuts it, too, and leaves no line in the log
		}
		_ = conn.Close()
	}
}

// nowhere is where lost answers go.
type nowhere struct{ header http.Header }

// Header implements http.ResponseWriter.
func (n nowhere) Header() http.Header { return n.header }

// Write implements http.ResponseWriter.
func (nowhere) Write(b []byte) (int, error) { return len(b), nil }

// WriteHeader implements http.ResponseWriter.
func (nowhere) WriteHeader(int) {}

// TraceHeader carries the trace id in both directions.
const TraceHeader = "X-Trace-Id"

const maxTraceID = 128

var noSniff = []string{"nosniff"}

// Trace is the outermost layer: it gives each request a trace id, logs it when it is
// answered, and turns a panic into a 500. It forbids browsers to guess content types. Meters count it.
func Trace(e env.Env, log *slog.Logger, next http.Handler, meters ...Meter) http.Handler {
	return http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		began := e.Now()
		w := &Writer{ResponseWriter: rw, gather: gatherOf(r.Context())}
		defer func() {
			if v := recover(); v != nil {
				if v == http.ErrAbortHandler {
					panic(v)
				}
				log.Error("panic", "panic", v, "trace_id", w.TraceID, "stack", string(debug.Stack()))
				if w.status == 0 {
					WriteError(w, &Error{Status: http.StatusInternalServerError, Code: "internal", Message: "Internal error; the trace id leads to the cause"})
				}
			}
			took := e.Since(began)
			w.log(log, r, began, took)
			for _, m := range meters {
				m.Request(w.Operation, w.Mode, w.status, w.code, took)
			}
			if w.Witness != nil {
				w.Witness.Answered(w, r, began.Add(took), took)
			}
		}()
		w.TraceID = traceID(e, r.Header[TraceHeader])
		h := w.Header()
		h[TraceHeader] = []string{w.TraceID}
		h["X-Content-Type-Options"] = noSniff
		next.ServeHTTP(w, r)
	})
}

// log writes the line of the request. It does without slog.Logger, which would look up the
// caller for each line.
func (w *Writer) log(log *slog.Logger, r *http.Request, began time.Time, took time.Duration) {
	if !log.Enabled(r.Context(), w.Level) {
		return
	}
	attrs := append(make([]slog.Attr, 0, 7), slog.String("method", r.Method), slog.String("path", r.URL.Path),
		slog.Int("status", w.status), slog.Int("bytes", w.bytes), slog.Duration("took", took), slog.String("trace_id", w.TraceID))
	if w.Partner != "" {
		attrs = append(attrs, slog.String("partner", w.Partner))
	}
	line := slog.NewRecord(began.Add(took), w.Level, "request", 0)
	line.AddAttrs(attrs...)
	_ = log.Handler().Handle(r.Context(), line) // as slog.Logger does
}

// traceID returns the first usable id of the request's header, or a new one
// (BEHAVIOUR, Errors).
func traceID(e env.Env, given []string) string {
	if len(given) == 0 || given[0] == "" || len(given[0]) > maxTraceID {
		return NewTraceID(e)
	}
	for _, c := range []byte(given[0]) {
		if c < ' ' || c > '~' {
			return NewTraceID(e)
		}
	}
	return given[0]
}

// NewTraceID makes the id of a request that brought none.
func NewTraceID(e env.Env) string {
	var b [16]byte
	e.Read(b[:])
	return hex.EncodeToString(b[:])
}

// Caller is the partner behind a request, with the rights that its key leaves it.
type Caller struct {
	Partner commerce.Partner
	Mode    commerce.Mode // of the key
	Key     *commerce.APIKey
	Member  bool // the caller is a member of the partner, and Key stands for the member
}

// Error is a refusal with its HTTP status, for refusals that commerce has no kind
// for.
type Error struct {
	Status  int
	Code    string
	Message string
	Field   string
	OrderID string
	Stale   *commerce.StaleQuantity // nil: the refusal is not about a quantity
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
	*staleBody
	TraceID string `json:"trace_id"`
}

type staleBody struct {
	ProductID string `json:"product_id,omitempty"`
	Expected  int64  `json:"expected_quantity"`
	Available int64  `json:"available_quantity"`
}

// Refuse returns an error as the answer to the request shows it, logs it if it is a failure, and
// sets Retry-After. The caller writes the answer in the form of its front.
func Refuse(w *Writer, err error) *Error {
	e, ok := errors.AsType[*Error](err)
	if !ok {
		if refusal, ok := errors.AsType[*commerce.Error](err); ok {
			e = &Error{Status: statuses[refusal.Kind], Code: refusal.Code, Message: refusal.Message, Field: refusal.Field, OrderID: refusal.OrderID, Stale: refusal.Stale}
		} else {
			e = &Error{Status: http.StatusInternalServerError, Code: "internal", Message: "Internal error; the trace id leads to the cause", Log: slog.LevelError}
		}
	}
	w.code = e.Code
	if e.RetryAfter > 0 {
		w.Header()["Retry-After"] = []string{strconv.Itoa(e.RetryAfter)}
	}
	if e.Status >= http.StatusInternalServerError {
		slog.Log(context.Background(), e.Log, "request failed", "code", e.Code, "error", err, "trace_id", w.TraceID)
	}
	return e
}

// WriteError answers with an error. An error that is not a refusal becomes a 500
// without details; the log line with the same trace id has them.
func WriteError(w *Writer, err error) {
	e := Refuse(w, err)
	body, err := json.Marshal(errorBody{Error: e.Message, Code: e.Code, Field: e.Field, OrderID: e.OrderID, staleBody: (*staleBody)(e.Stale), TraceID: w.TraceID})
	if err != nil {
		panic(err) // strings always encode
	}
	WriteJSON(w, e.Status, body)
}

// WriteJSON answers with an encoded JSON body.
func WriteJSON(w http.ResponseWriter, status int, body []byte) {
	h := w.Header()
	h["Content-Type"] = jsonType
	if len(body) >= shortBody {
		h["Content-Length"] = []string{strconv.Itoa(len(body))}
	}
	if w, ok := w.(*Writer); ok {
		w.body = body
	}
	w.WriteHeader(status)
	_, _ = w.Write(body) // an error means that the caller has gone
}

// shortBody is the length below which net/http adds Content-Length by itself. Most answers then
// have at most eight headers, for which Go needs no table.
const shortBody = 2048

var jsonType = []string{"application/json"}
