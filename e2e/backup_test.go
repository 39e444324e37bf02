package e2e_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"purveyor/internal/testkit/check"
)

// backups are the whole backups in a folder, the oldest first.
func backups(t *testing.T, dir string) []string {
	t.Helper()
	list, err := filepath.Glob(filepath.Join(dir, "shop-*.db"))
	check.OK(t, err)
	return list
}

// A backup under load is sound, private, and says what it has. What was changed in it later is found.
func TestBackup(t *testing.T) {
	t.Parallel()
	s, to := newShop(t), t.TempDir()
	p, c := s.serve()
	l := &callLog{shop: s}
	l.loadBy(0, func(a *attempt) (more bool) {
		if l.send(c, a); l.acked.Load() == times(20) {
			s.operate("backup", "--to", to).ok(t)
		}
		return l.acked.Load() < times(60)
	})()
	list := backups(t, to)
	if len(list) == 0 {
		t.Fatal("there is no backup")
	}
	file := list[0]
	for _, f := range []string{file, file + ".json", filepath.Join(to, "last-backup.json")} {
		info, err := os.Stat(f)
		check.OK(t, err)
		if info.Mode().Perm() != 0o600 {
			t.Errorf("%s has the mode %v", f, info.Mode())
		}
	}
	var said struct {
		NewestOrder struct{ ID string } `json:"newest_order"`
		Rows        map[string]int
	}
	text, err := os.ReadFile(file + ".json")
	check.OK(t, err)
	check.OK(t, json.Unmarshal(text, &said))
	if said.Rows["orders"] < 1 || said.Rows["partners"] != 1 || said.NewestOrder.ID == "" {
		t.Errorf("the report is %s", text)
	}
	printed := operate(t, "backup", "verify", file, "--against", s.url(), "--record", to).ok(t)
	if !strings.Contains(printed, "is sound") || !strings.Contains(printed, "newest order") {
		t.Errorf("printed %s", printed)
	}
	p.stop()

	if part, err := filepath.Glob(filepath.Join(to, "*.part*")); err != nil || len(part) > 0 {
		t.Errorf("left: %q (%v)", part, err)
	}
	copied := &shop{t: t, dir: t.TempDir()}
	data, err := os.ReadFile(file)
	check.OK(t, err)
	check.OK(t, os.WriteFile(copied.path(), data, 0o600))
	execute(t, copied.path(), "UPDATE stock SET quantity = quantity + 1 WHERE product_id = 'p1'")
	operate(t, "backup", "verify", copied.path(), "--record", to).refused(t, 1, "stock does not add up")
	check.OK(t, os.Rename(copied.path(), file))
	operate(t, "backup", "verify", file).refused(t, 1, "SHA-256")
}

func TestBackupRefused(t *testing.T) {
	t.Parallel()
	s, to := newShop(t), t.TempDir()
	s.operate("backup", "--to", filepath.Join(to, "no")).refused(t, 1, "--to", "no such file")
	s.operate("backup", "--to", s.path()).refused(t, 1, "--to", "folder")
	s.operate("backup", "--to", to, "--keep", "7").refused(t, 2, "--keep", "7,4,12")
	operate(t, "backup", "--to", to, "--database", "postgres://x@127.0.0.1/x").refused(t, 1, "SQLite")
	operate(t, "backup", "--to", to, "--database", "sqlite:"+filepath.Join(to, "none.db")).refused(t, 1, "no such file")
	operate(t, "backup", "verify", s.file("text.db", "no database")).refused(t, 1, "not a SQLite database")
	if list := backups(t, to); len(list) > 0 {
		t.Errorf("left: %q", list)
	}
}

// A backup that SIGKILL has cut leaves nothing that looks like one, and does not stand in the way.
func TestKilledBackup(t *testing.T) {
	t.Parallel()
	s, to := newShop(t), t.TempDir()
	execute(t, s.path(), "CREATE TABLE ballast (x BLOB); WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 4000) INSERT INTO ballast SELECT randomblob(4000) FROM n")
	p := startProgram(t, program(t), nil, "backup", "--to", to, "--database", s.url())
	check.Eventually(t, patience, pollPause/10, "the copy begins", func() bool {
		part, err := filepath.Glob(filepath.Join(to, "*.part"))
		check.OK(t, err)
		return len(part) > 0
	})
	p.kill()
	for _, file := range backups(t, to) {
		operate(t, "backup", "verify", file).ok(t) // it was faster
	}
	part, err := filepath.Glob(filepath.Join(to, "*.part"))
	check.OK(t, err)
	for _, file := range part {
		operate(t, "backup", "verify", file).refused(t, 1)
	}
	s.operate("backup", "--to", to).ok(t)
	if part, err = filepath.Glob(filepath.Join(to, "*.part")); err != nil || len(part) > 0 {
		t.Errorf("left: %q (%v)", part, err)
	}
}

// The metrics of a service have the last backup: none, a sound one, one that failed since.
func TestBackupMetrics(t *testing.T) {
	t.Parallel()
	s, to := newShop(t), t.TempDir()
	p, _ := s.serve("--metrics-listen", "127.0.0.1:0", "--backup-dir", to)
	scrape := monitorOf(p)
	shows := func(when, line string, want bool) {
		t.Helper()
		if text := scrape(t); strings.Contains(text, "\npurveyor_"+line) != want {
			t.Errorf("%s: %q is there: %v", when, line, !want)
		}
	}
	shows("at first", `backup_ok{kind="backup"} 0`, true)
	shows("at first", "backup_age_seconds", false)
	s.operate("backup", "--to", to).ok(t)
	shows("after a backup", `backup_ok{kind="backup"} 1`, true)
	shows("after a backup", `backup_age_seconds{kind="backup"} `, true)
	shows("after a backup", `backup_ok{kind="replica"}`, false)
	operate(t, "backup", "verify", s.file("text.db", "no database"), "--record", to).refused(t, 1)
	shows("after a replica that is not sound", `backup_ok{kind="replica"} 0`, true)
	shows("after a replica that is not sound", `backup_ok{kind="backup"} 1`, true)
	p.stop()
	s.operate("serve", "--listen", "127.0.0.1:0", "--backup-dir", filepath.Join(to, "no")).refused(t, 1, "--backup-dir", "no such file")
}
