// Package commit carries every change: load, decide, save. Commands that wait
// together share one load and one transaction (group commit), so that they pay
// once for the disk.
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
	"purveyor/internal/env"
	"purveyor/internal/storage"
	"purveyor/internal/storage/schema"
)

// Command is one change of state.
type Command[R any] interface {
	// Needs names every row that the command may look at or change.
	Needs() commerce.Needs
	// Decide is pure. now is in Unix ms and is the stamp of the change. With an
	// error, the changes are ignored.
	Decide(rows *commerce.Rows, now commerce.Millis) (R, commerce.Changes, error)
}

// ErrClosed is the answer to every command that comes after Close.
var ErrClosed = errors.New("the service is shutting down")

const (
	maxBatch = 256
	maxQueue = 4096
	maxTries = 5 // of a batch that conflicts with other batches
	// maxLocks is how many commands of a failed batch may meet a locked row before
	// the rest of the batch is refused without a try. Each of them waits for the lock
	// about as long as the batch did.
	maxLocks = 16

	outcomePatience = 4 * time.Second
	outcomePause    = 50 * time.Millisecond
)

// Options of a committer; each zero value is a default.
type Options struct {
	Batch   int     // commands in one transaction, at most; 256
	Env     env.Env // the real one
	Starter Starter // runs new jobs in this process; nil: workers claim all jobs
	// EncodeEvent makes the data of a webhook event from what the event is about. Nil:
	// commands that add webhook events fail.
	EncodeEvent func(commerce.WebhookEvent) []byte
}

// Committer is the one way in for changes. It is a step machine: Step commits one
// batch. All fields below the mutex belong to the goroutine that calls Step.
type Committer struct {
	env      env.Env
	engine   storage.Batches
	maxBatch int
	starter  Starter
	encode   func(commerce.WebhookEvent) []byte
	queue    chan *call
	woken    chan struct{} // has an element when the queue may have got one
	done     chan struct{} // closed when every admitted command is answered
	hurried  atomic.Bool

	mu     sync.RWMutex // guards closed against sends on queue
	closed bool

	batch []*call // the memory of the batch under way
	aside aside
}

// New starts a committer over the engine.
func New(engine storage.Batches, o Options) *Committer {
	if o.Batch <= 0 {
		o.Batch = maxBatch
	}
	c := &Committer{env: o.Env, engine: engine, maxBatch: o.Batch, starter: o.Starter, encode: o.EncodeEvent, queue: make(chan *call, maxQueue),
		woken: make(chan struct{}, 1), done: make(chan struct{}), batch: make([]*call, 0, o.Batch)}
	c.env.Go(func() {
		defer close(c.done)
		c.env.Drive(c.Step, c.woken)
	})
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
	c.wake()
	c.env.Await(c.done)
}

// Hurry makes the committer refuse every waiting command with ErrClosed instead of
// trying it, so that a database that does not answer cannot delay the stop.
func (c *Committer) Hurry() { c.hurried.Store(true) }

// Do runs a command and returns once it is durable, or refused. ctx bounds the
// wait for admission only: an admitted command runs to its end.
//
// Errors: a *commerce.Error (refused, nothing changed), storage.ErrUnavailable
// (nothing changed), storage.ErrOutcomeUnknown, ErrClosed, or the error of ctx.
func Do[R any](ctx context.Context, c *Committer, cmd Command[R]) (R, error) {
	result, _, err := DoJobs(ctx, c, cmd)
	return result, err
}

// DoJobs is Do, and also returns the jobs that the command enqueues, so that the
// caller can wait for them.
func DoJobs[R any](ctx context.Context, c *Committer, cmd Command[R]) (result R, asked []commerce.Job, err error) {
	_, keyed := cmd.(interface{ hasReplyRecord() })
	p := &call{needs: cmd.Needs, keyed: keyed, done: make(chan struct{})}
	p.decide = func(rows *commerce.Rows, now commerce.Millis) (changes commerce.Changes, err error) {
		defer func() {
			if v := recover(); v != nil {
				slog.Error("a command panicked", "panic", v, "command", fmt.Sprintf("%T", cmd), "stack", string(debug.Stack()))
				err = fmt.Errorf("command %T panicked: %v", cmd, v)
			}
		}()
		result, changes, err = cmd.Decide(rows, now)
		return changes, err
	}
	if err := c.admit(ctx, p); err != nil {
		return result, nil, err
	}
	c.env.Await(p.done)
	return result, p.jobs, p.err
}

