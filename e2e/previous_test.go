package e2e_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"purveyor/internal/storage/sqlite"
	"purveyor/internal/testkit/check"
)

// trial is the migration of the next release in these tests: a table with a backfill, an
// index, and a column with a default. What takes long comes first, and what keeps a table
// from others last.
const trial = `CREATE TABLE trial_notes (
  store_id TEXT NOT NULL,
  order_id TEXT NOT NULL,
  note TEXT NOT NULL,
  PRIMARY KEY (store_id, order_id)
);

INSERT INTO trial_notes (store_id, order_id, note) SELECT store_id, id, status FROM orders;

CREATE INDEX orders_trial ON orders (store_id, status, id);

ALTER TABLE orders ADD COLUMN trial_note TEXT NOT NULL DEFAULT 'none';

UPDATE orders SET trial_note = status WHERE status = 'delivered';
`

// releases are the programs of the releases before and after the one under test.
type releases struct{ previous, next string }

var errNoHistory = errors.New("the repository does not have the commit that the file previous-release names")

// buildReleases builds the program of the commit that the file previous-release names,
// without the names of folders in it, so that Go compiles it once and for all; and this
// program with the trial migration.
var buildReleases = sync.OnceValues(func() (r releases, err error) {
	name, err := os.ReadFile("../previous-release")
	if err != nil {
		return r, err
	}
	commit := strings.TrimSpace(string(name))
	if out, err := exec.Command("git", "cat-file", "-e", commit+"^{commit}").CombinedOutput(); err != nil {
		return r, fmt.Errorf("%w, %s: %w: %s", errNoHistory, commit, err, out)
	}
	dir := filepath.Dir(programPath)
	source := filepath.Join(dir, "previous-source")
	if err := os.Mkdir(source, 0o755); err != nil {
		return r, err
	}
	archive := filepath.Join(dir, "previous.tar")
	r = releases{filepath.Join(dir, "purveyor-previous"), filepath.Join(dir, "purveyor-next")}
	overlay, err := overlayTrial(dir)
	if err != nil {
		return r, err
	}
	for _, c := range []struct {
		dir  string
		args []string
	}{
		{"..", []string{"git", "archive", "--output=" + archive, commit, "go.mod", "go.sum", "cmd", "internal", "docs"}},
		{source, []string{"tar", "-xf", archive}},
		{source, []string{"go", "build", "-trimpath", "-ldflags=-w", "-o", r.previous, "./cmd/purveyor"}},
		{"..", []string{"go", "build", "-overlay", overlay, "-ldflags=-w", "-o", r.next, "./cmd/purveyor"}},
	} {
		cmd := exec.Command(c.args[0], c.args[1:]...)
		cmd.Dir = c.dir
		if out, err := cmd.CombinedOutput(); err != nil {
			return r, fmt.Errorf("%q: %w: %s", c.args, err, out)
		}
	}
	return r, nil
})

// overlayTrial writes the trial migration, and the file that puts it into a build.
func overlayTrial(dir string) (path string, err error) {
	file := filepath.Join(dir, "trial.sql")
	if err := os.WriteFile(file, []byte(trial), 0o644); err != nil {
		return "", err
	}
	replace := map[string]string{}
	for _, engine := range []string{"sqlite", "postgres"} {
		in, err := filepath.Abs(fmt.Sprintf("../internal/storage/%s/migrations/%04d_trial.sql", engine, sqlite.Schema()+1))
		if err != nil {
			return "", err
		}
		replace[in] = file
	}
	data, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		return "", err
	}
	path = filepath.Join(dir, "overlay.json")
	return path, os.WriteFile(path, data, 0o644)
}

// threeReleases returns the programs before and after the one under test. Without the
// history, as in a shallow clone or an unpacked archive, the test is skipped.
func threeReleases(t *testing.T) releases {
	t.Helper()
	program(t)
	r, err := buildReleases()
	if err == nil {
		return r
	}
	shallow, _ := exec.Command("git", "rev-parse", "--is-shallow-repository").Output() // nothing without a repository
	if errors.Is(err, errNoHistory) && strings.TrimSpace(string(shallow)) != "false" {
		t.Skip(err)
	}
	t.Fatal(err)
	return r
}

