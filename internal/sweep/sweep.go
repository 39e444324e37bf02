// Package sweep deletes what is past its keep time, asks for the sums of reports, and counts what partners have
// stored: the work that a process does beside serving, by step machines.
package sweep

import (
	"context"
	"log/slog"
	"purveyor/internal/commerce"
	"time"

	"purveyor/internal/env"
)

const (
	pause = time.Minute // between sweeps that found nothing more
	// countPause is how far the count of stored replies lags behind: a partner can
	// store beyond its limit for this long, and what was stored since the last count is
	// not counted if the process dies.
	countPause = 5 * time.Second
	lastCount  = time.Second // how long the count at the stop may take
)

// Store is the part of storage that is swept. Each call deletes a bounded number of
// rows that have expired, and returns how many.
type Store interface {
	Sweep(ctx context.Context, now commerce.Millis) (int, error)
}

// Expired drives the deletion of expired rows until ctx ends. It waits for a minute before
// it begins.
func Expired(ctx context.Context, e env.Env, store Store) {
	begun := false
	e.Drive(func() env.Next {
		switch {
		case ctx.Err() != nil:
			return env.Ended
		case !begun:
			begun = true
			return env.Next(pause)
		}
		n, err := store.Sweep(ctx, commerce.MillisOf(e.Now()))
		if err != nil && ctx.Err() == nil {
			slog.Warn("expired rows were not deleted", "error", err)
		}
		if err == nil && n > 0 {
			return env.AtOnce
		}
		return env.Next(pause)
	}, ctx.Done())
}

// Count drives the counting of stored replies until ctx ends, and counts a last
// time then.
func Count(ctx context.Context, e env.Env, count func(context.Context) error) {
	e.Drive(func() env.Next {
		if ctx.Err() != nil {
			last, cancel := e.WithTimeout(context.WithoutCancel(ctx), lastCount)
			defer cancel()
			_ = count(last) // if it fails, what was stored since the last count is not counted
			return env.Ended
		}
		if err := count(ctx); err != nil && ctx.Err() == nil {
			slog.Warn("stored replies were not counted", "error", err)
		}
		return env.Next(countPause)
	}, ctx.Done())
}
