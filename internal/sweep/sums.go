package sweep

import (
	"context"
	"log/slog"

	"purveyor/internal/env"
)

// Sums drives the job that makes the sums of reports until ctx ends. It asks once a minute
// whether an hour is over.
func Sums(ctx context.Context, e env.Env, makeSums func(context.Context) error) {
	begun := false
	e.Drive(func() env.Next {
		switch {
		case ctx.Err() != nil:
			return env.Ended
		case !begun:
			begun = true
			return env.Next(pause)
		}
		if err := makeSums(ctx); err != nil && ctx.Err() == nil {
			slog.Warn("the sums of reports were not made; the next try is in a minute", "error", err)
		}
		return env.Next(pause)
	}, ctx.Done())
}
