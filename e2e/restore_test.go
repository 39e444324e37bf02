package e2e_test

import (
	"bytes"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"purveyor/internal/testkit/check"
	"purveyor/internal/testkit/fakedoordash"
	"purveyor/internal/testkit/fakestripe"
	"purveyor/internal/testkit/fakeuber"

	"zombiezen.com/go/sqlite/sqlitex"
)

// backedUp is a backup of the shop.
func (s *shop) backedUp() string {
	s.t.Helper()
	dir := s.t.TempDir()
	s.operate("backup", "--to", dir).ok(s.t)
	return backups(s.t, dir)[0]
}

// beside is a shop with another file as its database.
func (s *shop) beside(file string) *shop {
	s.t.Helper()
	other := &shop{t: s.t, dir: s.t.TempDir(), partner: s.partner}
	for _, suffix := range []string{"", "-wal"} {
		if err := os.Rename(file+suffix, other.path()+suffix); err != nil && suffix == "" {
			s.t.Fatal(err)
		}
	}
	return other
}

// books are the rows that tell what was sold, and what was answered.
func (s *shop) books() (rows []string) {
	s.t.Helper()
	for _, query := range []string{
		"SELECT * FROM orders ORDER BY store_id, id", "SELECT * FROM ledger ORDER BY 1, 2, 3", "SELECT * FROM stock ORDER BY 1, 2", "SELECT * FROM stock_moves ORDER BY 1, 2, 3",
		"SELECT store_id, order_id, count(*) FROM timeline GROUP BY 1, 2 ORDER BY 1, 2", "SELECT count(*) FROM webhook_events", "SELECT count(*), sum(length(body)) FROM replies",
	} {
		rows = append(rows, s.rows(query)...)
	}
	return rows
}

// noPart checks that a restore has left nothing of its own.
func (s *shop) noPart() {
	s.t.Helper()
	if left, err := filepath.Glob(s.path() + ".part*"); err != nil || len(left) > 0 {
		s.t.Errorf("left: %q (%v)", left, err)
	}
}

// Restored elsewhere, the books are equal.
func TestRestoreElsewhere(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	p, c := s.serve()
	l := &callLog{shop: s}
	sent := l.loadBy(0, func(a *attempt) (more bool) {
		l.send(c, a)
		return l.acked.Load() < times(60)
	})()
	file := s.backedUp()
	p.stop()
	to := &shop{t: t, dir: t.TempDir(), partner: s.partner}
	to.operate("restore", "--from", file).ok(t)
	to.noPart()
	if is, was := to.books(), s.books(); !slices.Equal(is, was) || len(was) == 0 {
		t.Errorf("the books are\n%s\nand were\n%s", strings.Join(is, "\n"), strings.Join(was, "\n"))
	}
	to.operate("ledger", "check", "--books").ok(t)
	info, err := os.Stat(to.path())
	check.OK(t, err)
	if info.Mode().Perm() != 0o600 {
		t.Errorf("its mode is %v", info.Mode())
	}
	l.shop = to
	_, c = to.serve()
	checkAcknowledged(c, sent)
	l.check(c)
}

// After a crash, the database that a backup replaces keeps everything that was acknowledged.
func TestRestoreKeepsTheOld(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	if os.Geteuid() == 0 {
		check.OK(t, os.Chown(s.path(), 1234, 1234))
	}
	p, c := s.serve()
	l := &callLog{shop: s}
	before := l.loadBy(0, func(a *attempt) (more bool) {
		l.send(c, a)
		return l.acked.Load() < times(30)
	})()
	file := s.backedUp()
	wait := l.load(c, 1)
	l.waitForLoad(t, times(50))
	time.Sleep(rand.N(30 * time.Millisecond)) // at a random moment of a batch
	p.kill()
	after := wait()
	orders := s.count("SELECT count(*) FROM orders")

	s.operate("restore", "--from", file).refused(t, 1, "not empty", "--replace")
	printed := s.operate("restore", "--from", file, "--replace").ok(t)
	if !strings.Contains(printed, s.path()+".old") {
		t.Errorf("printed %s", printed)
	}
	s.noPart()
	for _, beside := range []string{"-wal", "-shm", "-rates", "-requests"} {
		if _, err := os.Stat(s.path() + beside); err == nil {
			t.Errorf("%s is left of the old database", beside)
		}
	}
	info, err := os.Stat(s.path())
	check.OK(t, err)
	if owner := info.Sys().(*syscall.Stat_t).Uid; os.Geteuid() == 0 && owner != 1234 {
		t.Errorf("the owner is %d", owner)
	}
	s.operate("restore", "--from", file, "--replace").refused(t, 1, s.path()+".old", "already")
	old := s.beside(s.path() + ".old")

	restored := &callLog{shop: s, all: before}
	p, c = s.serve()
	checkAcknowledged(c, before)
	restored.check(c)
	p.stop()

	if now := old.count("SELECT count(*) FROM orders"); now != orders {
		t.Errorf("%s orders are in the old database, want %s", now, orders)
	}
	l.shop = old
	_, c = old.serve()
	checkAcknowledged(c, slices.Concat(before, after))
	l.repeatUnanswered(c, after)
	l.check(c)
}

