// Package commit carries every change: load, decide, save. Commands that wait
// together share one load and one transaction (group commit), so that what
// waits for the disk is paid once for all of them.
package commit

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"time"

	"purveyor/internal/commerce"
	"purveyor/internal/storage"
)

// Command is one change of state.
type Command[R any] interface {
	// Needs names every row that the command may look at or change.
	Needs() commerce.Needs
	// Decide is pure. now is in Unix ms and is the stamp of the change. With an
	// error, the changes are ignored.
	Decide(rows *commerce.Rows, now int64) (R, commerce.Changes, error)
}

// ErrClosed is the answer to what comes after Close.
var ErrClosed = errors.New("the service is shutting down")

const (
	maxBatch = 256
	maxQueue = 4096
	maxTries = 5 // of a batch that others come into the way of
	// maxLocks of a batch's commands come upon locked rows before the others are
	// refused untried. Each of them waits for about as long as the batch did.
	maxLocks = 16

	settlePatience = 4 * time.Second
	settlePause    = 50 * time.Millisecond
)

// Committer is the one way in for changes. Its loop owns the batch under way;
// callers own nothing but their own call.
type Committer struct {
	engine   storage.Engine
	maxBatch int
	queue    chan call
	done     chan struct{} // closed when the loop has answered everything

	mu     sync.RWMutex // guards closed against sends on queue
	closed bool

	aside   aside // the loop's
	hurried atomic.Bool
	starter atomic.Pointer[Starter]
}

// New starts a committer over the engine, with at most maxBatch commands a
// transaction; 0 is the default.
func New(engine storage.Engine, batch int) *Committer {
	if batch <= 0 {
		batch = maxBatch
	}
	c := &Committer{engine: engine, maxBatch: batch, queue: make(chan call, maxQueue), done: make(chan struct{})}
	go c.loop()
	return c
}

// Close refuses new commands, answers all that were admitted, and returns.
func (c *Committer) Close() {
	c.mu.Lock()
	if !c.closed {
		c.closed = true
		close(c.queue)
	}
	c.mu.Unlock()
	<-c.done
}

// Hurry has every command that waits refused with ErrClosed instead of tried:
// the stop must not take longer than a database that does not answer.
func (c *Committer) Hurry() { c.hurried.Store(true) }

// Do runs a command and returns once it is durable, or refused. ctx bounds the
// wait for admission only: an admitted command runs to its end.
//
// Errors: a *commerce.Error (refused, nothing changed), storage.ErrUnavailable
// (nothing changed), storage.ErrOutcomeUnknown, ErrClosed, or what ctx says.
func Do[R any](ctx context.Context, c *Committer, cmd Command[R]) (R, error) {
	result, _, err := DoJobs(ctx, c, cmd)
	return result, err
}

// DoJobs is Do, and also returns the jobs that the command asked for, for who
// wants to see them done.
func DoJobs[R any](ctx context.Context, c *Committer, cmd Command[R]) (R, []commerce.Job, error) {
	p := &pending[R]{cmd: cmd, done: make(chan struct{})}
	if err := c.admit(ctx, p); err != nil {
		return p.result, nil, err
	}
	<-p.done
	return p.result, p.jobs, p.err
}

