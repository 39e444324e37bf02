package effect

import (
	"context"
	"sync"
	"time"

	"purveyor/internal/command"
	"purveyor/internal/commit"
)

// tries gathers webhook tries until they are recorded together: nobody waits
// for one, and many in a transaction cost a fraction of what they cost alone.
type tries struct {
	committer *commit.Committer
	plenty    chan struct{} // holds something when it need not wait for more

	mu      sync.Mutex
	ended   []ended // not yet on record
	running bool
}

type ended struct {
	try      command.WebhookTry
	recorded func(error)
}

const (
	gatherTime  = 5 * time.Millisecond
	gatherMost  = 256
	gatherTried = 128 // is plenty
)

func newTries(c *commit.Committer) *tries {
	return &tries{committer: c, plenty: make(chan struct{}, 1)}
}

// record has a try recorded, and calls recorded when it is or is not.
func (t *tries) record(try command.WebhookTry, recorded func(error)) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.ended = append(t.ended, ended{try, recorded})
	if !t.running {
		t.running = true
		go t.run()
	}
	if len(t.ended) >= gatherTried {
		select {
		case t.plenty <- struct{}{}:
		default:
		}
	}
}

// run records until there is nothing to record. What ends while a transaction
// commits is in the next.
func (t *tries) run() {
	for {
		select {
		case <-t.plenty:
		case <-time.After(gatherTime):
		}
		t.mu.Lock()
		list := t.ended[:min(len(t.ended), gatherMost)]
		t.ended = t.ended[len(list):]
		t.running = len(list) > 0
		t.mu.Unlock()
		if len(list) == 0 {
			return
		}
		t.save(list)
	}
}

// save records tries together. If that fails, each is recorded alone, so that
// a bad one does not fail the others.
func (t *tries) save(list []ended) {
	err := t.saveAll(list)
	for _, e := range list {
		if err == nil || len(list) == 1 {
			e.recorded(err)
		} else {
			go func() { e.recorded(t.saveAll([]ended{e})) }()
		}
	}
}

func (t *tries) saveAll(list []ended) error {
	cmd := command.RecordWebhookAttempts{Tries: make([]command.WebhookTry, len(list))}
	for i, e := range list {
		cmd.Tries[i] = e.try
	}
	return do(context.Background(), t.committer, cmd)
}
