package service

import (
	"context"

	"purveyor/internal/command"
	"purveyor/internal/commerce"
	"purveyor/internal/commit"
	"purveyor/internal/storage"
)

// jobsAtOnce is how many jobs are held, or released, in one batch.
const jobsAtOnce = 500

// HoldJobs holds the waiting jobs that act outside, and returns how many. If it fails in between,
// the rest is held by the next call.
func (s *Service) HoldJobs(ctx context.Context, by commerce.Actor) (int, error) {
	return s.moveJobs(ctx, by, "hold_jobs", commerce.JobWaiting, commerce.JobKind.ActsOutside,
		func(keys []commerce.JobKey) commit.Command[int] { return command.HoldJobs{Jobs: keys} })
}

// moveJobs has a command change the jobs in one state whose kind matches, page by page.
func (s *Service) moveJobs(ctx context.Context, by commerce.Actor, action string, state commerce.JobState,
	matches func(commerce.JobKind) bool, change func([]commerce.JobKey) commit.Command[int]) (moved int, err error) {
	f := storage.JobFilter{State: state, Limit: jobsAtOnce}
	for {
		page, err := s.reader.Jobs(ctx, f)
		if err != nil || len(page) == 0 {
			return moved, err
		}
		last := page[len(page)-1]
		f.After = storage.JobPosition{RunAt: last.RunAt, JobKey: last.Key()}
		var keys []commerce.JobKey
		for _, job := range page {
			if matches(job.Kind) {
				keys = append(keys, job.Key())
			}
		}
		if len(keys) == 0 {
			continue
		}
		n, err := act(ctx, s, by, deed{action, "", "jobs"}, change(keys))
		if moved += n; err != nil {
			return moved, err
		}
	}
}
