package main

import (
	"context"
	"log/slog"
	"strings"
)

// onceAMinute is a handler of log lines that writes a failure in the background, which is tried again
// and again, once a minute for each kind and reason. Lines with a trace id are about a request: each
// is written.
type onceAMinute struct {
	slog.Handler
	told *warnings
}

// Handle implements slog.Handler.
func (o onceAMinute) Handle(ctx context.Context, r slog.Record) error {
	if cause, background := causeOf(r); background && !o.told.due(cause) {
		return nil
	}
	return o.Handler.Handle(ctx, r)
}

// causeOf is the message of a warning or an error, with its kind and its reason. A line without a
// reason is the same as another if all of its attributes are.
func causeOf(r slog.Record) (cause string, background bool) {
	if r.Level < slog.LevelWarn {
		return "", false
	}
	background = true
	var all, kind, reason strings.Builder
	r.Attrs(func(a slog.Attr) bool {
		to := &all
		switch a.Key {
		case "trace_id", "stack":
			background = false
		case "kind", "provider":
			to = &kind
		case "error":
			to = &reason
		}
		to.WriteString("\x00" + a.Value.String())
		return background
	})
	if reason.Len() > 0 {
		return r.Message + kind.String() + reason.String(), background
	}
	return r.Message + kind.String() + all.String(), background
}

// WithAttrs implements slog.Handler.
func (o onceAMinute) WithAttrs(attrs []slog.Attr) slog.Handler {
	return onceAMinute{o.Handler.WithAttrs(attrs), o.told}
}

// WithGroup implements slog.Handler.
func (o onceAMinute) WithGroup(name string) slog.Handler {
	return onceAMinute{o.Handler.WithGroup(name), o.told}
}
