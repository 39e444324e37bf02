// Package web is the HTTP kit that everything on the wire shares: trace ids,
// the access log, errors, authentication and rate limits. It knows HTTP and
// the nouns, and no use case.
package web

import (
	"crypto/rand"
	"encoding/hex"
	"log/slog"
	"net"
	"net/http"
	"runtime/debug"
	"time"

	"purveyor/internal/commerce"
)

// Writer is the response of a request that came through Trace. It carries
// what the log line will say.
type Writer struct {
	http.ResponseWriter
	TraceID string
	Partner string
	status  int
	bytes   int
}

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
	n, err := w.ResponseWriter.Write(b)
	w.bytes += n
	return n, err
}

// Unwrap is for http.ResponseController.
func (w *Writer) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// WriterOf is the Writer that Trace put around the response.
func WriterOf(w http.ResponseWriter) *Writer { return w.(*Writer) }

// TraceHeader carries the correlation id, both ways.
const TraceHeader = "X-Trace-Id"

const maxTraceID = 128

// Trace is the outermost layer: it gives each request its trace id, logs it
// when it is answered, and turns a panic into a 500.
func Trace(log *slog.Logger, next http.Handler) http.Handler {
	return http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		began := time.Now()
		w := &Writer{ResponseWriter: rw}
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
			log.LogAttrs(r.Context(), slog.LevelInfo, "request",
				slog.String("method", r.Method), slog.String("path", r.URL.Path), slog.Int("status", w.status),
				slog.Int("bytes", w.bytes), slog.Duration("took", time.Since(began)),
				slog.String("trace_id", w.TraceID), slog.String("partner", w.Partner))
		}()
		id, good := givenTraceID(r.Header[TraceHeader])
		if id == "" {
			id = newTraceID()
		}
		w.TraceID = id
		w.Header()[TraceHeader] = []string{id}
		if !good {
			WriteError(w, &Error{Status: http.StatusBadRequest, Code: "invalid_header", Field: "x-trace-id",
				Message: "x-trace-id must be given once, as 1 to 128 printable ASCII characters"})
			return
		}
		next.ServeHTTP(w, r)
	})
}

// givenTraceID is the id of the request's header, empty if there is none, and
// whether the header is good.
func givenTraceID(header []string) (id string, good bool) {
	switch {
	case len(header) == 0:
		return "", true
	case len(header) > 1 || len(header[0]) > maxTraceID:
		return "", false
	}
	id = header[0]
	for i := range len(id) {
		if id[i] < ' ' || id[i] > '~' {
			return "", false
		}
	}
	return id, true
}

func newTraceID() string {
	var b [16]byte
	_, _ = rand.Read(b[:]) // never fails (crypto/rand)
	return hex.EncodeToString(b[:])
}

// address is who sent a request, as far as the connection tells.
func address(r *http.Request) string {
	host, _, err := net.SplitHostPort(r.RemoteAddr)
	if err != nil {
		return r.RemoteAddr
	}
	return host
}

// Caller is the partner behind a request and the mode of its key.
type Caller struct {
	Partner commerce.Partner
	Mode    commerce.Mode
}
