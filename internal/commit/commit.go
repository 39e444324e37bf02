// Package commit carries every change: load, decide, save. Commands that wait
// together share one load and one transaction (group commit), so that they pay
// once for the disk.
package commit

import (
	"cmp"
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
	"purveyor/internal/tracing"
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

// Meter counts what a committer does. It must not block.
type Meter interface {
	// Command is told the outcome of each command, by the name of its type.
	Command(name string, err error)
	// Batch is told of each try of a batch: how long its oldest command had waited, and how long
	// it took to load, to decide and to save. Phases that did not happen are 0.
	Batch(commands int, wait, load, decide, save time.Duration)
	// Deeds is told what a batch has done, once it is saved.
	Deeds(list []commerce.Deed)
}

// Committer is the one way in for changes. Its loops commit batches beside each other.
type Committer struct {
	env      env.Env
	engine   storage.Batches
	maxBatch int
	starter  Starter
	encode   func(commerce.WebhookEvent) []byte
	meter    Meter
	tracer   *tracing.Tracer
	loops    []*loop
	heat     heat
	nodes    bool          // commands of a store go to one loop
	next     atomic.Uint32 // loop of a command that need not wait for others
	running  atomic.Int64  // loops
	done     chan struct{} // closed when every admitted command is answered
	hurried  atomic.Bool

	mu     sync.RWMutex // guards closed against sends on queues
	closed bool
}

// New starts a committer over the engine, with a loop for each of its writers.
func New(engine storage.Batches, o Options) *Committer {
	o.Batch = cmp.Or(max(o.Batch, 0), maxBatch)
	w := engine.Writers()
	c := &Committer{env: o.Env, engine: engine, maxBatch: o.Batch, starter: o.Starter, encode: o.EncodeEvent,
		nodes: w.Nodes, done: make(chan struct{})}
	for range w.Batches {
		c.loops = append(c.loops, &loop{Committer: c, queue: make(chan *call, maxQueue/w.Batches), woken: make(chan struct{}, 1),
			batch: make([]*call, 0, o.Batch)})
	}
	c.running.Store(int64(w.Batches))
	for _, l := range c.loops {
		c.env.Go(func() {
			c.env.Drive(l.Step, l.woken)
			if c.running.Add(-1) == 0 {
				close(c.done)
			}
		})
	}
	return c
}

// CountBy has a meter count what the committer does. It is called before the first command.
func (c *Committer) CountBy(m Meter) { c.meter = m }

// TraceBy has a tracer make a span for each command that comes with a traceparent, from its arrival
// until its batch is saved. It is called before the first command.
func (c *Committer) TraceBy(t *tracing.Tracer) { c.tracer = t }

// Close refuses new commands, answers all that were admitted, and returns.
func (c *Committer) Close() {
	c.mu.Lock()
	for _, l := range c.loops {
		if !c.closed {
			close(l.queue)
		}
		l.wake()
	}
	c.closed = true
	c.mu.Unlock()
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
	p := &call{needs: cmd.Needs(), keyed: keyed, done: make(chan struct{})}
	if tracing.Traced(ctx) {
		ctx, p.span = c.tracer.Begin(ctx, "batch", tracing.Internal)
		p.parent = tracing.Parent(ctx)
		p.span.Text("purveyor.command", nameOf(cmd))
		defer func() { p.span.End(err) }()
	}
	if c.meter != nil {
		p.asked = c.env.Now()
	}
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
	if c.meter != nil {
		c.meter.Command(nameOf(cmd), p.err)
	}
	return result, p.jobs, p.err
}

func (c *Committer) admit(ctx context.Context, p *call) error {
	c.mu.RLock()
	defer c.mu.RUnlock()
	if c.closed {
		return ErrClosed
	}
	l := c.loopOf(p)
	select {
	case l.queue <- p:
		l.wake()
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// call is a waiting command, without the type of its result.
type call struct {
	needs  commerce.Needs
	decide func(rows *commerce.Rows, now commerce.Millis) (commerce.Changes, error)
	keyed  bool           // whether the outcome can be read from a reply record
	asked  time.Time      // when it came; zero: nothing is counted
	jobs   []commerce.Job // that its changes enqueue
	err    error
	done   chan struct{} // closed when jobs and err may be read

	span   *tracing.Span // nil: none is made
	parent string        // traceparent of its jobs; empty: none
}

func (p *call) answer(err error) {
	p.err = err
	close(p.done)
}
