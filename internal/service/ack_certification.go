package service

import (
	"context"
	"errors"

	"purveyor/internal/certify"
	"purveyor/internal/command"
	"purveyor/internal/commerce"
	"purveyor/internal/storage"
)

// CertifyAck is what a partner's books have.
type CertifyAck struct {
	PartnerID string
	RunID     string
	Events    []string          // ids, each as often as the books have it
	Statuses  map[string]string // of orders, by their ids
}

// AckCertification adds to a run what the partner's books have, and returns how many events they have by now. Errors: 404 if
// it is not the partner's newest run; 409 wrong_status if the run is over; 400 if there are too many events.
func (s *Service) AckCertification(ctx context.Context, in CertifyAck) (int, error) {
	const tries = 20 // the job takes its steps beside this
	for range tries {
		run, row, err := s.FindCertification(ctx, in.PartnerID)
		switch {
		case errors.Is(err, storage.ErrNotFound), err == nil && run.ID != in.RunID:
			return 0, commerce.NotFound("run")
		case err != nil:
			return 0, err
		case run.Over():
			return 0, commerce.Conflict("wrong_status", "The run is over: it has %s", run.State)
		}
		run = run.Ack(in.Events, in.Statuses)
		if len(run.Books) > certify.MaxBooks {
			return 0, commerce.Invalid("event_ids", "event_ids must name at most %d events in all; leave out those from before the run", certify.MaxBooks)
		}
		if row, err = s.withRun(row, run); err != nil {
			return 0, err
		}
		kept, err := Do(ctx, s, command.AckCertification{Certification: row})
		if err != nil || kept {
			return len(run.Books), err
		}
	}
	return 0, commerce.Conflict("wrong_status", "The run changes too quickly; try again")
}