func (c *Committer) admit(ctx context.Context, p call) error {
	c.mu.RLock()
	defer c.mu.RUnlock()
	if c.closed {
		return ErrClosed
	}
	select {
	case c.queue <- p:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// call is a command that waits, whatever its result is.
type call interface {
	needs() commerce.Needs
	decide(rows *commerce.Rows, now int64) (commerce.Changes, error)
	asks(jobs []commerce.Job) // which its changes came to ask for
	answer(err error)
	keyed() bool // its outcome can be read from its reply record
}

type pending[R any] struct {
	cmd    Command[R]
	result R
	jobs   []commerce.Job
	err    error
	done   chan struct{}
}

func (p *pending[R]) needs() commerce.Needs { return p.cmd.Needs() }

func (p *pending[R]) decide(rows *commerce.Rows, now int64) (changes commerce.Changes, err error) {
	p.jobs = nil // of an earlier try
	defer func() {
		if v := recover(); v != nil {
			slog.Error("a command panicked", "panic", v, "command", fmt.Sprintf("%T", p.cmd), "stack", string(debug.Stack()))
			err = fmt.Errorf("command %T panicked: %v", p.cmd, v)
		}
	}()
	p.result, changes, err = p.cmd.Decide(rows, now)
	return changes, err
}

func (p *pending[R]) asks(jobs []commerce.Job) { p.jobs = jobs }

func (p *pending[R]) answer(err error) {
	p.err = err
	close(p.done)
}

func (p *pending[R]) keyed() bool {
	_, ok := p.cmd.(interface{ hasReplyRecord() })
	return ok
}

func (c *Committer) loop() {
	defer close(c.done)
	batch := make([]call, 0, c.maxBatch)
	for queue := c.queue; queue != nil || len(c.aside.calls) > 0; {
		select {
		case first, open := <-queue:
			if !open {
				queue = nil
				continue
			}
			batch = c.gather(append(batch[:0], first))
			c.commit(batch)
			clear(batch)
		case <-c.aside.due():
			c.tryAside()
		}
	}
}

// gather adds all calls that wait to the batch, as far as it has room.
func (c *Committer) gather(batch []call) []call {
	for len(batch) < c.maxBatch {
		select {
		case p, open := <-c.queue:
			if !open {
				return batch
			}
			batch = append(batch, p)
		default:
			return batch
		}
	}
	return batch
}

// commit answers every call of the batch, except those that are set aside.
func (c *Committer) commit(batch []call) {
	if c.hurried.Load() {
		answerAll(batch, ErrClosed)
		return
	}
	if batch = c.aside.screen(batch); len(batch) > 0 {
		c.attempt(batch)
	}
}

// attempt runs a batch. When the batch fails as a whole, its commands are tried
// alone, so that a bad one does not fail its neighbours.
func (c *Committer) attempt(batch []call) {
	errs, err := c.tries(batch)
	ofAll := errors.Is(err, storage.ErrUnavailable) && !errors.Is(err, storage.ErrLocked) && !errors.Is(err, storage.ErrTimeout)
	switch {
	case err == nil:
		for i, p := range batch {
			p.answer(errs[i])
		}
	case errors.Is(err, storage.ErrOutcomeUnknown):
		slog.Error("the outcome of a batch is unknown", "commands", len(batch), "error", err)
		c.settle(batch, err)
	case len(batch) == 1 && errors.Is(err, storage.ErrLocked):
		slog.Warn("a command waits for a row that another session keeps locked", "error", err)
		c.aside.add(batch[0], err)
	case len(batch) == 1 || ofAll:
		slog.Error("a batch was not saved", "commands", len(batch), "error", err)
		answerAll(batch, err)
	default:
		slog.Error("a batch was not saved; its commands are tried alone", "commands", len(batch), "error", err)
		c.oneByOne(batch, err)
	}
}

// oneByOne tries the commands of a batch that failed. A server that does not
// come to an end with any of them is not waited for time and again, and neither is
// a session that keeps whole tables locked.
func (c *Committer) oneByOne(batch []call, err error) {
	until, most := time.Now().Add(lockPatience), c.aside.locks()+maxLocks
	for _, p := range batch {
		if errors.Is(err, storage.ErrTimeout) && time.Now().After(until) || c.aside.locks() >= most {
			p.answer(err)
			continue
		}
		c.commit([]call{p})
	}
}

// settle runs after a batch that may or may not be saved. A command with a
// reply record is run again: it finds the record and gives that answer, or
// finds none and takes place now. The outcome of others stays unknown. A database that
// restarts or fails over is waited for, a little while in all.
func (c *Committer) settle(batch []call, unknown error) {
	deadline := time.Now().Add(settlePatience)
	for _, p := range batch {
		if !p.keyed() {
			p.answer(unknown)
			continue
		}
		errs, err := c.tries([]call{p})
		for errors.Is(err, storage.ErrUnavailable) && !c.hurried.Load() && time.Now().Before(deadline) {
			time.Sleep(settlePause)
			errs, err = c.tries([]call{p})
		}
		if err != nil {
			p.answer(errors.Join(unknown, err))
			continue
		}
		p.answer(errs[0])
	}
}

func answerAll(batch []call, err error) {
	for _, p := range batch {
		p.answer(err)
	}
}

// tries is try, repeated while other batches come into the way of this one.
func (c *Committer) tries(batch []call) (errs []error, err error) {
	errs, err = c.try(batch)
	for n := 1; errors.Is(err, storage.ErrAgain) && n < maxTries; n++ {
		errs, err = c.try(batch)
	}
	return errs, err
}

// try loads, decides and saves. The error is of the whole; errs are the
// refusals of single commands, valid only when err is nil.
func (c *Committer) try(batch []call) (errs []error, err error) {
	defer func() {
		if v := recover(); v != nil { // a change outside of the command's needs
			slog.Error("a batch panicked", "panic", v, "stack", string(debug.Stack()))
			err = fmt.Errorf("a batch of %d commands panicked: %v", len(batch), v)
		}
	}()
	ctx := context.Background() // admitted commands run to their end
	needs := make([]commerce.Needs, len(batch))
	for i, p := range batch {
		needs[i] = p.needs()
	}
	tx, err := c.engine.Load(ctx, needs...)
	if err != nil {
		return nil, err
	}
	defer tx.Discard()
	rows, now := tx.Rows(), tx.Stamp()
	errs = make([]error, len(batch))
	ids := idSource{now: now}
	for i, p := range batch {
		changes, err := p.decide(rows, now)
		if err != nil {
			errs[i] = err
			continue
		}
		ids.complete(&changes)
		p.asks(changes.NewJobs)
		rows.Apply(changes)
	}
	if !rows.Changed() {
		return errs, nil
	}
	offered, saved := c.offer(rows.NewJobs), false
	defer func() { offered.end(saved) }()
	err = tx.Save(ctx)
	saved = err == nil
	return errs, err
}
