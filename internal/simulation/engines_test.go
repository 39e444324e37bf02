package simulation

import (
	"fmt"
	"maps"
	"os"
	"testing"

	"purveyor/internal/testkit/database"
)

// engines make empty databases for histories at true speed.
var engines = []struct {
	name   string
	orders int // that are cheap to play
	make   func(t *testing.T) string
}{
	{"SQLite", 40, func(t *testing.T) string { return sqliteScheme + database.SQLite(t) }},
	{"PostgreSQL", 10, func(t *testing.T) string { return database.Postgres(t) }},
}

// TestEngines plays histories with faults and killed processes on the engines that the program
// has.
func TestEngines(t *testing.T) {
	seeds, times := uint64(1), 1 // of which a full run has more
	if os.Getenv("PURVEYOR_TEST_LOAD") != "" {
		seeds, times = 3, 4
	}
	for _, engine := range engines {
		for seed := range seeds {
			t.Run(fmt.Sprint(engine.name, " seed ", seed), func(t *testing.T) {
				r := Run(Options{Seed: 2000 + seed, Processes: 1 + times, Hours: 1, Orders: times * engine.orders, Database: engine.make(t)})
				for _, what := range r.Broken {
					t.Error(what)
				}
				if r.Kills == 0 {
					t.Error("no process was killed")
				}
			})
		}
	}
}

// TestSameEnds: where nothing fails, the same customers come to the same ends on each engine.
func TestSameEnds(t *testing.T) {
	for _, engine := range engines {
		t.Run(engine.name, func(t *testing.T) {
			o := Options{Seed: 2100, Processes: 2, Hours: 1, Orders: engine.orders, Calm: true, Without: []string{haste}}
			want := Run(o).Ends
			o.Database = engine.make(t)
			r := Run(o)
			for _, what := range r.Broken {
				t.Error(what)
			}
			for name, end := range want {
				if r.Ends[name] != end {
					t.Errorf("%s ends with %q, and in memory with %q", name, r.Ends[name], end)
				}
			}
			if len(want) == 0 || !maps.Equal(r.Ends, want) {
				t.Errorf("%d stories ended, and in memory %d", len(r.Ends), len(want))
			}
		})
	}
}
