package service

import (
	"context"
	"slices"

	"purveyor/internal/command"
	"purveyor/internal/commerce"
)

const returnAtOnce = 500 // jobs per command

// ReturnJobs ends the leases of jobs, so that other workers can claim the jobs at once.
func (s *Service) ReturnJobs(ctx context.Context, jobs []commerce.Job) error {
	for part := range slices.Chunk(jobs, returnAtOnce) {
		if err := run(ctx, s, command.ReturnJobs{Jobs: part}); err != nil {
			return err
		}
	}
	return nil
}
