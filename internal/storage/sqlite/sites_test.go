package sqlite

import (
	"testing"
	"time"

	"purveyor/internal/storage/storagetest"
)

// A search for nearby stores reads an index alone, and of it what is in the area.
func TestSitesPlan(t *testing.T) {
	e := fresh(t).Open(t, time.Now).(*Engine)
	conn := <-e.readers
	defer func() { e.readers <- conn }()
	plan := ""
	if err := query(conn, "EXPLAIN QUERY PLAN "+sitesSQL, noArgs, func(s *scanner) { plan += s.stmt.ColumnText(3) }); err != nil {
		t.Fatal(err)
	}
	if want := "SEARCH stores USING COVERING INDEX stores_place (active=? AND band=? AND lng>? AND lng<?)"; plan != want {
		t.Errorf("%s, want %s", plan, want)
	}
}

func BenchmarkSites(b *testing.B) { storagetest.BenchmarkSites(b, fresh(b)) }
