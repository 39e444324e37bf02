package e2e_test

import (
	"io"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"purveyor/internal/testkit/check"
	"purveyor/internal/testkit/pg"
)

// TestMetrics: every metric that alerts, dashboards and the document for operators name is there in a
// demo, which takes payments and refunds, has couriers, webhooks and staff, or is of those that other
// tests see: of PostgreSQL (TestMetricsOfPostgreSQL), or of what the demo does not have.
func TestMetrics(t *testing.T) {
	t.Parallel()
	d := startDemo(t, "--metrics-listen", "127.0.0.1:0", "--sandbox-step", "20ms")
	scrape := monitorOf(d.process)
	refused, err := http.PostForm(d.base+"/office/login", url.Values{"email": {"owner@demo.example"}, "password": {"not the password"}})
	check.OK(t, err)
	check.OK(t, refused.Body.Close())
	missed, err := http.Get(d.base + "/v1/nothing")
	check.OK(t, err)
	check.OK(t, missed.Body.Close())
	elsewhere := []string{"postgres_connections", "postgres_wait_duration_seconds", "postgres_standby_lag_seconds",
		"backup_age_seconds", "backup_ok", "certificate_expiry_seconds"}
	var missing []string
	t.Cleanup(func() {
		if len(missing) > 0 {
			t.Errorf("missing: %q", missing)
		}
	})
	check.Eventually(t, patience, pollPause, "all metrics", func() bool {
		text := scrape(t)
		missing = nil
		for _, name := range namedMetrics(t) {
			if !slices.Contains(elsewhere, name) && !strings.Contains(text, "\npurveyor_"+name) {
				missing = append(missing, name)
			}
		}
		return len(missing) == 0
	})
	text := scrape(t)
	for _, line := range regexp.MustCompile(`(?m)^# TYPE purveyor_(\S+) `).FindAllStringSubmatch(text, -1) {
		if !slices.Contains(namedMetrics(t), line[1]) {
			t.Errorf("docs/OPERATING.md does not name %s", line[1])
		}
	}
	for _, changed := range []string{`purveyor_payments_total{result="captured"} [1-9]`, `purveyor_refunds_total{result="done"} [1-9]`, `purveyor_orders_created_total{mode="test",source="checkout"} [1-9]`,
		`purveyor_provider_calls_total{call="create",provider="sandbox",result="ok"} [1-9]`, `purveyor_callbacks_total{provider="sandbox",result="ok"} [1-9]`, `purveyor_ready 1`,
		`purveyor_database_up 1`, `purveyor_errors_total{code="unauthorized"} [1-9]`, `purveyor_job_attempts_total{kind="dispatch",result="done"} [1-9]`, `purveyor_database_bytes [1-9]`} {
		if !regexp.MustCompile(`(?m)^` + strings.NewReplacer("{", `\{`, "}", `\}`).Replace(changed)).MatchString(text) {
			t.Errorf("no line %s", changed)
		}
	}
}

// TestMetricsOfPostgreSQL: connections and waits for them are seen, and the state of the process in words.
func TestMetricsOfPostgreSQL(t *testing.T) {
	t.Parallel()
	s := &shop{t: t, postgres: pg.Shared(t).Database(t)}
	p, _ := serve(t, s.url(), "--metrics-listen", "127.0.0.1:0")
	page, scrape := operatorsPages(p), monitorOf(p)
	check.Eventually(t, patience, pollPause, "gauges of PostgreSQL", func() bool {
		text := scrape(t)
		return strings.Contains(text, `purveyor_postgres_connections{state="max"} `) && strings.Contains(text, "purveyor_postgres_wait_duration_seconds_count ") && strings.Contains(text, "purveyor_database_up 1")
	})
	for _, line := range []string{"ok   database: it answers reads", "ok   database: it takes writes", "ok   migrations: the schema is number ", "ok   jobs: 0 waiting", "ok   clock: "} {
		if state := page(t, "/readyz?verbose=1"); !strings.Contains(state, line) {
			t.Errorf("no line %q in\n%s", line, state)
		}
	}
	s.change("UPDATE meta SET value = 99 WHERE name = 'schema'")
	if state := page(t, "/readyz?verbose=1"); !strings.Contains(state, "warn migrations: the schema is number 99, and this program knows ") {
		t.Errorf("the schema is not that of the database:\n%s", state)
	}
	if text := scrape(t); strings.Contains(text, "sqlite") || strings.Contains(text, "disk_free") {
		t.Error("there are metrics of SQLite")
	}
}

