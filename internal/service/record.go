package service

import (
	"context"

	"purveyor/internal/command"
	"purveyor/internal/commerce"
	"purveyor/internal/commit"
)

// Command is a change of state, as package commit runs it.
type Command[R any] = commit.Command[R]

// Do runs a command that needs no facts, ids or audit entry: a job, a sandbox or a cache has
// all that the command depends on.
func Do[R any](ctx context.Context, s *Service, cmd Command[R]) (R, error) {
	return commit.Do(ctx, s.committer, cmd)
}

// DoJobs is Do, and also returns the jobs that the command enqueues.
func DoJobs[R any](ctx context.Context, s *Service, cmd Command[R]) (R, []commerce.Job, error) {
	return commit.DoJobs(ctx, s.committer, cmd)
}

// Record runs the command that records an attempt of a job. If the attempt decides the
// answer of a call that waits for the job, the same batch stores the answer. Record returns
// the job as it goes on, or the zero Job if the command does not return it.
func Record[R any](ctx context.Context, s *Service, job commerce.Job, cmd Command[R]) (commerce.Job, error) {
	if deciding, ok := any(cmd).(Command[command.Recorded]); ok {
		recorded, err := commit.Do(ctx, s.committer, answering(s.o.Answers, job, deciding))
		return recorded.Job, err
	}
	result, err := commit.Do(ctx, s.committer, cmd)
	next, _ := any(result).(commerce.Job)
	return next, err
}
