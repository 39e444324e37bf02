package service

import (
	"context"
	"errors"

	"purveyor/internal/command"
	"purveyor/internal/commerce"
	"purveyor/internal/commit"
	"purveyor/internal/storage"
)

// GiveUpJob gives up a dead job for a reason. It runs the command that records the last
// failed attempt of its kind, and so also decides the answer of a call that waits for the
// job. If the subject of the job does not exist or cannot be read, only the job is given
// up.
func (s *Service) GiveUpJob(ctx context.Context, by commerce.Actor, job commerce.Job, reason string) (commerce.Job, error) {
	record := command.RecordJob{Job: job, Failed: errors.New(reason), GivenUpBy: by}
	cmd, err := s.recordOf(ctx, job, record)
	switch {
	case errors.Is(err, storage.ErrNotFound), errors.Is(err, storage.ErrUnreadable):
		cmd = command.GiveUpJob{RecordJob: record}
	case err != nil:
		return job, err
	default:
		cmd = answering(s.o.Answers, job, cmd)
	}
	recorded, err := act(ctx, s, by, deedOf("give_up_job", job), cmd)
	return recorded.Job, err
}

// recordOf returns the command that records a failed attempt of a job.
func (s *Service) recordOf(ctx context.Context, job commerce.Job, record command.RecordJob) (commit.Command[command.Recorded], error) {
	if !isAboutOrder(job.Kind) {
		return command.GiveUpJob{RecordJob: record}, nil
	}
	about, err := s.orderOfJob(ctx, job)
	if err != nil {
		return nil, err
	}
	facts := about.Facts()
	switch job.Kind {
	case commerce.JobOpenSession:
		err = s.readAlong(ctx, job, &about)
		return command.RecordPaymentSession{RecordJob: record, Facts: facts}, err
	case commerce.JobEndHold:
		return command.EndHold{RecordJob: record, Facts: facts}, nil
	case commerce.JobRefund:
		return command.RecordRefund{RecordJob: record, Facts: facts, RefundID: about.Refund.ID}, nil
	case commerce.JobDispatch:
		err = s.readAlong(ctx, job, &about)
		return command.RecordDelivery{RecordJob: record, Facts: facts, Attempt: about.Attempt}, err
	case commerce.JobCancelDelivery:
		err = s.readAlong(ctx, job, &about)
		return command.RecordDeliveryCancelled{RecordJob: record, Facts: facts, RefundID: about.CancelRefundID}, err
	}
	return command.GiveUpJob{RecordJob: record, Facts: &facts}, nil
}