// A refund and a delivery that were made after the backup are not made again, neither while their
// jobs are held nor when they are released, even if the processor has forgotten the call.
func TestRestoreDoesNothingTwice(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	d := newDispatch(s)
	sold, owed := d.report(), d.paid()
	refund := post("/v1/orders/"+owed+"/refund", "refund", map[string]any{})
	d.stripe.Next(fakestripe.Fault{Status: http.StatusServiceUnavailable})
	d.uber.Always(&fakeuber.Fault{Down: true})
	d.dash.Always(fakedoordash.Fault{Down: true})
	d.must(http.StatusConflict, refund)                // in progress
	order := d.place(http.StatusCreated, sold).OrderID // its courier is looked for
	const open = "SELECT count(*) FROM jobs WHERE kind IN ('refund_payment', 'dispatch')"
	d.process.kill() // before the next tries
	jobs := s.count(open)
	file := s.backedUp()

	d.fine()
	d.process, d.client = s.serve(d.flags()...)
	for _, job := range s.rows("SELECT id FROM jobs WHERE kind IN ('refund_payment', 'dispatch')") {
		s.operate("jobs", "retry", job) // it may have been done by now
	}
	done := func() bool { return s.count(open) == "0" }
	check.Eventually(t, patience, pollPause, "a refund and a delivery", done)
	made, refunds := d.made(), d.stripe.Refunds()
	if made[0]+made[1] == 0 || refunds != 1 {
		t.Fatalf("%v deliveries, %d refunds", made, refunds)
	}
	d.process.kill()
	d.stripe.ForgetKeys()
	if text := s.operate("restore", "--from", file, "--replace").ok(t); !strings.Contains(text, "jobs are held") {
		t.Errorf("printed %s", text)
	}

	d.process, d.client = s.serve(d.flags()...)
	d.must(http.StatusConflict, refund)
	if n := s.count(open + " AND state = 'held'"); n != jobs {
		t.Errorf("%s jobs are held, want %s", n, jobs)
	}
	if d.made() != made || d.stripe.Refunds() != refunds {
		t.Errorf("while jobs are held: %v deliveries, %d refunds", d.made(), d.stripe.Refunds())
	}
	s.operate("jobs", "release").ok(t)
	check.Eventually(t, patience, pollPause, "the released jobs", done)
	if d.made() != made || d.stripe.Refunds() != refunds {
		t.Errorf("%v deliveries, %d refunds; there were %v and %d", d.made(), d.stripe.Refunds(), made, refunds)
	}
	if a := d.must(http.StatusOK, refund); !strings.Contains(string(a.body), "refund") {
		t.Errorf("the refund is answered %s", a.body)
	}
	if state := d.stored(order, "state"); state != "active" {
		t.Errorf("the delivery is %s", state)
	}
	s.operate("ledger", "check", "--stripe-key", d.stripe.Key, "--stripe-url", d.stripe.URL, "--stripe-webhook-secret", d.stripe.Secret).ok(t)
}

