package effect

import (
	"context"
	"sync"
	"time"

	"purveyor/internal/command"
	"purveyor/internal/commerce"
)

// tries collects webhook attempts and records many in one transaction, which costs a
// fraction of recording each alone; no caller waits for a record. If we crash before
// a record, the webhook is sent again when the lease of its job ends.
type tries struct {
	Options
	now chan struct{} // has an element when there is no need to wait for more attempts

	mu      sync.Mutex
	ended   []*ended // not yet on record
	running bool
}

type ended struct {
	try  command.WebhookTry
	done chan struct{} // closed when the rest may be read
	job  commerce.Job  // in its new state
	err  error
}

const (
	collectTime = 50 * time.Millisecond
	collectMost = 256
	plenty      = 128
)

func newTries(o Options) *tries {
	return &tries{Options: o, now: make(chan struct{}, 1)}
}

// record records an attempt, and returns the job in its new state.
func (t *tries) record(try command.WebhookTry) (commerce.Job, error) {
	e := &ended{try: try, done: make(chan struct{})}
	t.add(e)
	t.Env.Await(e.done)
	return e.job, e.err
}

func (t *tries) add(e *ended) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.ended = append(t.ended, e)
	if !t.running {
		t.running = true
		t.Env.Go(t.run)
	}
	// The next attempts need to know of a failure: it may hold the endpoint.
	if len(t.ended) >= plenty || !e.try.Attempt.Delivered() {
		select {
		case t.now <- struct{}{}:
		default:
		}
	}
}

// run records until there is nothing to record. Attempts that end while a transaction
// commits are in the next one.
func (t *tries) run() {
	for more := true; more; {
		t.Env.Wait(collectTime, t.now)
		t.mu.Lock()
		list := t.ended[:min(len(t.ended), collectMost)]
		t.ended = t.ended[len(list):]
		t.mu.Unlock()
		t.save(list)
		t.mu.Lock()
		more = len(t.ended) > 0
		t.running = more
		t.mu.Unlock()
	}
}

// save records attempts together. If that fails, it records each alone, so that one
// bad attempt does not fail the others.
func (t *tries) save(list []*ended) {
	cmd := command.RecordWebhookAttempts{Tries: make([]command.WebhookTry, len(list))}
	for i, e := range list {
		cmd.Tries[i] = e.try
	}
	jobs, err := t.Uses.RecordWebhookAttempts(context.Background(), cmd)
	for i, e := range list {
		if err != nil && len(list) > 1 {
			t.Env.Go(func() { t.save([]*ended{e}) })
			continue
		}
		if e.err = err; err == nil {
			e.job = jobs[i]
		}
		close(e.done)
	}
}
