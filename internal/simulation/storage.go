package simulation

import (
	"context"
	"errors"
	"slices"
	"time"

	"purveyor/internal/commerce"
	"purveyor/internal/env"
	"purveyor/internal/storage"
)

// shaky is storage whose calls take time, and fail now and then.
type shaky struct {
	storage.Engine
	w       *world
	env     env.Env
	process process
	name    string
	old     bool // the process has the older of two builds
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
	away, after := s.fails(outages, "the database was away", rareSave)
	if away {
		return nil, storage.ErrUnavailable
	}
	b, err := s.Engine.Load(ctx, needs...)
	if err != nil {
		return nil, err
	}
	if !s.w.parallel() {
		after = s.w.stamp // there is one writer
	}
	return shakyBatch{b, s, after}, nil
}

// fails reports whether the database is away, or fails by chance. It also returns the newest
// stamp that is known to be saved.
func (s *shaky) fails(kind, what string, rare int) (fails bool, stamp commerce.Millis) {
	s.process.EndIfDead()
	s.w.outside(func() { fails, stamp = s.w.away() || s.w.chance(kind, what, rare), s.w.stamp })
	return fails, stamp
}

// ClaimJobs implements storage.Queue.
func (s *shaky) ClaimJobs(ctx context.Context, c storage.JobClaim) ([]commerce.Job, error) {
	if away, _ := s.fails(claims, "a claim failed", rareClaim); away {
		return nil, storage.ErrUnavailable
	}
	list, err := s.Engine.ClaimJobs(ctx, c)
	for _, j := range list {
		if s.old && slices.Contains(laterKinds, j.Kind) {
			s.w.broke("%s does not know jobs of the kind %s, and has claimed %s", s.name, j.Kind, j.ID)
		}
		s.w.sim.Tracef("%s claims %s %s for %s", s.name, j.Kind, j.ID, j.Subject)
		if j.Kind == commerce.JobCancelDelivery {
			s.w.outside(func() { s.w.callingOff[j.Subject] = s.w.env.Now() })
		}
		if !s.w.parallel() {
			s.w.leased(j)
		}
	}
	return list, err
}

// Reader implements storage.Engine.
func (s *shaky) Reader() storage.Reader { return shakyReader{s.Engine.Reader(), s} }

// shakyReader cannot read what came of a call while the database is away.
type shakyReader struct {
	storage.Reader
	s *shaky
}

// read reads a row, unless the database is away.
func read[K, V any](r shakyReader, ctx context.Context, get func(context.Context, K) (V, error), key K) (v V, err error) {
	var away bool
	r.s.w.outside(func() { away = r.s.w.away() })
	if away {
		return v, storage.ErrUnavailable
	}
	return get(ctx, key)
}

// Reply implements storage.Reader, as do the next ones.
func (r shakyReader) Reply(ctx context.Context, k commerce.ReplyKey) (commerce.Reply, error) {
	return read(r, ctx, r.Reader.Reply, k)
}

// Order reads an order.
func (r shakyReader) Order(ctx context.Context, k commerce.OrderKey) (commerce.Order, error) {
	return read(r, ctx, r.Reader.Order, k)
}

// Delivery reads a delivery.
func (r shakyReader) Delivery(ctx context.Context, k commerce.OrderKey) (commerce.Delivery, error) {
	return read(r, ctx, r.Reader.Delivery, k)
}

// Payment reads a payment.
func (r shakyReader) Payment(ctx context.Context, k commerce.OrderKey) (commerce.Payment, error) {
	return read(r, ctx, r.Reader.Payment, k)
}

// Refund reads a refund.
func (r shakyReader) Refund(ctx context.Context, k commerce.RefundKey) (commerce.Refund, error) {
	return read(r, ctx, r.Reader.Refund, k)
}

// Job reads a job.
func (r shakyReader) Job(ctx context.Context, k commerce.JobKey) (commerce.Job, error) {
	return read(r, ctx, r.Reader.Job, k)
}

type shakyBatch struct {
	storage.Batch
	s     *shaky
	after commerce.Millis // the newest stamp when it was loaded
}

// Save fails in each of the ways that a real one can.
func (b shakyBatch) Save(ctx context.Context) error {
	w := b.s.w
	defer b.Discard() // also when the process is killed meanwhile
	_ = w.pause(context.Background(), b.s.env, 8*time.Millisecond)
	var err error
	w.outside(func() { err = b.lose() })
	if err != nil {
		return err
	}
	err = b.Batch.Save(ctx)
	w.outside(func() { b.saved(err) })
	if err != nil {
		if !errors.Is(err, storage.ErrOutcomeUnknown) {
			b.unsaved(err)
		}
		return err
	}
	_ = w.pause(context.Background(), b.s.env, time.Millisecond) // the answer is on its way
	w.outside(func() {
		if w.chance(saves, "the answer of a save got lost", rareSave) {
			w.say("%s does not know that this was saved", b.s.name)
			err = storage.ErrOutcomeUnknown
		}
	})
	return err
}

// lose returns the error of a save that never comes to the database.
func (b shakyBatch) lose() error {
	w := b.s.w
	switch {
	case w.away(), w.faulty && w.env.Now().Before(w.fullTill):
		return storage.ErrUnavailable
	case w.chance(saves, "a save had to be decided again", rareSave):
		w.sayCommit(b.s.name, "is too late to save", b)
		return storage.ErrAgain
	case w.chance(saves, "a save was refused", rareSave):
		w.refusedOn = w.env.Now()
		w.sayCommit(b.s.name, "is not allowed to save", b)
		return errors.New("this batch cannot be saved")
	case w.chance(saves, "a save got lost", rareSave):
		w.sayCommit(b.s.name, "does not know what came of a save, which did not happen", b)
		return storage.ErrOutcomeUnknown
	}
	w.sayCommit(b.s.name, "saves", b)
	w.traceCommit(b.s.name, b.Batch)
	return nil
}

// saved looks at what came of a save.
func (b shakyBatch) saved(err error) {
	w := b.s.w
	switch {
	case err == nil:
		w.committed(b)
	case w.parallel() && conflict(err):
		w.report.Faults["a batch could not be saved by the engine"]++
	default:
		w.broke("%s: a batch was refused by the database: %v", b.s.name, err)
	}
}
