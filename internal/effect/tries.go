package effect

import (
	"context"
	"sync"
	"time"

	"purveyor/internal/command"
	"purveyor/internal/commerce"
	"purveyor/internal/commit"
)

// tries gathers webhook tries until they are recorded together: no caller waits
// for one, and many in a transaction cost a fraction of what they cost alone. If
// we crash meanwhile, what was gathered is sent again when the leases end.
type tries struct {
	committer *commit.Committer
	now       chan struct{} // holds something when there is no need to wait for more

	mu      sync.Mutex
	ended   []ended // not yet on record
	running bool
}

type ended struct {
	try      command.WebhookTry
	recorded func(commerce.Job, error) // with the job as it goes on
}

const (
	gatherTime = 50 * time.Millisecond
	gatherMost = 256
	plenty     = 128
)

func newTries(c *commit.Committer) *tries {
	return &tries{committer: c, now: make(chan struct{}, 1)}
}

// record has a try recorded, and calls recorded when it is or is not.
func (t *tries) record(try command.WebhookTry, recorded func(commerce.Job, error)) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.ended = append(t.ended, ended{try, recorded})
	if !t.running {
		t.running = true
		go t.run()
	}
	// A failure says how the endpoint fares, which the next tries need to know.
	if len(t.ended) >= plenty || !try.Attempt.Delivered() {
		select {
		case t.now <- struct{}{}:
		default:
		}
	}
}

// run records until there is nothing to record. What ends while a transaction
// commits is in the next.
func (t *tries) run() {
	for more := true; more; {
		select {
		case <-t.now:
		case <-time.After(gatherTime):
		}
		t.mu.Lock()
		list := t.ended[:min(len(t.ended), gatherMost)]
		t.ended = t.ended[len(list):]
		t.mu.Unlock()
		t.save(list)
		t.mu.Lock()
		more = len(t.ended) > 0
		t.running = more
		t.mu.Unlock()
	}
}

// save records tries together. If that fails, each is recorded alone, so that
// a bad one does not fail the others.
func (t *tries) save(list []ended) {
	jobs, err := t.saveAll(list)
	for i, e := range list {
		if err == nil || len(list) == 1 {
			e.recorded(jobs[i], err)
		} else {
			go func() {
				jobs, err := t.saveAll([]ended{e})
				e.recorded(jobs[0], err)
			}()
		}
	}
}

// saveAll returns the jobs as they go on, as many as there are in list.
func (t *tries) saveAll(list []ended) ([]commerce.Job, error) {
	cmd := command.RecordWebhookAttempts{Tries: make([]command.WebhookTry, len(list))}
	for i, e := range list {
		cmd.Tries[i] = e.try
	}
	jobs, err := commit.Do(context.Background(), t.committer, cmd)
	if err != nil {
		jobs = make([]commerce.Job, len(list))
	}
	return jobs, err
}
