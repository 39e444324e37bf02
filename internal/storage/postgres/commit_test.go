package postgres

import (
	"context"
	"errors"
	"testing"
	"time"

	"purveyor/internal/commerce"
	"purveyor/internal/storage"
	"purveyor/internal/storage/storagetest"
)

// TestErrorOfCommit: an error that comes with COMMIT, of whatever class, says
// nothing about the outcome, because PostgreSQL may have committed before it. The
// same error of an earlier statement is definite.
func TestErrorOfCommit(t *testing.T) {
	const function = "CREATE OR REPLACE FUNCTION fail() RETURNS trigger LANGUAGE plpgsql AS "
	for name, c := range map[string]struct {
		body    string
		earlier error // what the same means before the commit; nil: an error of this batch alone
	}{
		"a broken constraint":    {"'BEGIN RAISE check_violation; END'", nil},
		"a deadlock":             {"'BEGIN RAISE deadlock_detected; END'", storage.ErrAgain},
		"an unknown error":       {"'BEGIN RAISE internal_error; END'", storage.ErrUnavailable},
		"a connection that ends": {"'BEGIN PERFORM pg_terminate_backend(pg_backend_pid()); RETURN NEW; END'", storage.ErrUnavailable},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ctx := context.Background()
			url := database(t)
			e := address(url).Open(t, time.Now)
			keys := seedStock(t, e, "sto_1")
			sell := func() error {
				b, err := e.Load(ctx, commerce.Needs{Stock: keys})
				if err != nil {
					t.Fatal(err)
				}
				s, _ := b.Rows().Stock.Get(keys[0])
				s.Quantity--
				storagetest.Apply(b, storagetest.WithMoves(b.Rows(), commerce.Changes{Stock: []commerce.Stock{s}}, b.Stamp()))
				return b.Save(ctx)
			}
			run(t, url, function+c.body, "CREATE TRIGGER fail BEFORE UPDATE ON stock FOR EACH ROW EXECUTE FUNCTION fail()")
			err := sell()
			if err == nil || errors.Is(err, storage.ErrOutcomeUnknown) || c.earlier != nil && !errors.Is(err, c.earlier) ||
				c.earlier == nil && errors.Is(err, storage.ErrUnavailable) {
				t.Errorf("before the commit: %v, want %v", err, c.earlier)
			}
			run(t, url, "DROP TRIGGER fail ON stock",
				"CREATE CONSTRAINT TRIGGER fail AFTER UPDATE ON stock DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION fail()")
			if err := sell(); !errors.Is(err, storage.ErrOutcomeUnknown) || errors.Is(err, storage.ErrUnavailable) || errors.Is(err, storage.ErrAgain) {
				t.Errorf("with the commit: %v, want storage.ErrOutcomeUnknown alone", err)
			}
			run(t, url, "DROP TRIGGER fail ON stock")
			if err := sell(); err != nil {
				t.Errorf("afterwards: %v", err)
			}
		})
	}
}
