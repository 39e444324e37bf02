package service

import (
	"context"

	"purveyor/internal/command"
	"purveyor/internal/commerce"
	"purveyor/internal/commit"
)

// ReleaseJobs lets the held jobs of a kind go on, or all (empty), and returns how many.
func (s *Service) ReleaseJobs(ctx context.Context, by commerce.Actor, kind commerce.JobKind) (int, error) {
	matches := func(k commerce.JobKind) bool { return kind == "" || k == kind }
	return s.moveJobs(ctx, by, "release_jobs", commerce.JobHeld, matches,
		func(keys []commerce.JobKey) commit.Command[int] { return command.ReleaseJobs{Jobs: keys} })
}
