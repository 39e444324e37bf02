package memory_test

import (
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
