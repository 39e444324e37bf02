package e2e_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"purveyor/internal/testkit/check"

	"zombiezen.com/go/sqlite/sqlitex"
)

// Of the commands of the operator only migrate brings an older database up to date. The
// others refuse it and change nothing.
func TestOlderDatabase(t *testing.T) {
	t.Parallel()
	s := &shop{t: t, dir: t.TempDir()}
	_, dump := readOldShop(t, "sqlite")
	execute(t, s.path(), dump)
	before, err := os.ReadFile(s.path())
	check.OK(t, err)
	empty := "sqlite:" + filepath.Join(t.TempDir(), "empty.db")
	for _, command := range [][]string{
		{"partner", "list"}, {"partner", "create", "--name", "X"}, {"user", "create", "--email", "a@b.example"}, {"jobs", "list"}, {"ledger", "check"},
		{"import", s.file("catalog.json", oldCatalog())},
	} {
		s.operate(command...).refused(t, 1, s.path(), "older", "purveyor migrate")
	}
	operate(t, "copy", "--from", s.url(), "--to", empty).refused(t, 1, "--from", "purveyor migrate")
	operate(t, "copy", "--from", newShop(t).url(), "--to", s.url()).refused(t, 1, "--to", "purveyor migrate")
	checked := s.operate("migrate", "--check")
	checked.refused(t, 1, "lacks", "purveyor migrate")
	if n := strings.Count(checked.stdout, "pending: migrations/00"); n < 31 {
		t.Errorf("%d migrations are pending:\n%s", n, checked.stdout)
	}
	if after, err := os.ReadFile(s.path()); err != nil || string(after) != string(before) {
		t.Errorf("the file was changed (%v)", err)
	}
	copies := func() []string {
		found, err := filepath.Glob(s.path() + ".before-*")
		check.OK(t, err)
		return found
	}
	if found := copies(); len(found) > 0 {
		t.Errorf("copies of a database that was not migrated: %q", found)
	}

	migrated := s.operate("migrate")
	migrated.ok(t)
	kept := copies()
	if len(kept) != 1 || !strings.Contains(migrated.stderr, kept[0]) {
		t.Fatalf("copies: %q; printed %s", kept, migrated.stderr)
	}
	s.operate("migrate", "--check").ok(t)
	s.operate("partner", "list").ok(t)
	operate(t, "partner", "list", "--database", "sqlite:"+kept[0]).refused(t, 1, "purveyor migrate")
	operate(t, "migrate", "--database", "sqlite:"+kept[0]).ok(t)
}

// An upgrade that SIGKILL has cut is done by the next start. The database is the older one
// until then, and a copy is a whole one.
func TestKilledUpgrade(t *testing.T) {
	t.Parallel()
	_, dump := readOldShop(t, "sqlite")
	for _, moment := range []string{".before-*.part", ".before-*[0-9]", "-rates"} {
		t.Run(moment, func(t *testing.T) {
			t.Parallel()
			s := &shop{t: t, dir: t.TempDir()}
			execute(t, s.path(), dump)
			orders := s.count("SELECT '' || count(*) FROM orders")
			p := startProgram(t, program(t), nil, "migrate", "--database", s.url())
			check.Eventually(t, patience, 5*time.Microsecond, moment, func() bool {
				select {
				case <-p.done: // it was faster
					return true
				default:
					found, err := filepath.Glob(s.path() + moment)
					return err == nil && len(found) > 0
				}
			})
			p.kill()
			copies, err := filepath.Glob(s.path() + ".before-*[0-9]")
			check.OK(t, err)
			for _, path := range copies {
				kept := openSQLite(t, path)
				problems, err := sqlitex.ResultText(kept.Prep("PRAGMA integrity_check"))
				check.OK(t, errors.Join(err, kept.Close()))
				if problems != "ok" {
					t.Errorf("the copy: %s", problems)
				}
			}
			if number := s.count("PRAGMA user_version"); number != "1" && len(copies) != 1 {
				t.Errorf("migrated to %s without a copy: %q", number, copies)
			}
			s.operate("migrate").ok(t)
			s.operate("migrate", "--check").ok(t)
			s.checkFile()
			if again := s.count("SELECT '' || count(*) FROM orders"); again != orders {
				t.Errorf("%s orders, then %s", orders, again)
			}
		})
	}
}