func (c *Committer) admit(ctx context.Context, p *call) error {
	c.mu.RLock()
	defer c.mu.RUnlock()
	if c.closed {
		return ErrClosed
	}
	select {
	case c.queue <- p:
		c.wake()
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// wake makes the driver call Step.
func (c *Committer) wake() {
	select {
	case c.woken <- struct{}{}:
	default: // it will anyway
	}
}

// call is a waiting command, without the type of its result.
type call struct {
	needs  func() commerce.Needs
	decide func(rows *commerce.Rows, now commerce.Millis) (commerce.Changes, error)
	keyed  bool           // whether the outcome can be read from a reply record
	jobs   []commerce.Job // that its changes enqueue
	err    error
	done   chan struct{} // closed when jobs and err may be read
}

func (p *call) answer(err error) {
	p.err = err
	close(p.done)
}

// Step commits the commands that wait, as one batch, and tries one of those that
// were set aside if it is time. It ends when the committer is closed and every
// admitted command is answered.
func (c *Committer) Step() env.Next {
	batch, open := c.takeWaiting()
	if len(batch) > 0 {
		c.commit(batch)
		clear(batch)
	}
	if i, at := c.aside.next(); i >= 0 && !c.env.Now().Before(at) {
		c.tryAside()
	}
	if len(batch) == c.maxBatch || len(c.queue) > 0 {
		return env.AtOnce
	}
	if i, at := c.aside.next(); i >= 0 {
		return env.Next(max(c.env.Until(at), 0))
	}
	if !open {
		return env.Ended
	}
	return env.OnSignal
}

// takeWaiting takes the calls that wait, as many as a batch has room for. open is
// false when the queue is closed and empty.
func (c *Committer) takeWaiting() (batch []*call, open bool) {
	batch = c.batch[:0]
	for len(batch) < c.maxBatch {
		select {
		case p, open := <-c.queue:
			if !open {
				return batch, false
			}
			batch = append(batch, p)
		default:
			return batch, true
		}
	}
	return batch, true
}

// commit answers every call of the batch, except the calls that it sets aside.
func (c *Committer) commit(batch []*call) {
	if c.hurried.Load() {
		answerAll(batch, ErrClosed)
		return
	}
	if batch = c.screen(batch); len(batch) > 0 {
		c.attempt(batch)
	}
}

// attempt runs a batch. If the batch fails as a whole, its commands are tried one
// by one, so that a bad command does not fail its neighbours.
func (c *Committer) attempt(batch []*call) {
	errs, err := c.tries(batch)
	ofAll := errors.Is(err, storage.ErrUnavailable) && !errors.Is(err, storage.ErrLocked) && !errors.Is(err, storage.ErrTimeout)
	switch {
	case err == nil:
		for i, p := range batch {
			p.answer(errs[i])
		}
	case errors.Is(err, storage.ErrOutcomeUnknown):
		slog.Error("the outcome of a batch is unknown", "commands", len(batch), "error", err)
		c.findOutcomes(batch, err)
	case len(batch) == 1 && errors.Is(err, storage.ErrLocked):
		slog.Warn("a command waits for a row that another session keeps locked", "error", err)
		c.aside.add(batch[0], err, c.env.Now())
	case len(batch) == 1 || ofAll:
		slog.Error("a batch was not saved", "commands", len(batch), "error", err)
		answerAll(batch, err)
	default:
		slog.Error("a batch was not saved; its commands are tried alone", "commands", len(batch), "error", err)
		c.oneByOne(batch, err)
	}
}

// oneByOne tries the commands of a failed batch. It gives up on the rest when the
// server times out for lockPatience, or when maxLocks commands have met a locked
// row (another session may keep whole tables locked).
func (c *Committer) oneByOne(batch []*call, err error) {
	until, most := c.env.Now().Add(lockPatience), c.aside.locks()+maxLocks
	for _, p := range batch {
		if errors.Is(err, storage.ErrTimeout) && c.env.Now().After(until) || c.aside.locks() >= most {
			p.answer(err)
			continue
		}
		c.commit([]*call{p})
	}
}

// findOutcomes finds out whether the commands of a batch are saved after all. It runs
// each command that has a reply record again: the command finds its record and
// returns the stored answer, or finds none and takes place now. The outcome of
// other commands stays unknown. For all commands together, it waits up to
// outcomePatience for a database that restarts or fails over.
func (c *Committer) findOutcomes(batch []*call, unknown error) {
	deadline := c.env.Now().Add(outcomePatience)
	for _, p := range batch {
		if !p.keyed {
			p.answer(unknown)
			continue
		}
		errs, err := c.tries([]*call{p})
		for errors.Is(err, storage.ErrUnavailable) && !c.hurried.Load() && c.env.Now().Before(deadline) {
			c.env.Wait(outcomePause)
			errs, err = c.tries([]*call{p})
		}
		if err != nil {
			p.answer(errors.Join(unknown, err))
			continue
		}
		p.answer(errs[0])
	}
}

func answerAll(batch []*call, err error) {
	for _, p := range batch {
		p.answer(err)
	}
}

// tries calls try, and repeats it while other batches conflict with this one.
func (c *Committer) tries(batch []*call) (errs []error, err error) {
	errs, err = c.try(batch)
	for n := 1; errors.Is(err, storage.ErrAgain) && n < maxTries; n++ {
		errs, err = c.try(batch)
	}
	return errs, err
}

// try loads, decides and saves. err is the failure of the whole batch; errs are the
// refusals of single commands, valid only when err is nil.
func (c *Committer) try(batch []*call) (errs []error, err error) {
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
	ids := idSource{env: c.env, now: now, encode: c.encode}
	var changes commerce.Changes
	for i, p := range batch {
		p.jobs = nil // of an earlier try
		if changes, errs[i] = p.decide(rows, now); errs[i] != nil {
			continue
		}
		ids.complete(&changes)
		p.jobs = changes.NewJobs
		schema.Apply(rows, &changes)
	}
	if !schema.Changed(rows) {
		return errs, nil
	}
	reserved, saved := c.reserve(rows.Appended.NewJobs), false
	defer func() {
		if len(reserved) > 0 {
			c.starter.EndReservation(reserved, saved)
		}
	}()
	err = tx.Save(ctx)
	saved = err == nil
	return errs, err
}
