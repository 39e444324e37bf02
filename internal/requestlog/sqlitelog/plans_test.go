package sqlitelog

import (
	"path/filepath"
	"strings"
	"testing"

	"purveyor/internal/requestlog"

	"zombiezen.com/go/sqlite"
)

// Each read walks an index in its order, and sorts nothing.
func TestPlans(t *testing.T) {
	s := New(filepath.Join(t.TempDir(), "shop.db"))
	defer s.Close()
	if err := s.Write(t.Context(), 20261126, []requestlog.Chunk{{PartnerID: "a"}}, nil); err != nil {
		t.Fatal(err)
	}
	for sql, want := range map[string]string{
		selectChunks:    "SEARCH c USING INDEX sqlite_autoindex_requests_20261126_1 (partner_id=? AND last_at>? AND (last_at,writer,number)<(?,?,?))",
		selectUnindexed: "SEARCH c USING INDEX requests_20261126_unindexed (partner_id=? AND last_at>? AND (last_at,writer,number)<(?,?,?))",
		selectByRef:     "SEARCH r USING PRIMARY KEY (ref=? AND last_at>? AND (last_at,writer,number)<(?,?,?)); SEARCH c USING INDEX sqlite_autoindex_requests_20261126_1 (partner_id=? AND last_at=? AND writer=? AND number=?)",
		selectCounts:    "SEARCH counts_20261126 USING PRIMARY KEY (partner_id=? AND minute>?)",
	} {
		var plan []string
		err := s.read(t.Context(), func(conn *sqlite.Conn) error {
			stmt, _, err := conn.PrepareTransient("EXPLAIN QUERY PLAN " + of(20261126, sql))
			if err != nil {
				return err
			}
			defer stmt.Finalize()
			for {
				if more, err := stmt.Step(); err != nil || !more {
					return err
				}
				plan = append(plan, stmt.ColumnText(3))
			}
		})
		if got := strings.Join(plan, "; "); got != want || err != nil {
			t.Errorf("%s:\n got %s, %v\nwant %s", sql, got, err, want)
		}
	}
}