// A restore that SIGKILL cuts off leaves the old database or the new one, and can be repeated.
func TestKilledRestore(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	execute(t, s.path(), "CREATE TABLE ballast (x BLOB); WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 2000) INSERT INTO ballast SELECT randomblob(4000) FROM n")
	file := s.backedUp()
	s.newPartner("--name", "Newer") // the old database has two partners, and the new one has one
	partners := func(of *shop) string { return of.count("SELECT count(*) FROM partners") }
	for round := range 8 {
		p := startProgram(t, program(t), nil, "restore", "--from", file, "--replace", "--database", s.url())
		check.Eventually(t, patience, pollPause/10, "the copy begins", func() bool {
			_, err := os.Stat(s.path() + ".part")
			return err == nil
		})
		time.Sleep(time.Duration(round) * 15 * time.Millisecond)
		p.kill()
		if _, err := os.Stat(s.path()); err != nil {
			t.Fatalf("round %d: %v", round, err)
		}
		if got := partners(s); got == "1" { // it was faster
			if old := partners(s.beside(s.path() + ".old")); old != "2" {
				t.Errorf("the old database has %s partners", old)
			}
			s.newPartner("--name", "Newer")
		} else if got != "2" {
			t.Fatalf("round %d: %s partners", round, got)
		}
		s.checkFile()
	}
	s.operate("restore", "--from", file, "--replace").ok(t)
	s.noPart()
	if partners(s) != "1" || partners(s.beside(s.path()+".old")) != "2" {
		t.Error("the databases have not changed places")
	}
}

func TestRestoreRefused(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	file := s.backedUp()
	other := &shop{t: t, dir: t.TempDir()}
	operate(t, "restore", "--from", file, "--database", "postgres://x@127.0.0.1/x").refused(t, 1, "SQLite")
	other.operate("restore", "--from", filepath.Join(s.dir, "none.db")).refused(t, 1, "no such file")
	other.operate("restore", "--from", s.file("text.db", "no database")).refused(t, 1, "not a SQLite database")
	operate(t, "restore", "--from", file, "--database", "sqlite:"+filepath.Join(s.dir, "no", "x.db")).refused(t, 1, "does not exist")

	copied := filepath.Join(t.TempDir(), "copied.db")
	data, err := os.ReadFile(file)
	check.OK(t, err)
	check.OK(t, os.WriteFile(copied, data, 0o600))
	execute(t, copied, "UPDATE stock SET quantity = quantity + 1 WHERE product_id = 'p1'")
	other.operate("restore", "--from", copied).refused(t, 1, "stock does not add up")
	check.OK(t, os.WriteFile(copied+".json", []byte(`{"bytes": 1}`), 0o600))
	other.operate("restore", "--from", copied).refused(t, 1, "SHA-256")
	check.OK(t, os.WriteFile(copied+"-wal", data, 0o600))
	other.operate("restore", "--from", copied).refused(t, 1, "-wal")
	other.noPart()
	if _, err := os.Stat(other.path()); err == nil {
		t.Error("there is a database")
	}

	p, _ := s.serve()
	s.operate("restore", "--from", file, "--replace").refused(t, 1, "another process")
	p.stop()
	check.OK(t, os.Remove(s.path()+"-lock"))
	conn := openSQLite(t, s.path()) // as a command has it open, without the lock
	execute(t, s.path(), "UPDATE stock SET quantity = quantity")
	check.OK(t, sqlitex.ExecuteTransient(conn, "SELECT count(*) FROM stock", nil))
	s.operate("restore", "--from", file, "--replace").refused(t, 1, "another process")
	check.OK(t, conn.Close())
	s.noPart()
	if _, err := os.Stat(s.path() + ".old"); err == nil {
		t.Error("the database was moved")
	}
	s.operate("stock", "check").ok(t)

	check.OK(t, os.WriteFile(other.path(), nil, 0o600)) // an empty file is an empty database
	other.operate("restore", "--from", file).ok(t)
	other.operate("migrate").ok(t)
	if _, err := os.Stat(other.path() + ".old"); err == nil {
		t.Error("an empty database was kept")
	}
}

// The log of a damaged database cannot be taken into its file, so both are kept.
func TestRestoreOverDamage(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	file := s.backedUp()
	damaged := []byte(strings.Repeat("no database ", 1000))
	for _, suffix := range []string{"", "-wal"} {
		check.OK(t, os.WriteFile(s.path()+suffix, damaged, 0o600))
	}
	s.operate("restore", "--from", file).refused(t, 1, "not empty", "--replace")
	s.operate("restore", "--from", file, "--replace").ok(t)
	s.checkFile()
	for _, suffix := range []string{"", "-wal"} {
		if kept, err := os.ReadFile(s.path() + ".old" + suffix); err != nil || !bytes.Equal(kept, damaged) {
			t.Errorf(".old%s has %d bytes, %v", suffix, len(kept), err)
		}
	}
}
