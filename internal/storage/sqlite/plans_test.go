package sqlite

import (
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"purveyor/internal/storage"
	"purveyor/internal/storage/schema"
	"purveyor/internal/storage/storagetest"
)

type file string

func (f file) Open(t testing.TB, now func() time.Time) storage.Engine {
	// Several engines write to one file in some cases, on a disk that may be busy.
	e, err := Open(string(f), Options{Now: now, BusyTimeout: time.Minute})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := e.Close(); err != nil {
			t.Error(err)
		}
	})
	return e
}

func fresh(t testing.TB) storagetest.Database { return file(copies(t)) }

// copies does what testkit/database does, which tests inside this package cannot import.
var copies = storagetest.Copies(func(path string, now func() time.Time) (storage.Engine, error) {
	return Open(path, Options{Now: now})
})

func TestCopies(t *testing.T) { storagetest.RunCopies(t, fresh, fresh) }

// Every table is copied but what the engine keeps for itself.
func TestPlainsAreAllTables(t *testing.T) {
	e := fresh(t).Open(t, time.Now).(*Engine)
	conn := <-e.readers
	defer func() { e.readers <- conn }()
	var tables, plains []string
	err := query(conn, "SELECT m.name, group_concat(c.name, ', ' ORDER BY c.name) FROM sqlite_schema m JOIN pragma_table_info(m.name) c"+
		" WHERE m.type = 'table' AND m.name NOT IN ('meta', 'migrations') GROUP BY m.name", noArgs,
		func(s *scanner) { tables = append(tables, s.Text()+": "+s.Text()) })
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range schema.Plains {
		columns := schema.Split(p.Columns)
		slices.Sort(columns)
		plains = append(plains, p.Name+": "+strings.Join(columns, ", "))
	}
	slices.Sort(plains)
	slices.Sort(tables)
	if !slices.Equal(tables, plains) {
		t.Errorf("tables:\n%s\ncopied:\n%s", strings.Join(tables, "\n"), strings.Join(plains, "\n"))
	}
}

// TestConformance runs the suite, then asks SQLite for the plan of every
// statement that it sent: each must find its rows by an index, in order.
func TestConformance(t *testing.T) {
	var mu sync.Mutex
	sent := map[string]bool{}
	observeBy(t, func(sql string) {
		mu.Lock()
		defer mu.Unlock()
		sent[sql] = true
	})
	t.Run("suite", func(t *testing.T) {
		storagetest.Run(t, fresh)
	})
	observe.Store(nil)
	checkPlans(t, sent)
}

// observeBy has statements seen by f until the test ends.
func observeBy(t *testing.T, f func(sql string)) {
	observe.Store(&f)
	t.Cleanup(func() { observe.Store(nil) })
}

// Small tables that are listed whole, and sorted in memory, and what ends by a LIMIT.
var listedWhole = []string{"SCAN categories", "SCAN partners", "SCAN users", "SCAN stored_replies", "USE TEMP B-TREE FOR ORDER BY", "SCAN json_each",
	"SCAN endpoints", "SCAN few", "SCAN jobs USING INDEX jobs_parked", "SCAN jobs USING INDEX jobs_held", "SCAN jobs USING COVERING INDEX jobs_refunds", "SCAN jobs USING INDEX jobs_dead", "SCAN attention USING COVERING INDEX attention_open"}

func checkPlans(t *testing.T, sent map[string]bool) {
	e := file(filepath.Join(t.TempDir(), "plans.db")).Open(t, time.Now).(*Engine)
	reader, rates := <-e.readers, <-e.rates
	defer func() { e.readers <- reader; e.rates <- rates }()
	checked := 0
	for sql := range sent {
		if strings.HasPrefix(sql, "INSERT") || strings.HasPrefix(sql, "BEGIN") || sql == "COMMIT" || sql == "ROLLBACK" {
			continue
		}
		checked++
		conn := reader
		if strings.Contains(sql, "rate_windows") {
			conn = rates
		}
		err := query(conn, "EXPLAIN QUERY PLAN "+sql, noArgs, func(s *scanner) {
			step := s.stmt.ColumnText(3)
			whole := slices.ContainsFunc(listedWhole, func(allowed string) bool { return strings.HasPrefix(step, allowed) })
			ordered := strings.HasPrefix(step, "SCAN") && strings.Contains(step, "USING COVERING INDEX") && strings.Contains(sql, "stock_feed")
			if (strings.HasPrefix(step, "SCAN") && step != "SCAN CONSTANT ROW" && !whole && !ordered) ||
				(strings.Contains(step, "TEMP B-TREE") && !strings.Contains(sql, "FROM categories") && !strings.Contains(sql, "GROUP BY kind, state")) {
				t.Errorf("%s\n  plan: %s", sql, step)
			}
		})
		if err != nil {
			t.Errorf("%s: %v", sql, err)
		}
	}
	if checked < 40 {
		t.Errorf("only %d statements were checked", checked)
	}
}
