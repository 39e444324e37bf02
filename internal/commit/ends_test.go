package commit_test

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"purveyor/internal/api/wire"
	"purveyor/internal/commerce"
	"purveyor/internal/commit"
	"purveyor/internal/env"
	"purveyor/internal/storage"
)

// awayAfterSave is an engine whose save goes out and whose database then stays
// away for ever.
func awayAfterSave() *scripted {
	var away atomic.Bool
	return &scripted{
		load: func([]commerce.Needs) error {
			if away.Load() {
				return storage.ErrUnavailable
			}
			return nil
		},
		save: func() error { away.Store(true); return storage.ErrOutcomeUnknown },
	}
}

// TestUnknownOutcomeIsNotAwaitedForEver: the database does not come back. The
// caller of a command with a key is told, within seconds, that the outcome is
// unknown, and so are those that share its batch.
func TestUnknownOutcomeIsNotAwaitedForEver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := awayAfterSave()
		c := commit.New(e, commit.Options{EncodeEvent: wire.Encoder{}.EventData})
		e.load = first(e.load, func() { time.Sleep(time.Second) })
		ask(c, idle{}) // the others gather behind it
		synctest.Wait()
		var calls []*asked
		for i := range 5 {
			calls = append(calls, ask(c, onceTouched("s", fmt.Sprint(i))))
		}
		time.Sleep(time.Minute)
		synctest.Wait()
		for _, a := range calls {
			if !a.answered() {
				t.Fatal("a command still waits after a minute")
			}
			expectIs(t, a.err, storage.ErrOutcomeUnknown)
			if a.took > 10*time.Second {
				t.Errorf("answered after %v", a.took)
			}
		}
		c.Close()
	})
}

// TestUnknownOutcomeOnANodeIsNotAwaited: the node that has the outcome is away, which may take
// long. The commands of other nodes do not wait for it.
func TestUnknownOutcomeOnANodeIsNotAwaited(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := awayAfterSave()
		load := e.load
		e.load = func(needs []commerce.Needs) error {
			if err := load(needs); err != nil {
				return errAway
			}
			return nil
		}
		c := commit.New(e, commit.Options{EncodeEvent: wire.Encoder{}.EventData})
		defer c.Close()
		a := ask(c, onceTouched("s", "k"))
		expectIs(t, a.wait(), storage.ErrOutcomeUnknown)
		if a.took > 0 {
			t.Errorf("answered after %v", a.took)
		}
		tries := len(e.loads())
		expectIs(t, ask(c, onceTouched("s", "k")).wait(), storage.ErrNode)
		if n := len(e.loads()); n != tries {
			t.Errorf("%d tries of a node that was just found away", n-tries)
		}
	})
}

// first is load with something done before its first call.
func first(load func([]commerce.Needs) error, before func()) func([]commerce.Needs) error {
	var done atomic.Bool
	return func(needs []commerce.Needs) error {
		if done.CompareAndSwap(false, true) {
			before()
		}
		return load(needs)
	}
}

// TestHurry: from then on no command is tried. One whose outcome is being looked
// for is told that it is unknown.
func TestHurry(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := awayAfterSave()
		c := commit.New(e, commit.Options{EncodeEvent: wire.Encoder{}.EventData})
		doubtful := ask(c, onceTouched("s", "k"))
		time.Sleep(time.Second)
		waiting := ask(c, onceTouched("s", "waits"))
		synctest.Wait()
		if doubtful.answered() {
			t.Fatal("a database that is away for a second is not waited for")
		}
		c.Hurry()
		before := len(e.loads())
		expectIs(t, doubtful.wait(), storage.ErrOutcomeUnknown)
		if doubtful.took > 1500*time.Millisecond {
			t.Errorf("answered after %v", doubtful.took)
		}
		expectIs(t, waiting.wait(), commit.ErrClosed)
		if tried := len(e.loads()) - before; tried > 1 { // the pause under way ends with a try
			t.Errorf("%d more loads", tried)
		}
		c.Close()
	})
}

// TestCloseWaits: Close returns when every admitted command is answered.
func TestCloseWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		release := make(chan struct{})
		c := commit.New(&scripted{load: func([]commerce.Needs) error { <-release; return nil }}, commit.Options{Batch: 1})
		calls := []*asked{ask(c, touch{"s", "p"}), ask(c, touch{"s", "q"})}
		synctest.Wait()
		closed := make(chan struct{})
		go func() { c.Close(); close(closed) }()
		synctest.Wait()
		select {
		case <-closed:
			t.Fatal("Close returned before the commands were answered")
		default:
		}
		close(release)
		<-closed
		synctest.Wait()
		for _, a := range calls {
			if !a.answered() || a.err != nil {
				t.Errorf("answered: %v, %v", a.answered(), a.err)
			}
		}
	})
}

