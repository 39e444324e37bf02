package e2e_test

import (
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"purveyor/internal/testkit/check"
)

// litestream copies a shop's database, as deploy/litestream.yml says.
type litestream struct {
	t             *testing.T
	shop          *shop
	path, config  string
	log           *process
	restartedLogs map[uint64]bool // marks of the logs that were seen
}

// newLitestream names the program by PURVEYOR_TEST_LITESTREAM, which scripts/test full sets.
func newLitestream(t *testing.T, s *shop) *litestream {
	t.Helper()
	l := &litestream{t: t, shop: s, path: os.Getenv("PURVEYOR_TEST_LITESTREAM"), restartedLogs: map[uint64]bool{}}
	if l.path == "" {
		t.Skip("runs in scripts/test full")
	}
	text, err := os.ReadFile("../deploy/litestream.yml")
	check.OK(t, err)
	place := strings.NewReplacer("/var/lib/purveyor/purveyor.db", s.path(), "/mnt/replica/purveyor", filepath.Join(t.TempDir(), "replica"))
	l.config = s.file("litestream.yml", place.Replace(string(text)))
	return l
}

func (l *litestream) start() {
	l.log = startProgram(l.t, l.path, nil, "replicate", "-config", l.config)
}

// restored is a copy of the copy.
func (l *litestream) restored() string {
	l.t.Helper()
	file := filepath.Join(l.t.TempDir(), "restored.db")
	run(l.t, l.path, "restore", "-config", l.config, "-o", file, l.shop.path())
	return file
}

// looks notes the mark (the salts) that SQLite gives to the log each time that it starts again.
func (l *litestream) looks() int {
	f, err := os.Open(l.shop.path() + "-wal")
	if err == nil {
		head := make([]byte, 24)
		if n, _ := f.Read(head); n == len(head) {
			l.restartedLogs[binary.BigEndian.Uint64(head[16:])] = true
		}
		f.Close()
	}
	return len(l.restartedLogs)
}

// Litestream copies orders through restarts of the log and its own death; what it restores has all
// that was acknowledged, and the books are equal.
func TestLitestream(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	copier := newLitestream(t, s)
	copier.start()
	var sent []*attempt
	l := &callLog{shop: s}
	for round := range 3 {
		p, c := s.serve()
		wait := l.load(c, round)
		for i, logs := 0, copier.looks(); copier.looks() < logs+2; i++ {
			if i == 100 {
				t.Fatal("the log does not start again")
			}
			s.operate("import", s.file("large.json", changed(largeCatalog(2000), i))).ok(t)
			l.waitForLoad(t, 20)
		}
		if round < 2 {
			copier.log.kill()
			copier.start()
		}
		l.waitForLoad(t, times(50))
		p.kill()
		sent = append(sent, wait()...)
	}
	var file string
	check.Eventually(t, 2*patience, patience/60, "a copy with all of the books", func() bool {
		file = copier.restored()
		copied := &shop{t: t, dir: t.TempDir()}
		check.OK(t, os.Link(file, copied.path()))
		return slices.Equal(copied.books(), s.books())
	})
	copier.log.kill()

	operate(t, "backup", "verify", file, "--against", s.url()).ok(t)
	to := &shop{t: t, dir: t.TempDir(), partner: s.partner}
	to.operate("restore", "--from", file).ok(t)
	if is, was := to.books(), s.books(); !slices.Equal(is, was) {
		t.Errorf("the books are\n%s\nand were\n%s", strings.Join(is, "\n"), strings.Join(was, "\n"))
	}
	to.operate("ledger", "check", "--books").ok(t)
	l.shop = to
	_, c := to.serve()
	checkAcknowledged(c, sent)
	l.repeatUnanswered(c, sent)
	l.check(c)
}

// changed gives each product of a catalog another name.
func changed(catalog map[string]any, round int) map[string]any {
	for _, p := range catalog["products"].([]map[string]any) {
		p["name"] = fmt.Sprint("Large ", round)
	}
	return catalog
}
