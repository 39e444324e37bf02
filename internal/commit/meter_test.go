package commit_test

import (
	"context"
	"errors"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"purveyor/internal/commerce"
	"purveyor/internal/commit"
	"purveyor/internal/storage"
	"purveyor/internal/tracing"
)

// charge takes money.
type charge struct{ refused error }

func (charge) Needs() commerce.Needs { return commerce.Needs{} }

func (charge) Access(*commerce.Rows) error { return nil }

func (c charge) Decide(*commerce.Rows, commerce.Millis) (int, commerce.Changes, error) {
	return 0, commerce.Changes{Ledger: []commerce.LedgerEntry{{StoreID: "s", OrderID: "o", Seq: 1, Kind: commerce.EntryCapture}}}, c.refused
}

// counted is a meter that keeps what it is told.
type counted struct {
	mu       sync.Mutex
	commands []string
	batches  []int
	deeds    []commerce.Deed
}

func (c *counted) Command(name string, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if err != nil {
		name += ": " + err.Error()
	}
	c.commands = append(c.commands, name)
}

func (c *counted) Batch(commands int, _, _, _, _ time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.batches = append(c.batches, commands)
}

func (c *counted) Deeds(list []commerce.Deed) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.deeds = append(c.deeds, list...)
}

// TestMeter: commands are counted by their own names, whatever is around them. What a batch does
// is counted once it is saved, and not if that fails, or if the command is refused.
func TestMeter(t *testing.T) {
	var failure error
	engine := &scripted{save: func() error { return failure }}
	c := commit.New(engine, commit.Options{})
	defer c.Close()
	m := &counted{}
	c.CountBy(m)
	key := commerce.ReplyKey{PartnerID: "p", Op: "charge", Key: "k"}
	run := func(cmd charge) {
		t.Helper()
		keyed := commit.Once(key, [32]byte{}, cmd, func(int) (int, []byte) { return 200, nil })
		_, _ = commit.Do(context.Background(), c, keyed) // the meter is told of its error
	}
	run(charge{})
	run(charge{refused: errors.New("no money")})
	failure = storage.ErrUnavailable
	run(charge{})
	if want := []string{"charge", "charge: no money", "charge: storage unavailable"}; !slices.Equal(m.commands, want) {
		t.Errorf("commands %q, want %q", m.commands, want)
	}
	if want := []int{1, 1, 1}; !slices.Equal(m.batches, want) {
		t.Errorf("batches %v, want %v", m.batches, want)
	}
	if want := []commerce.Deed{{What: commerce.DeedPayment, Of: "captured", Mode: commerce.Live}}; !slices.Equal(m.deeds, want) {
		t.Errorf("deeds %v, want %v", m.deeds, want)
	}
}

// times is a meter that keeps how long batches take.
type times struct {
	counted
	batches [][4]time.Duration
}

func (m *times) Batch(_ int, wait, load, decide, save time.Duration) {
	m.batches = append(m.batches, [4]time.Duration{wait, load, decide, save})
}

// slow is a command that takes its time.
type slow struct{ charge }

func (c slow) Decide(rows *commerce.Rows, now commerce.Millis) (int, commerce.Changes, error) {
	time.Sleep(3 * time.Second)
	return c.charge.Decide(rows, now)
}

// TestTimesOfBatches: a meter is told how long the oldest command of a batch has waited, and how
// long the batch took to load, to decide and to save.
func TestTimesOfBatches(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := commit.New(&scripted{
			load: func([]commerce.Needs) error { time.Sleep(2 * time.Second); return nil },
			save: func() error { time.Sleep(5 * time.Second); return nil },
		}, commit.Options{})
		defer c.Close()
		m := &times{}
		c.CountBy(m)
		first := ask(c, slow{})
		time.Sleep(time.Second)
		second := ask(c, slow{})
		time.Sleep(time.Second)
		expectNil(t, "a charge", first, second, ask(c, slow{}))
		want := [][4]time.Duration{{0, 2 * time.Second, 3 * time.Second, 5 * time.Second}, {9 * time.Second, 2 * time.Second, 6 * time.Second, 5 * time.Second}}
		if !slices.Equal(m.batches, want) {
			t.Errorf("%v, want %v", m.batches, want)
		}
	})
}

// TestRefusedChanges: what a refused command would have changed is not saved, and not counted, and
// neither is what was not saved.
func TestRefusedChanges(t *testing.T) {
	saves, failure := 0, storage.ErrUnavailable
	c := commit.New(&scripted{save: func() error { saves++; return failure }}, commit.Options{})
	defer c.Close()
	m := &counted{}
	c.CountBy(m)
	refused := errors.New("no money")
	if _, err := commit.Do(t.Context(), c, charge{refused: refused}); !errors.Is(err, refused) || saves > 0 || len(m.deeds) > 0 {
		t.Errorf("%v, %d saves, %v", err, saves, m.deeds)
	}
	if _, err := commit.Do(t.Context(), c, charge{}); !errors.Is(err, failure) || saves != 1 || len(m.deeds) > 0 {
		t.Errorf("%v, %d saves, %v", err, saves, m.deeds)
	}
	failure = nil
	if _, err := commit.Do(t.Context(), c, charge{}); err != nil || saves != 2 || len(m.deeds) != 1 {
		t.Errorf("%v, %d saves, %v", err, saves, m.deeds)
	}
}

// TestTraceOfJobs: jobs go on with the trace of the call that asked for them, if it has one.
func TestTraceOfJobs(t *testing.T) {
	const parent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
	c := commit.New(&scripted{}, commit.Options{})
	defer c.Close()
	for _, want := range []string{"", parent} {
		_, jobs, err := commit.DoJobs(tracing.WithParent(t.Context(), want), c, commit.Command[int](later{}))
		if err != nil || len(jobs) != 1 || jobs[0].TraceParent != want {
			t.Errorf("%+v, %v; want the trace %q", jobs, err, want)
		}
	}
}
