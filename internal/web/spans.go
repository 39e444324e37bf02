package web

import (
	"net/http"
	"strconv"

	"purveyor/internal/tracing"
)

// Spans makes a span of each request. It belongs inside Trace. Without a tracer it passes the
// traceparent of a request on, and costs other requests nothing.
func Spans(t *tracing.Tracer, next http.Handler) http.Handler {
	return http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		ctx := r.Context()
		if _, given := r.Header[tracing.Header]; given {
			ctx = tracing.Extract(ctx, r.Header)
		}
		if t == nil {
			if ctx != r.Context() {
				r = r.WithContext(ctx)
			}
			next.ServeHTTP(rw, r)
			return
		}
		w := WriterOf(rw)
		ctx, span := t.Begin(ctx, r.Method, tracing.Server)
		done := false
		defer func() { w.describe(span, r, done) }()
		next.ServeHTTP(w, r.WithContext(ctx))
		done = true
	})
}

// describe ends the span of a request. done: it did not panic.
func (w *Writer) describe(span *tracing.Span, r *http.Request, done bool) {
	name := w.Operation
	if name == "" {
		name = r.Method
	}
	span.Rename(name)
	span.Text("http.request.method", r.Method)
	span.Text("url.path", r.URL.Path)
	span.Text("purveyor.trace_id", w.TraceID)
	span.Text("purveyor.partner", w.Partner)
	span.Text("purveyor.mode", string(w.Mode))
	span.Text("error.type", w.code)
	span.Number("http.response.status_code", w.status)
	if w.status >= http.StatusInternalServerError {
		span.Fail(strconv.Itoa(w.status))
	}
	if !done {
		span.Fail("panic")
	}
	span.End(nil)
}
