package memory_test

import (
	"slices"
	"testing"
	"time"

	"purveyor/internal/env"
	"purveyor/internal/storage"
	"purveyor/internal/storage/storagetest"
	"purveyor/internal/testkit/memory"
)

type database struct{ *memory.Database }

func (d database) Open(_ testing.TB, now func() time.Time) storage.Engine {
	return d.Database.Open(env.Env{}, now)
}

// TestSuite: the engine keeps what every engine promises.
func TestSuite(t *testing.T) {
	storagetest.Run(t, func(testing.TB) storagetest.Database { return database{memory.New()} })
}

// TestKeepers: each table of the registry is kept, in its order.
func TestKeepers(t *testing.T) {
	if kept, want := memory.Kept(), memory.Registered(); !slices.Equal(kept, want) {
		t.Errorf("the engine keeps\n%q\nand the registry has\n%q", kept, want)
	}
}