// TestTriesAreBounded: a batch that others keep coming into the way of is given up.
func TestTriesAreBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := &scripted{}
		e.save = func() error {
			if len(e.loads()) > 1000 { // it would go on
				return nil
			}
			return fmt.Errorf("%w: a deadlock", storage.ErrAgain)
		}
		c := commit.New(e, commit.Options{EncodeEvent: wire.Encoder{}.EventData})
		if err := ask(c, touch{"s", "p"}).wait(); !errors.Is(err, storage.ErrAgain) {
			t.Errorf("%v, want storage.ErrAgain", err)
		}
		if n := len(e.loads()); n != 5 {
			t.Errorf("%d tries, want 5", n)
		}
		// If slots for its jobs cannot be written, each slot is tried.
		slots := map[int64]bool{}
		e.save, e.saved = nil, func(rows *commerce.Rows) error {
			slots[rows.Appended.NewJobs[0].Slot] = true
			if len(e.loads()) > 1000 { // it would go on
				return nil
			}
			return fmt.Errorf("%w: %w", storage.ErrAgain, errAway)
		}
		expectIs(t, ask(c, later{}).wait(), storage.ErrNode)
		if n := len(e.loads()) - 5; n != commerce.JobSlots || len(slots) != n {
			t.Errorf("%d tries to write to %d slots, want %d", n, len(slots), commerce.JobSlots)
		}
		// One that passes after some tries is answered as any other.
		left := 3
		e.save = func() error {
			if left--; left > 0 {
				return storage.ErrAgain
			}
			return nil
		}
		expectNil(t, "after some tries", ask(c, touch{"s", "p"}))
		c.Close()
	})
}

// mail appends outbox messages, whose ids the committer gives.
type mail struct{ messages []commerce.UnsentMessage }

func (mail) Needs() commerce.Needs { return commerce.Needs{} }
func (m mail) Decide(*commerce.Rows, commerce.Millis) (int, commerce.Changes, error) {
	return 0, commerce.Changes{Outbox: m.messages}, nil
}

// TestIDsOfTwoProcesses: two processes whose batches have the same stamp never
// give one id twice, and an id cannot be guessed from another one. Within a batch
// ids ascend.
func TestIDsOfTwoProcesses(t *testing.T) {
	given := map[string]bool{}
	const batches, messages = 50, 10
	for range 2 {
		c := commit.New(&scripted{}, commit.Options{EncodeEvent: wire.Encoder{}.EventData}) // each begins with stamp 1
		for range batches {
			m := mail{make([]commerce.UnsentMessage, messages)}
			must(commit.Do(t.Context(), c, commit.Command[int](m)))
			for i, v := range m.messages {
				given[v.ID] = true
				if i > 0 && v.ID <= m.messages[i-1].ID {
					t.Errorf("%s comes after %s", v.ID, m.messages[i-1].ID)
				}
			}
		}
		c.Close()
	}
	if len(given) != 2*batches*messages {
		t.Errorf("%d ids, want %d", len(given), 2*batches*messages)
	}
}

// changesItsMind asks for a job at first, and refuses when it is decided again.
type changesItsMind struct{ decided *bool }

func (changesItsMind) Needs() commerce.Needs { return commerce.Needs{} }
func (c changesItsMind) Decide(*commerce.Rows, commerce.Millis) (int, commerce.Changes, error) {
	if *c.decided {
		return 0, commerce.Changes{}, errors.New("no")
	}
	*c.decided = true
	return 0, commerce.Changes{NewJobs: []commerce.Job{{Kind: commerce.JobDeliverWebhook}}}, nil
}

// TestJobsOfTheLastTry: a command that is refused when it is decided again has asked for no job.
func TestJobsOfTheLastTry(t *testing.T) {
	c := commit.New(&scripted{save: func() error { return storage.ErrAgain }}, commit.Options{})
	defer c.Close()
	_, jobs, err := commit.DoJobs(t.Context(), c, commit.Command[int](changesItsMind{new(bool)}))
	if err == nil || errors.Is(err, storage.ErrAgain) || len(jobs) != 0 {
		t.Errorf("%+v, %v", jobs, err)
	}
}

// TestIDsOfASeed: ids are drawn from the surroundings of the process, so that one seed gives one
// history.
func TestIDsOfASeed(t *testing.T) {
	c := commit.New(&scripted{}, commit.Options{Env: env.In(zeros{})})
	defer c.Close()
	m := mail{make([]commerce.UnsentMessage, 1)}
	must(commit.Do(t.Context(), c, commit.Command[int](m)))
	if got, want := m.messages[0].ID, commerce.NewID(commerce.PrefixOutbox, 1, commerce.Entropy{}); got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

// zeros is the machine, but draws nothing but zeros.
type zeros struct{}

func (zeros) Now() time.Time { return time.Now() }
func (zeros) Read(b []byte)  { clear(b) }
func (zeros) Go(f func())    { go f() }
func (zeros) Wait(d time.Duration, signals env.Signals) int {
	return env.Env{}.Wait(d, signals[:]...)
}
func (zeros) WithDeadline(ctx context.Context, at time.Time) (context.Context, context.CancelFunc) {
	return context.WithDeadline(ctx, at)
}
