package storagetest

import (
	"errors"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"purveyor/internal/storage"
)

// Copies gives files that are copies of one database with the schema and no rows,
// which open makes once: to copy it takes a hundredth of the time of all
// migrations. A copy goes at the end of its test. Tests with a clock of their own
// (synctest) ask for it before their time begins.
func Copies(open func(path string, now func() time.Time) (storage.Engine, error)) func(testing.TB) (path string) {
	migrated := sync.OnceValues(func() (content []byte, err error) {
		folder, err := os.MkdirTemp("", "storagetest-")
		if err != nil {
			return nil, err
		}
		defer func() { err = errors.Join(err, os.RemoveAll(folder)) }()
		path := filepath.Join(folder, "purveyor.db")
		e, err := open(path, func() time.Time { return time.Unix(0, 0) }) // before the clock of any test
		if err != nil {
			return nil, err
		}
		if err := e.Close(); err != nil {
			return nil, err
		}
		return os.ReadFile(path)
	})
	return func(t testing.TB) string {
		t.Helper()
		content, err := migrated()
		if err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(t.TempDir(), "purveyor.db")
		if err := os.WriteFile(path, content, 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
}
