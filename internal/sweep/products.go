package sweep

import (
	"context"
	"log/slog"
	"time"

	"purveyor/internal/env"
)

// How long after a look at the product feed the next one begins: in the process that follows it,
// and in the others, or while it is not followed.
const (
	lookPause = 500 * time.Millisecond
	idlePause = time.Second
)

// Products drives the follower of the product feed until ctx ends.
func Products(ctx context.Context, e env.Env, follow func(context.Context) (follows bool, err error)) {
	e.Drive(func() env.Next {
		if ctx.Err() != nil {
			return env.Ended
		}
		follows, err := follow(ctx)
		if err != nil && ctx.Err() == nil {
			slog.Warn("the product feed was not followed; the next try is in a second", "error", err)
		}
		if !follows || err != nil {
			return env.Next(idlePause)
		}
		return env.Next(lookPause)
	}, ctx.Done())
}
