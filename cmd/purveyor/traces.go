package main

import (
	"context"
	"log/slog"
	"os"
	"time"

	"purveyor/internal/tracing"
)

// newTracer makes the tracer of a process; nil: no receiver of spans is named.
func newTracer(ctx context.Context, w *warnings) (*tracing.Tracer, error) {
	t, err := tracing.New(ctx, thisBuild().Version, func(err error) {
		w.line(slog.LevelWarn, "spans", "spans could not be sent", "error", err)
	})
	if t == nil || err != nil {
		return nil, err
	}
	if protocol := os.Getenv("OTEL_EXPORTER_OTLP_PROTOCOL"); protocol != "" && protocol != "http/protobuf" {
		slog.Warn("spans are sent by OTLP over HTTP alone", "OTEL_EXPORTER_OTLP_PROTOCOL", protocol)
	}
	return t, nil
}

// spanPeriod bounds how long a stop waits for a receiver of spans.
const spanPeriod = time.Second

// sendSpans sends what was not sent yet.
func (s *process) sendSpans() {
	ctx, cancel := context.WithTimeout(context.Background(), spanPeriod)
	defer cancel()
	if err := s.tracer.Close(ctx); err != nil {
		slog.Warn("the last spans could not be sent", "error", err)
	}
}
