package main

import (
	"context"
	"errors"
	"log/slog"
	"maps"
	"sync"
	"time"

	"purveyor/internal/commerce"
	"purveyor/internal/outside/courier"
	"purveyor/internal/outside/watch"
)

// warnings logs failures outside of the process: one line a minute for each cause, so
// that an outage does not fill the log.
type warnings struct {
	log *slog.Logger
	now func() time.Time

	// checks are the watched providers that offer a harmless call, by name. The
	// sandboxes offer none.
	checks map[string]checker

	mu   sync.Mutex
	last map[string]time.Time // time of a cause's latest line
}

const (
	warnEvery = time.Minute
	maxCauses = 256 // distinct causes per minute; further ones share a line
)

func newWarnings() *warnings {
	return &warnings{log: slog.Default(), now: time.Now, checks: map[string]checker{}, last: map[string]time.Time{}}
}

// line logs a line unless the cause had one less than a minute ago.
func (w *warnings) line(level slog.Level, cause, message string, args ...any) {
	if w.due(cause) {
		w.log.Log(context.Background(), level, message, args...)
	}
}

func (w *warnings) due(cause string) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	now := w.now()
	if _, known := w.last[cause]; !known && len(w.last) >= maxCauses {
		maps.DeleteFunc(w.last, func(_ string, at time.Time) bool { return now.Sub(at) >= warnEvery })
		if len(w.last) >= maxCauses {
			cause = "" // shared by all further causes
		}
	}
	if at, known := w.last[cause]; known && now.Sub(at) < warnEvery {
		return false
	}
	w.last[cause] = now
	return true
}

// provider logs a call that a payment processor or a courier provider did not answer.
// Failures of a sandbox were asked for by a tester.
func (w *warnings) provider(f *commerce.ProviderError) {
	message := "a provider cannot be reached, or fails"
	switch {
	case errors.As(f, new(*commerce.CredentialsError)):
		message = "a provider refuses our credentials"
	case errors.As(f, new(*courier.Limited)):
		message = "a provider limits our calls"
	}
	level := slog.LevelWarn
	if f.Provider == sandboxName {
		level = slog.LevelInfo
	}
	w.line(level, "provider "+f.Provider+" "+message, message, "provider", f.Provider, "error", f.Err)
}

// job logs a failed attempt, as effect.Options says. A provider's failure was logged
// when the provider was called, and a provider's refusal is shown on the order. All
// failed webhooks of a partner count as one cause, whatever their errors.
func (w *warnings) job(job commerce.Job, err error, dead bool) {
	switch {
	case dead:
		w.line(slog.LevelWarn, "dead "+string(job.Kind)+" "+err.Error(), "a job failed for the last time; it is not tried again",
			"kind", job.Kind, "job", job.ID, "owner", job.Owner, "error", err)
	case job.Kind == commerce.JobDeliverWebhook:
		w.line(slog.LevelWarn, "webhook "+job.Owner, "a webhook was not delivered", "partner", job.Owner, "event", job.Subject, "error", err)
	case errors.As(err, new(*commerce.ProviderError)), errors.As(err, new(*courier.Refusal)):
	default:
		w.line(slog.LevelWarn, "job "+string(job.Kind)+" "+err.Error(), "a job failed and is tried again", "kind", job.Kind, "job", job.ID, "error", err)
	}
}

// checker is a provider that can be asked whether it accepts our credentials.
type checker interface{ Check(context.Context) error }

// watchAll returns the providers for calls, by name. Calls are reported to by,
// and askProviders asks these providers.
func watchAll[P any](providers map[string]P, watched func(string, P, watch.Watcher) P, by watch.Watcher, w *warnings) map[string]P {
	all := map[string]P{}
	for name, p := range providers {
		all[name] = watched(name, p, by)
	}
	addCheckers(w.checks, providers)
	return all
}

// addCheckers adds those of the providers that can be asked.
func addCheckers[P any](to map[string]checker, providers map[string]P) {
	for name, p := range providers {
		if check, ok := any(p).(checker); ok {
			to[name] = check
		}
	}
}

// askProviders asks each watched provider once whether it accepts our credentials, and logs a
// warning if it does not, or if it does not answer. It returns when all have answered
// or ctx ends.
func (w *warnings) askProviders(ctx context.Context) {
	var asked sync.WaitGroup
	for name, provider := range w.checks {
		asked.Go(func() {
			if err := provider.Check(ctx); err != nil && ctx.Err() == nil {
				w.provider(&commerce.ProviderError{Provider: name, Err: err})
			}
		})
	}
	asked.Wait()
}
