package commit_test

import (
	"context"
	"errors"
	"slices"
	"sync"
	"testing"
	"time"

	"purveyor/internal/commerce"
	"purveyor/internal/commit"
	"purveyor/internal/storage"
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
