package sweep

import (
	"context"
	"log/slog"

	"purveyor/internal/env"
)

// Sums drives the job that makes the sums of reports until ctx ends. It asks once a minute
// whether an hour is over.
func Sums(ctx context.Context, e env.Env, makeSums func(context.Context) error) {
	minutely(ctx, e, env.Next(pause), makeSums, "the sums of reports were not made; the next try is in a minute")
}

// Alarms looks once a minute whether people are to be told of endpoints and keys, until ctx
// ends.
func Alarms(ctx context.Context, e env.Env, raise func(context.Context) error) {
	minutely(ctx, e, env.AtOnce, raise, "alarms were not raised; the next try is in a minute")
}

// Held says at once, and then once a minute, that jobs are held, until ctx ends.
func Held(ctx context.Context, e env.Env, say func(context.Context) error) {
	minutely(ctx, e, env.AtOnce, say, "held jobs could not be looked for; the next try is in a minute")
}

// minutely does something first after a while, and then once a minute. It warns of failures.
func minutely(ctx context.Context, e env.Env, first env.Next, do func(context.Context) error, warning string) {
	begun := false
	e.Drive(func() env.Next {
		switch {
		case ctx.Err() != nil:
			return env.Ended
		case !begun:
			begun = true
			return first
		}
		if err := do(ctx); err != nil && ctx.Err() == nil {
			slog.Warn(warning, "error", err)
		}
		return env.Next(pause)
	}, ctx.Done())
}
