package postgreslog

import (
	"fmt"
	"strings"
	"testing"

	"purveyor/internal/requestlog"
	"purveyor/internal/testkit/database"

	"github.com/jackc/pgx/v5"
)

// Each read walks an index in its order, and sorts nothing.
func TestPlans(t *testing.T) {
	s, err := New(database.Postgres(t))
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if err := s.Write(t.Context(), 20261126, []requestlog.Chunk{{PartnerID: "a"}}, nil); err != nil {
		t.Fatal(err)
	}
	const chunks = "Index Scan Backward using request_log_20261126_pkey on request_log_20261126 c"
	for sql, want := range map[string][]string{
		selectChunks:    {chunks},
		selectUnindexed: {"Index Scan Backward using request_log_20261126_unindexed on request_log_20261126 c"},
		selectByRef:     {"Index Only Scan Backward using request_log_refs_20261126_pkey on request_log_refs_20261126 r", "Index Scan using request_log_20261126_pkey on request_log_20261126 c"},
		selectCounts:    {"Index Scan using request_log_counts_20261126_pkey on request_log_counts_20261126"},
	} {
		args := []any{"a", int64(1), int64(1), int64(1), int64(1), int64(1), int64(1), int64(1)}
		for len(args) > 0 && !strings.Contains(sql, fmt.Sprint("$", len(args))) {
			args = args[:len(args)-1]
		}
		rows, err := s.pool.Query(t.Context(), "EXPLAIN (COSTS OFF) "+of(20261126, sql), append([]any{pgx.QueryExecModeExec}, args...)...)
		if err != nil {
			t.Fatal(err)
		}
		lines, err := pgx.CollectRows(rows, pgx.RowTo[string])
		if err != nil {
			t.Fatal(err)
		}
		plan := strings.Join(lines, "\n")
		for _, scan := range want {
			if !strings.Contains(plan, scan) {
				t.Errorf("%s:\n%s\nhas no %s", sql, plan, scan)
			}
		}
		if strings.Contains(plan, "Sort") || strings.Contains(plan, "Seq Scan") || strings.Contains(plan, "Bitmap") {
			t.Errorf("%s:\n%s", sql, plan)
		}
	}
}
