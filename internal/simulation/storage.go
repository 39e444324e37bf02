package simulation

import (
	"context"
	"errors"
	"time"

	"purveyor/internal/commerce"
	"purveyor/internal/env"
	"purveyor/internal/storage"
)

// shaky is storage whose calls take time, and fail now and then.
type shaky struct {
	storage.Engine
	w    *world
	env  env.Env
	name string
}

// Once in so many calls each fault of storage happens.
const (
	rareSave  = 400
	rareClaim = 1500
)

// Load implements storage.Batches.
func (s *shaky) Load(ctx context.Context, needs ...commerce.Needs) (storage.Batch, error) {
	if err := s.w.pause(ctx, s.env, 2*time.Millisecond); err != nil {
		return nil, err
	}
	if s.w.away() || s.w.chance("the database was away", rareSave) {
		return nil, storage.ErrUnavailable
	}
	b, err := s.Engine.Load(ctx, needs...)
	if err != nil {
		return nil, err
	}
	return shakyBatch{b, s}, nil
}

// ClaimJobs implements storage.Queue.
func (s *shaky) ClaimJobs(ctx context.Context, c storage.JobClaim) ([]commerce.Job, error) {
	if s.w.away() || s.w.chance("a claim failed", rareClaim) {
		return nil, storage.ErrUnavailable
	}
	list, err := s.Engine.ClaimJobs(ctx, c)
	for _, j := range list {
		s.w.sim.Tracef("%s claims %s %s for %s", s.name, j.Kind, j.ID, j.Subject)
	}
	return list, err
}

type shakyBatch struct {
	storage.Batch
	s *shaky
}

// Save fails in each of the ways that a real one can.
func (b shakyBatch) Save(ctx context.Context) error {
	w := b.s.w
	defer b.Discard() // also when the process is killed meanwhile
	_ = w.pause(context.Background(), b.s.env, 8*time.Millisecond)
	switch {
	case w.away():
		return storage.ErrUnavailable
	case w.chance("a save was refused", rareSave):
		return errors.New("this batch cannot be saved")
	case w.chance("a save got lost", rareSave):
		return storage.ErrOutcomeUnknown
	}
	w.traceCommit(b.s.name, b.Batch)
	if err := b.Batch.Save(ctx); err != nil {
		w.broke("%s: a batch was refused by the database: %v", b.s.name, err)
		return err
	}
	w.committed(b.Batch)
	_ = w.pause(context.Background(), b.s.env, time.Millisecond) // the answer is on its way
	if w.chance("the answer of a save got lost", rareSave) {
		return storage.ErrOutcomeUnknown
	}
	return nil
}
