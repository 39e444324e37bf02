package service

import (
	"context"

	"purveyor/internal/command"
	"purveyor/internal/commerce"
)

// RetryJob has a waiting or dead job run at once. It returns the job, which is due then.
func (s *Service) RetryJob(ctx context.Context, by commerce.Actor, job commerce.Job) (commerce.Job, error) {
	cmd := command.RetryJob{Job: job.Key(), Kind: job.Kind}
	if isAboutOrder(job.Kind) {
		about, err := s.orderOfJob(ctx, job)
		if err != nil {
			return job, err
		}
		facts := about.Facts()
		cmd.Facts, cmd.Attempt = &facts, about.Attempt
	}
	return act(ctx, s, by, deedOf("retry_job", job), cmd)
}

// deedOf names an act on a job. The owner of a job about an order is its store.
func deedOf(action string, job commerce.Job) deed {
	if isAboutOrder(job.Kind) {
		return deed{action, job.Owner, job.ID}
	}
	return deed{action, "", job.ID}
}

func isAboutOrder(kind commerce.JobKind) bool {
	switch kind {
	case commerce.JobDeliverWebhook, commerce.JobReleaseParked, commerce.JobMailAlarm, commerce.JobMemberLink, commerce.JobCertify, commerce.JobSandboxStep, commerce.JobSandboxCallback:
		return false
	}
	return true
}
