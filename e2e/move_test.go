package e2e_test

import (
	"os/exec"
	"path/filepath"
	"testing"

	"purveyor/internal/testkit/pg"
)

// A shop that was copied, or restored from a backup, continues where it was: it has
// every order, ledger and stock add up, and its idempotency keys still work.
func TestMoves(t *testing.T) {
	t.Parallel()
	inFile := func(t *testing.T) *shop { return &shop{t: t, dir: t.TempDir()} }
	onServer := func(t *testing.T) *shop { return &shop{t: t, postgres: pg.Shared(t).Database(t)} }
	for _, tc := range []struct {
		name     string
		from, to func(*testing.T) *shop
		move     func(from, to *shop)
		running  bool // while the service is running
	}{
		{"SQLite to PostgreSQL", inFile, onServer, copyShop, false},
		{"PostgreSQL to SQLite", onServer, inFile, copyShop, false},
		{"a backup of SQLite", inFile, inFile, backupSQLite, true},
		{"a backup of PostgreSQL", onServer, onServer, backupPostgres, true},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			from, to := tc.from(t), tc.to(t)
			from.fill()
			to.partner = from.partner
			p, c := from.serve()
			l := &callLog{shop: from}
			sent := l.loadBy(0, func(a *attempt) (more bool) {
				l.send(c, a)
				return l.acked.Load() < times(60)
			})()
			if !tc.running {
				p.stop()
			}
			tc.move(from, to)
			if tc.running {
				p.stop()
			}
			l.shop = to
			_, c = to.serve()
			checkAcknowledged(c, sent)
			l.check(c)
			for _, a := range sent {
				if again := c.must(a.answer.status, a.request); string(again.body) != string(a.answer.body) {
					t.Errorf("%s repeated: %s, then %s", a.path, a.answer.body, again.body)
				}
			}
			l.check(c)
		})
	}
}

func copyShop(from, to *shop) {
	operate(to.t, "copy", "--from", from.url(), "--to", to.url()).ok(to.t)
}

// run runs a program that docs/OPERATING.md names.
func run(t *testing.T, program string, args ...string) {
	t.Helper()
	if out, err := exec.Command(program, args...).CombinedOutput(); err != nil {
		t.Fatalf("%s %q: %v\n%s", program, args, err, out)
	}
}

func backupSQLite(from, to *shop) { run(to.t, "sqlite3", from.path(), "VACUUM INTO '"+to.path()+"'") }

func backupPostgres(from, to *shop) {
	dump := filepath.Join(to.t.TempDir(), "purveyor.dump")
	run(to.t, "pg_dump", "--format=custom", "--file="+dump, from.url())
	run(to.t, "pg_restore", "--exit-on-error", "--no-owner", "--dbname="+to.url(), dump)
}

func TestCopyRefused(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	dir := t.TempDir()
	nowhere := "sqlite:" + filepath.Join(dir, "nowhere.db")
	operate(t, "copy", "--from", nowhere, "--to", s.url()).refused(t, 1, "--from", "no such file")
	operate(t, "copy", "--from", s.url(), "--to", s.url()).refused(t, 1, "not empty", "--to")
	operate(t, "copy", "--from", s.url(), "--to", newShop(t).url()).refused(t, 1, "not empty", "--to")
	operate(t, "copy", "--from", s.url(), "--to", "sqlite:"+filepath.Join(dir, "no", "folder.db")).refused(t, 1, "--to", "does not exist")
	operate(t, "copy", "--from", s.url(), "--to", "mysql://x").refused(t, 1, "--to", "mysql")
	if got := s.count("SELECT count(*) FROM partners"); got != "1" {
		t.Errorf("%s partners are left", got)
	}
}

func TestDistributeRefused(t *testing.T) {
	t.Parallel()
	operate(t, "migrate", "--distribute", "citus").refused(t, 2, "PostgreSQL")
	operate(t, "migrate", "--distribute", "citus", "--database", pg.Shared(t).Database(t)).refused(t, 1, "CREATE EXTENSION citus")
	operate(t, "migrate", "--distribute", "other").refused(t, 2, "citus")
}