// The release before works on a database that this program and the next release have
// migrated, with all that it had before.
func TestPreviousRelease(t *testing.T) {
	t.Parallel()
	r := threeReleases(t)
	for name, s := range map[string]*shop{"sqlite": {dir: t.TempDir()}, "postgres": {postgres: database(t)}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s.t, s.program = t, r.previous
			s.fill()
			p, c := s.serve()
			before := c.must(201, report("before", "p1", "p2"))
			p.stop()
			for _, program := range []string{"", r.next} {
				s.program = program
				s.operate("migrate").ok(t)
			}
			s.program = ""
			s.operate("partner", "list").ok(t) // this program takes the newer schema
			s.program = r.previous
			s.smoke(before)
			s.program = r.next
			_, c = s.serve()
			if again := c.must(201, report("before", "p1", "p2")); string(again.body) != string(before.body) {
				t.Errorf("repeated after the way back: %s, then %s", before.body, again.body)
			}
			s.operate("ledger", "check").ok(t)
			s.operate("stock", "check").ok(t)
		})
	}
}

// smoke uses everything once that a partner and an operator need.
func (s *shop) smoke(before answer) {
	t := s.t
	t.Helper()
	s.operate("migrate").ok(t)
	to := newSink(t)
	s.operate("import", s.file("catalog.json", oldCatalog())).ok(t)
	u := &oldUser{t: t, shop: s, made: oldShop{Partners: map[string]issued{}}}
	partner := u.partner("Smoke", "--callback-url", to.URL+"/smoke")
	s.operate("user", "create", "--email", "jo@s.example").ok(t)
	p, c := s.serve("--sandbox-step", "10ms", allowPrivate)
	u.base = c.base
	if again := c.must(201, report("before", "p1", "p2")); string(again.body) != string(before.body) {
		t.Errorf("repeated: %s, then %s", before.body, again.body)
	}
	u.catalog(partner.Keys.Live)
	reported := u.must(201, partner.Keys.Live, "/v1/orders/report", oldReport("S-1", nil)).orderID(t)
	u.advance(partner.Keys.Live, reported, "ready-for-pickup", "picked-up")
	u.must(201, partner.Keys.Test, "/v1/orders/report", oldReport("S-2", oldAddress("")))
	paid := u.pay(partner.Keys.Test, "paid@example.com", "p2")
	u.must(200, partner.Keys.Test, "/v1/orders/"+paid+"/cancel", map[string]any{"refund": true})
	refunded := u.pay(partner.Keys.Test, "refunded@example.com", "p3")
	u.advance(partner.Keys.Test, refunded, "confirm")
	u.must(200, partner.Keys.Test, "/v1/orders/"+refunded+"/refund", map[string]any{"amount_cents": 100})
	u.eventually("the delivery", "SELECT '' || count(*) FROM orders WHERE status = 'delivered'", "1")
	check.Eventually(t, patience, pollPause, "webhooks of the orders", func() bool { return len(to.at("/smoke")) > 10 })
	s.operate("jobs", "list").ok(t)
	s.operate("audit", "list").ok(t)
	if text := s.operate("webhook", "list", partner.PartnerID).ok(t); !strings.Contains(text, reported) {
		t.Errorf("webhooks without order %s:\n%s", reported, text)
	}
	p.stop()
	s.operate("ledger", "check").ok(t)
	s.operate("stock", "check").ok(t)
}

// Three processes of the release before are replaced by the next release, one by one and
// under load. The first migrates; no request is refused.
func TestFleetUpgraded(t *testing.T) {
	t.Parallel()
	r := threeReleases(t)
	s := &shop{t: t, postgres: database(t), program: r.previous}
	underFault(t, s, func(f *fleet) {
		s.program = r.next
		for _, m := range f.members {
			f.replace(m, func(m *member) { m.process.stop() })
		}
		if n := f.failed.Load(); n > 0 {
			t.Errorf("%d requests were answered as failed, want none", n)
		}
	})
	if n := s.count("SELECT '' || count(*) FROM orders WHERE trial_note = 'none'"); n == "0" {
		t.Error("no order of the next release")
	}
}
