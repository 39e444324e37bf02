// Package tracing follows a request through the process: its batch, the jobs that it asked for, and
// their calls to providers. A context carries the span under way, or the traceparent that a caller
// sent. Spans go to an OTLP receiver if one is named; otherwise traceparent is only passed on.
package tracing

import (
	"context"
	"net/http"
	"os"

	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracehttp"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/sdk/resource"
	sdk "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"
)

// Header is the name of traceparent as net/http writes it.
const Header = "Traceparent"

var w3c propagation.TraceContext

// Extract returns ctx with the traceparent of a request, if that is valid.
func Extract(ctx context.Context, h http.Header) context.Context {
	return w3c.Extract(ctx, propagation.HeaderCarrier(h))
}

// Inject adds the traceparent of ctx to a request, if there is one.
func Inject(ctx context.Context, h http.Header) {
	w3c.Inject(ctx, propagation.HeaderCarrier(h))
}

// Parent is the traceparent of ctx; empty: there is none.
func Parent(ctx context.Context) string {
	if !Traced(ctx) {
		return ""
	}
	carried := propagation.MapCarrier{}
	w3c.Inject(ctx, carried)
	return carried["traceparent"]
}

// Traced reports whether ctx has a traceparent.
func Traced(ctx context.Context) bool { return trace.SpanContextFromContext(ctx).IsValid() }

// WithParent returns ctx with a traceparent that Parent returned.
func WithParent(ctx context.Context, parent string) context.Context {
	if parent == "" {
		return ctx
	}
	return w3c.Extract(ctx, propagation.MapCarrier{"traceparent": parent})
}

// Kind says on which side of a call a span is.
type Kind = trace.SpanKind

// The kinds.
const (
	Server   = trace.SpanKindServer
	Client   = trace.SpanKindClient
	Internal = trace.SpanKindInternal
)

// Tracer makes spans. Those of a nil Tracer are nil, and cost nothing.
type Tracer struct {
	tracer   trace.Tracer
	provider *sdk.TracerProvider
}

// Endpoint is the variable that names the receiver. The library reads it and the other variables of
// OpenTelemetry by itself.
const Endpoint = "OTEL_EXPORTER_OTLP_ENDPOINT"

// New makes the tracer of a process; nil: no receiver is named. failed is told of spans that could not
// be sent.
func New(ctx context.Context, version string, failed func(error)) (*Tracer, error) {
	if os.Getenv(Endpoint) == "" || os.Getenv("OTEL_SDK_DISABLED") == "true" {
		return nil, nil
	}
	otel.SetErrorHandler(otel.ErrorHandlerFunc(failed))
	exporter, err := otlptracehttp.New(ctx)
	if err != nil {
		return nil, err
	}
	// The variables come last, and are the strongest.
	of, err := resource.New(ctx, resource.WithTelemetrySDK(), resource.WithHost(),
		resource.WithAttributes(attribute.String("service.name", "purveyor"), attribute.String("service.version", version)), resource.WithFromEnv())
	if err != nil {
		return nil, err
	}
	provider := sdk.NewTracerProvider(sdk.WithBatcher(exporter), sdk.WithResource(of))
	return &Tracer{provider.Tracer("purveyor"), provider}, nil
}

// Close sends what was not sent yet.
func (t *Tracer) Close(ctx context.Context) error {
	if t == nil {
		return nil
	}
	return t.provider.Shutdown(ctx)
}

// Begin begins a span below that of ctx. The context that it returns carries the span.
func (t *Tracer) Begin(ctx context.Context, name string, kind Kind) (context.Context, *Span) {
	if t == nil {
		return ctx, nil
	}
	ctx, span := t.tracer.Start(ctx, name, trace.WithSpanKind(kind))
	return ctx, &Span{span}
}

// Span is something that takes time. All methods of a nil Span do nothing.
type Span struct{ span trace.Span }

// Rename gives the span the name that is known only at its end.
func (s *Span) Rename(name string) {
	if s != nil {
		s.span.SetName(name)
	}
}

// Text adds an attribute, unless it is empty.
func (s *Span) Text(name, value string) {
	if s != nil && value != "" {
		s.span.SetAttributes(attribute.String(name, value))
	}
}

// Number adds an attribute.
func (s *Span) Number(name string, value int) {
	if s != nil {
		s.span.SetAttributes(attribute.Int(name, value))
	}
}

// Reached tells that the span has reached a point.
func (s *Span) Reached(point string) {
	if s != nil {
		s.span.AddEvent(point)
	}
}

// Fail marks the span as failed.
func (s *Span) Fail(why string) {
	if s != nil {
		s.span.SetStatus(codes.Error, why)
	}
}

// End ends the span, as failed if there is an error.
func (s *Span) End(err error) {
	if s == nil {
		return
	}
	if err != nil {
		s.Fail(err.Error())
	}
	s.span.End()
}
