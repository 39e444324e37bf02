package e2e_test

import (
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"
	"time"

	"purveyor/internal/testkit/check"
)

// The process is killed in the middle of its work, again and again on one database.
// Everything that was answered is stored, and repeats with the same keys give the
// rest.
func TestKilledUnderLoad(t *testing.T) { onBoth(t, killedUnderLoad) }

func killedUnderLoad(t *testing.T, s *shop) {
	l := &callLog{shop: s}
	unanswered := 0
	for round := range 4 {
		p, c := s.serve()
		wait := l.load(c, round)
		l.waitForLoad(t, times(50))
		time.Sleep(rand.N(30 * time.Millisecond)) // at a random moment of a batch, not always after the same answer
		p.kill()
		sent := wait()
		for _, a := range sent {
			if a.err != nil && a.sent.Load() > 0 {
				unanswered++
			}
		}

		p, c = s.serve()
		checkAcknowledged(c, sent)
		l.repeatUnanswered(c, sent)
		l.check(c)
		if t.Failed() {
			t.Fatalf("in round %d", round)
		}
		p.kill() // the next round starts from a file that was not closed
	}
	if unanswered == 0 {
		t.Error("every request that was sent was answered, so the kills hit nothing")
	}
}

// A command of the operator that is killed leaves a working file.
func TestKilledImport(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	const size = 500
	file := s.file("large.json", largeCatalog(size))
	query, all := "SELECT count(*) FROM products WHERE id LIKE 'large%'", strconv.Itoa(size)
	for range 3 {
		p := start(t, nil, "import", file, "--database", s.url())
		wal := s.path() + "-wal"
		check.Eventually(t, patience, pollPause, "the import to be at work, or over", func() bool {
			select {
			case <-p.done:
				return true
			default:
				return fileSize(wal) > 0
			}
		})
		p.kill()
		if got := s.count(query); got != "0" && got != all {
			t.Fatalf("a killed import left %s of %s products", got, all)
		}
		s.checkFile()
	}
	s.operate("import", file).ok(t)
	if got := s.count(query); got != all {
		t.Errorf("%s products after the import, want %s", got, all)
	}
}

// largeCatalog is one change of many rows.
func largeCatalog(products int) map[string]any {
	list := make([]map[string]any, products)
	for i := range list {
		list[i] = map[string]any{"id": fmt.Sprintf("large%d", i), "name": "Large", "store_id": "s1", "price": 1,
			"description": strings.Repeat("x", 500)}
	}
	return map[string]any{"products": list}
}
