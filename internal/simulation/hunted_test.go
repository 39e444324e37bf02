package simulation

import (
	"fmt"
	"testing"

	"purveyor/internal/testkit/check"
)

// failed are the runs that once found a fault. Each has what it found.
var failed = []struct {
	Options
	found string
}{
	{Options{Seed: 1195, Processes: 1, Hours: 1, Orders: 100}, "the courier of a cancelled order brings the goods before it answers that it cannot be called off, and staff are not told"},
	{Options{Seed: 3, Processes: 3, Hours: 3, Orders: 300}, "the database goes away while a saved call waits, which is answered as if nothing had changed"},
	{Options{Seed: 60522, Processes: 3, Hours: 24, Orders: 300}, "a check that was too strict: a courier is called off late, after the goods are there"},
	{Options{Seed: 70063, Processes: 3, Hours: 3, Orders: 150}, "an order is cancelled after its courier has given up with the goods and before that is told, and staff are not told"},
	{Options{Seed: 3000050, Processes: 3, Hours: 24, Orders: 300}, "the courier of a cancelled order is called off late, after a bank has returned the refund, and the key of the cancellation then has another answer"},
}

// TestSeeds plays 200 short histories, a few with the race detector, and those again that once found a fault.
func TestSeeds(t *testing.T) {
	seeds := 200
	switch {
	case testing.Short():
		seeds = 2
	case check.WithRace(): // a history takes ten times as long, and all tasks of it are one goroutine
		seeds = 20
	}
	list := make([]Options, 0, len(failed)+seeds)
	for _, f := range failed {
		list = append(list, f.Options)
	}
	for seed := range seeds {
		list = append(list, Options{Seed: uint64(1000 + seed), Processes: 1 + seed%3, Hours: 1, Orders: 100, Calm: seed%4 == 0})
	}
	for _, o := range list {
		t.Run(fmt.Sprint("seed ", o.Seed), func(t *testing.T) {
			t.Parallel()
			for _, what := range Run(o).Broken {
				t.Error(what)
			}
		})
	}
}
