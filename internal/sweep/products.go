package sweep

import (
	"context"
	"log/slog"
	"time"

	"purveyor/internal/env"
)

// lookPause is between two looks at the product feed.
const lookPause = 500 * time.Millisecond

// Products drives the follower of the product feed until ctx ends.
func Products(ctx context.Context, e env.Env, follow func(context.Context) error) {
	e.Drive(func() env.Next {
		if ctx.Err() != nil {
			return env.Ended
		}
		if err := follow(ctx); err != nil && ctx.Err() == nil {
			slog.Warn("the product feed was not followed; the next try is in half a second", "error", err)
		}
		return env.Next(lookPause)
	}, ctx.Done())
}
