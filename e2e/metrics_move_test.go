package e2e_test

import (
	"fmt"
	"maps"
	"net/http"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"purveyor/internal/testkit/check"
	"purveyor/internal/testkit/office"

	"zombiezen.com/go/sqlite/sqlitex"
)

// still are the metrics whose values the runs below do not change, and why. There are five at most.
var still = map[string]string{
	"build_info":                         "a program is what it is",
	"database_up":                        "SQLite: a file that is there answers reads",
	"database_clock_offset_seconds":      "SQLite: its clock is that of the machine",
	"sqlite_checkpoint_duration_seconds": "a log is copied once it has 128 MB",
}

// ofEngine reports whether an engine has a metric.
func ofEngine(postgres bool, name string) bool {
	return !strings.HasPrefix(name, map[bool]string{true: "sqlite_", false: "postgres_"}[postgres]) && (!postgres || name != "disk_free_bytes")
}

// watched scrapes processes, and remembers which metrics have had several values.
type watched struct {
	t       *testing.T
	scrapes []func(*testing.T) string
	first   map[string]float64
	changed map[string]bool
}

// look adds up each metric over its labels. A metric that is not there is 0.
func (w *watched) look() {
	w.t.Helper()
	sums := map[string]float64{}
	for _, scrape := range w.scrapes {
		for _, line := range strings.Split(scrape(w.t), "\n") {
			name, value, _ := strings.Cut(strings.TrimPrefix(line, "purveyor_"), " ")
			name, _, _ = strings.Cut(name, "{")
			if line == name || strings.HasPrefix(line, "#") || strings.HasSuffix(name, "_bucket") {
				continue
			}
			if i := strings.LastIndex(line, " "); i > 0 {
				value = line[i+1:]
			}
			n, err := strconv.ParseFloat(value, 64)
			check.OK(w.t, err)
			sums[strings.TrimSuffix(strings.TrimSuffix(name, "_sum"), "_count")] += n
		}
	}
	if w.first == nil {
		w.first = sums
	}
	for name, n := range sums {
		w.changed[name] = w.changed[name] || n != w.first[name]
	}
}

// until looks until a metric has changed.
func (w *watched) until(name string) {
	w.t.Helper()
	check.Eventually(w.t, patience, pollPause, name+" to change", func() bool { w.look(); return w.changed[name] })
}

// Every metric that alerts, dashboards and the document for operators name moves in a run with faults,
// a backup and a certificate of its own, on SQLite and on PostgreSQL with a standby, but for those in still.
func TestMetricsMove(t *testing.T) {
	t.Parallel()
	if len(still) > 5 {
		t.Error("too many metrics stay as they are")
	}
	t.Run("sqlite", func(t *testing.T) {
		t.Parallel()
		s := newShop(t)
		metricsMove(t, s, func(w *watched) {
			other := openSQLite(t, s.path())
			defer other.Close()
			check.OK(t, sqlitex.ExecuteTransient(other, "BEGIN IMMEDIATE", nil))
			w.until("ready")
			check.OK(t, sqlitex.ExecuteTransient(other, "ROLLBACK", nil))
		})
	})
	t.Run("postgres", func(t *testing.T) {
		t.Parallel()
		server := newPostgres(t)
		standby, err := server.Standby("")
		check.OK(t, err)
		t.Cleanup(func() { check.OK(t, standby.Close()) })
		check.OK(t, server.SQL("CREATE DATABASE shop"))
		s := &shop{t: t, postgres: server.URL("shop"), dir: t.TempDir()}
		s.fill()
		metricsMove(t, s, func(w *watched) {
			check.OK(t, server.Stop())
			w.until("ready")
			w.until("database_up")
			check.OK(t, server.Restart())
		})
	})
}

func metricsMove(t *testing.T, s *shop, fault func(*watched)) {
	backups, to := t.TempDir(), newSink(t)
	to.answer = func(received) int { return http.StatusInternalServerError }
	s.hook(to, "/hook")
	cert, key := certify(t, 1)
	certFile, keyFile := s.file("cert.pem", ""), s.file("key.pem", "")
	check.OK(t, os.WriteFile(certFile, cert, 0o600))
	check.OK(t, os.WriteFile(keyFile, key, 0o600))
	d := newDispatch(s, allowPrivate, "--metrics-listen", "127.0.0.1:0", "--backup-dir", backups)
	secure := start(t, nil, "serve", "--database", s.url(), "--listen", "127.0.0.1:0", "--tls-cert", certFile, "--tls-key", keyFile, "--metrics-listen", "127.0.0.1:0")
	secure.serves()
	w := &watched{t: t, scrapes: []func(*testing.T) string{monitorOf(d.process), monitorOf(secure)}, changed: map[string]bool{}}
	w.look()

	newShop(t).operate("backup", "--to", backups).ok(t)
	owner := s.accept(d.base, s.users("create", "--email", "bo@e.example", "--role", "owner"))
	if status, _ := office.New(t, d.base).Post("/office/login", "email", "bo@e.example", "password", "wrong", "next", ""); status >= 500 {
		t.Errorf("a wrong password: %d", status)
	}
	board, err := owner.Client.Get(d.base + "/office/board/stream")
	check.OK(t, err)
	defer board.Body.Close()
	sold := d.sold()
	d.client.followed(sold.OrderID, false)
	d.postCallbacks(2)
	refunded := d.paid()
	d.must(200, post("/v1/orders/"+refunded+"/refund", "refund", map[string]any{"amount_cents": 30}))
	d.must(404, get("/v1/orders/none"))
	d.refuseUs()
	d.place(201, d.report())
	w.until("attention_oldest_seconds") // the next try ends the reason
	d.takeUs()
	w.until("board_push_seconds")
	fault(w)
	d.eventuallyStatus(patience, 200, get("/readyz"))
	now := time.Now().UnixMilli() // a refund that is late, because another process has it
	s.change(fmt.Sprintf("INSERT INTO jobs (slot, id, kind, owner, subject, state, run_at, tries, probes, error, leased_by, leased_until) VALUES (31, 'job_x', 'refund_payment', 's1', 'x', 'waiting', %d, 0, 0, '', 'another', %d)", now-60_000, now+29_000))

	var missing []string
	t.Cleanup(func() {
		if len(missing) > 0 {
			t.Errorf("not changed: %q", missing)
		}
	})
	n := 0
	check.Eventually(t, 2*patience, pollPause, "all metrics to change", func() bool {
		n++
		d.must(201, report(fmt.Sprint("more ", n), "p2"))
		w.look()
		missing = slices.DeleteFunc(namedMetrics(t), func(name string) bool {
			return w.changed[name] || still[name] != "" || !ofEngine(s.postgres != "", name)
		})
		return len(missing) == 0
	})
	for name := range maps.Keys(still) {
		if w.changed[name] && s.postgres == "" {
			t.Errorf("%s has changed: it need not be left out", name)
		}
	}
}