// monitorOf returns a function that reads the metrics of a process.
func monitorOf(p *process) (scrape func(t *testing.T) string) {
	page := operatorsPages(p)
	return func(t *testing.T) string { t.Helper(); return page(t, "/metrics") }
}

// operatorsPages returns a function that reads a page of what a process serves for operators.
func operatorsPages(p *process) func(t *testing.T, path string) string {
	line := regexp.MustCompile(`msg=metrics url=(\S+)/metrics`)
	return func(t *testing.T, path string) string {
		t.Helper()
		var url string
		check.Eventually(t, patience, pollPause, "the address of the metrics", func() bool {
			if match := line.FindStringSubmatch(p.stderr.String()); match != nil {
				url = match[1]
			}
			return url != ""
		})
		answer, err := http.Get(url + path)
		check.OK(t, err)
		defer answer.Body.Close()
		text, err := io.ReadAll(answer.Body)
		check.OK(t, err)
		return string(text)
	}
}

// namedMetrics are the metrics that alerts, dashboards and the document for operators name.
func namedMetrics(t *testing.T) (names []string) {
	t.Helper()
	files, err := filepath.Glob("../deploy/*/*")
	check.OK(t, err)
	for _, file := range files {
		text, err := os.ReadFile(file)
		check.OK(t, err)
		for _, name := range regexp.MustCompile(`purveyor_([a-z_]+)`).FindAllStringSubmatch(string(text), -1) {
			names = append(names, strings.TrimSuffix(name[1], "_bucket"))
		}
	}
	text, err := os.ReadFile("../docs/OPERATING.md")
	check.OK(t, err)
	_, table, _ := strings.Cut(string(text), "| metric | labels |")
	table, _, _ = strings.Cut(table, "\n\n")
	for _, row := range strings.Split(table, "\n")[2:] {
		for _, name := range regexp.MustCompile("`([a-z_]+)`").FindAllStringSubmatch(strings.Split(row, "|")[1], -1) {
			if strings.Contains(name[1], "_") || name[1] == "jobs" || name[1] == "ready" {
				names = append(names, name[1])
			}
		}
	}
	slices.Sort(names)
	return slices.DeleteFunc(slices.Compact(names), func(name string) bool { return name == "pg_stat_replication" })
}

// TestAlerts: each alert has a case in which it fires and one in which it does not, and its part of the
// document for operators is there.
func TestAlerts(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("-short leaves promtool out")
	}
	cmd := exec.Command("promtool", "test", "rules", "alerts_test.yaml")
	cmd.Dir = "../deploy/prometheus"
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	rules, err := os.ReadFile("../deploy/prometheus/alerts.yaml")
	check.OK(t, err)
	cases, err := os.ReadFile("../deploy/prometheus/alerts_test.yaml")
	check.OK(t, err)
	alerts := regexp.MustCompile(`- alert: (\w+)`).FindAllStringSubmatch(string(rules), -1)
	if len(alerts) != 16 {
		t.Errorf("%d alerts, want 16", len(alerts))
	}
	for _, a := range alerts {
		tried := regexp.MustCompile(`alertname: `+a[1]+"\n        exp_alerts:( \\[\\])?").FindAllStringSubmatch(string(cases), -1)
		if len(tried) != 2 || tried[0][1] == tried[1][1] {
			t.Errorf("%s has no case in which it fires, or none in which it does not", a[1])
		}
	}
	document, err := os.ReadFile("../docs/OPERATING.md")
	check.OK(t, err)
	for _, link := range regexp.MustCompile(`runbook: docs/OPERATING.md#(\S+)`).FindAllStringSubmatch(string(rules), -1) {
		heading := regexp.MustCompile(`(?im)^#+ ` + strings.ReplaceAll(link[1], "-", " ") + `$`)
		if !heading.Match(document) {
			t.Errorf("docs/OPERATING.md has no part %s", link[1])
		}
	}
}
