package service

import (
	"context"
	"time"

	"purveyor/internal/certify"
	"purveyor/internal/command"
	"purveyor/internal/commerce"
)

// StepCertification records a step of a run's job, which goes on after the pause. row is the certification as it was
// read for the step.
func (s *Service) StepCertification(ctx context.Context, job commerce.Job, run certify.Run, row commerce.Certification, pause time.Duration) (commerce.Job, error) {
	row, err := s.withRun(row, run)
	if err != nil {
		return job, err
	}
	return Record(ctx, s, job, command.StepCertification{Job: job, Certification: row, Pause: pause})
}
