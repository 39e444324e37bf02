package effect

import (
	"context"
	"log/slog"
	"time"

	"purveyor/internal/command"
	"purveyor/internal/commerce"
	"purveyor/internal/env"
	"purveyor/internal/service"
	"purveyor/internal/storage"
)

// watchPause is the time between two checks of held endpoints.
const watchPause = 2 * time.Second

// watch is one step of the machine that probes held endpoints: it starts the probes
// that are due. The machine ends with ctx.
func (w *webhooks) watch(ctx context.Context) env.Next {
	if ctx.Err() != nil {
		return env.Ended
	}
	wait := watchPause
	held, err := w.Reads.HeldEndpoints(ctx)
	if err != nil && ctx.Err() == nil {
		slog.Warn("held endpoints were not read", "error", err)
	}
	now := commerce.MillisOf(w.Env.Now())
	for _, e := range held {
		if !e.ProbeDue(now) {
			wait = min(wait, e.HeldUntil.Sub(now))
			continue
		}
		if err := w.probe(ctx, e.Owner()); err != nil && ctx.Err() == nil {
			slog.Warn("an endpoint was not probed", "endpoint", e.Owner(), "error", err)
		}
	}
	return env.Next(wait)
}

// probe starts the probe of an endpoint, unless another process has started it.
func (w *webhooks) probe(ctx context.Context, owner string) error {
	parked, err := w.Reads.Jobs(ctx, storage.JobFilter{State: commerce.JobParked, Owner: owner, Limit: 1})
	if err != nil {
		return err
	}
	cmd := command.ProbeEndpoint{Owner: owner, Worker: w.Runner.Worker, Until: commerce.MillisOf(w.Env.Now()).Add(commerce.JobLease)}
	if len(parked) > 0 {
		key := parked[0].Key()
		cmd.Parked = &key
	}
	job, err := service.Do(ctx, w.Uses, cmd)
	if err != nil || job == nil {
		return err
	}
	w.Runner.Take(*job)
	return nil
}
