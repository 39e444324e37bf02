package postgres

import (
	"context"
	"regexp"
	"testing"
	"time"

	"purveyor/internal/storage/storagetest"
)

// A search for nearby stores reads an index alone, and of it what is in the
// area, even when the server takes the table for empty.
func TestSitesPlan(t *testing.T) {
	for _, rows := range []int{0, 4000} {
		url := database(t)
		e := address(url).Open(t, time.Now).(*Engine)
		fillTables(t, url, rows)
		reader, err := e.readers.Acquire(context.Background())
		if err != nil {
			t.Fatal(err)
		}
		defer reader.Release()
		p := planOf(t, reader.Conn(), sitesSQL)
		if p.Kind != "Nested Loop" || len(p.Plans) != 2 {
			t.Fatalf("with %d rows: %+v", rows, p)
		}
		inner := p.Plans[1]
		for len(inner.Plans) == 1 { // the limit
			inner = inner.Plans[0]
		}
		if inner.Kind != "Index Only Scan" || inner.Index != "stores_place" || !regexp.MustCompile(`active.*band.*lng >=.*lng <=`).MatchString(inner.Cond) {
			t.Errorf("with %d rows: %+v", rows, inner)
		}
	}
}

func BenchmarkSites(b *testing.B) { storagetest.BenchmarkSites(b, fresh(b)) }
