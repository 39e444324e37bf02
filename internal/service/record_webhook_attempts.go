package service

import (
	"context"

	"purveyor/internal/command"
	"purveyor/internal/commerce"
	"purveyor/internal/commit"
)

// RecordWebhookAttempts records requests to endpoints. It returns their jobs as they go on,
// in the same order. An endpoint that is paused because of its answers leaves an audit
// entry.
func (s *Service) RecordWebhookAttempts(ctx context.Context, in command.RecordWebhookAttempts) ([]commerce.Job, error) {
	return commit.Do(ctx, s.committer, commit.Command[[]commerce.Job](attemptsAudited{in}))
}

// attemptsAudited adds an audit entry for each endpoint that the attempts pause. Other
// changes of an endpoint's health leave none.
type attemptsAudited struct{ command.RecordWebhookAttempts }

// Inner is the command that is audited.
func (a attemptsAudited) Inner() any { return a.RecordWebhookAttempts }

// Decide implements commit.Command.
func (a attemptsAudited) Decide(rows *commerce.Rows, now commerce.Millis) ([]commerce.Job, commerce.Changes, error) {
	jobs, changes, err := a.RecordWebhookAttempts.Decide(rows, now)
	for _, e := range changes.Endpoints {
		if was, _ := rows.Endpoints.Get(e.Owner()); was.PausedFor != e.PausedFor {
			paused := commerce.Changes{Endpoints: []commerce.Endpoint{e}}
			changes.Audit = append(changes.Audit, entriesOf(rows, &paused, commerce.SystemActor(""), deed{"pause_endpoint", "", e.Owner()}, "", now)...)
		}
	}
	return jobs, changes, err
}
