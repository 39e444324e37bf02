package metrics

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"purveyor/internal/commerce"
	"purveyor/internal/env"
	"purveyor/internal/jobs"
	"purveyor/internal/outside/courier"
	"purveyor/internal/outside/webhook"
	"purveyor/internal/storage"
)

// shown are the lines of the metrics, without comments.
func shown(t *testing.T, m *Metrics) string {
	t.Helper()
	w := httptest.NewRecorder()
	m.Handler().ServeHTTP(w, httptest.NewRequest("GET", "/metrics", nil))
	text, err := io.ReadAll(w.Result().Body)
	if err != nil || w.Code != 200 {
		t.Fatal(w.Code, err)
	}
	return string(text)
}

func has(t *testing.T, text string, lines ...string) {
	t.Helper()
	for _, line := range lines {
		if !strings.Contains(text, "\n"+line+"\n") {
			t.Errorf("missing: %s", line)
		}
	}
}

// TestTold: each thing that is told is counted under its labels.
func TestTold(t *testing.T) {
	m := New(env.Env{}, Build{"1.2", "abc", 7})
	m.Request("listProducts", commerce.Live, 200, "", 3*time.Millisecond)
	m.Request("listProducts", commerce.Live, 200, "", 3*time.Second)
	m.Request("", "", 404, "not_found", time.Millisecond)
	for _, err := range []error{nil, commerce.Conflict("x", "x"), storage.ErrOutcomeUnknown, storage.ErrUnavailable} {
		m.Command("ReportOrder", err)
	}
	m.Command("SignIn", nil)
	m.Command("RefuseSignIn", nil)
	m.Batch(5, time.Millisecond, 2*time.Millisecond, 0, 20*time.Millisecond)
	m.Deeds([]commerce.Deed{{What: commerce.DeedOrder, Of: "report", Mode: commerce.Test}, {What: commerce.DeedPayment, Of: "captured"}, {What: commerce.DeedRefund, Of: "done"}})
	m.Tried(commerce.JobRefund, jobs.GaveUp, time.Minute)
	now := commerce.MillisOf(time.Now())
	for _, r := range []webhook.Result{{Status: 200}, {Status: 500, Error: "status 500"}, {TimedOut: true, Error: "no answer"}, {Error: webhook.RefusedAddress + "10.0.0.1 is private"}, {Error: "connection refused"}} {
		m.Sent(r, now.Add(-time.Minute), r.Status == 200)
	}
	for result, err := range map[string]error{"ok": nil, "unauthorized": &commerce.CredentialsError{}, "limited": &courier.Limited{}, "ambiguous": context.DeadlineExceeded,
		"unreachable": &net.OpError{Op: "dial", Err: errors.New("refused")}} {
		m.Call("uber", result)(err, false)
	}
	m.Call("uber", "refused")(errors.New("no"), true)
	m.Call("uber", "cut")(&net.OpError{Op: "read", Err: errors.New("reset")}, false)
	m.Callback("stripe", "ok")
	m.Pushed(time.Second)
	m.Checkpoints()(time.Second)
	m.Waits()(time.Millisecond)
	has(t, shown(t, m), `purveyor_http_requests_total{mode="live",operation="listProducts",status="200"} 2`,
		`purveyor_http_request_duration_seconds_bucket{mode="live",operation="listProducts",le="0.005"} 1`,
		`purveyor_http_requests_total{mode="",operation="none",status="404"} 1`, `purveyor_errors_total{code="not_found"} 1`,
		`purveyor_commands_total{command="ReportOrder",result="ok"} 1`, `purveyor_commands_total{command="ReportOrder",result="refused"} 1`,
		`purveyor_commands_total{command="ReportOrder",result="unknown"} 1`, `purveyor_commands_total{command="ReportOrder",result="failed"} 1`,
		`purveyor_staff_logins_total{result="ok"} 1`, `purveyor_staff_logins_total{result="refused"} 1`,
		`purveyor_batch_commands_bucket{le="4"} 0`, `purveyor_batch_commands_bucket{le="8"} 1`, `purveyor_batch_duration_seconds_sum{phase="save"} 0.02`,
		`purveyor_orders_created_total{mode="test",source="report"} 1`, `purveyor_payments_total{result="captured"} 1`, `purveyor_refunds_total{result="done"} 1`,
		`purveyor_job_attempts_total{kind="refund_payment",result="gave_up"} 1`, `purveyor_job_duration_seconds_sum{kind="refund_payment"} 60`,
		`purveyor_webhook_attempts_total{result="delivered"} 1`, `purveyor_webhook_attempts_total{result="refused"} 1`, `purveyor_webhook_attempts_total{result="timeout"} 1`,
		`purveyor_webhook_attempts_total{result="forbidden_address"} 1`, `purveyor_webhook_attempts_total{result="unreachable"} 1`,
		`purveyor_webhook_delay_seconds_bucket{le="30"} 0`, `purveyor_webhook_delay_seconds_count 1`,
		`purveyor_provider_calls_total{call="ok",provider="uber",result="ok"} 1`, `purveyor_provider_calls_total{call="refused",provider="uber",result="refused"} 1`,
		`purveyor_provider_calls_total{call="unauthorized",provider="uber",result="unauthorized"} 1`, `purveyor_provider_calls_total{call="limited",provider="uber",result="limited"} 1`,
		`purveyor_provider_calls_total{call="ambiguous",provider="uber",result="ambiguous"} 1`, `purveyor_provider_calls_total{call="unreachable",provider="uber",result="unreachable"} 1`,
		`purveyor_provider_calls_total{call="cut",provider="uber",result="ambiguous"} 1`,
		`purveyor_callbacks_total{provider="stripe",result="ok"} 1`, `purveyor_board_push_seconds_sum 1`, `purveyor_sqlite_checkpoint_duration_seconds_sum 1`,
		`purveyor_postgres_wait_duration_seconds_count 1`, `purveyor_build_info{commit="abc",schema="7",version="1.2"} 1`)
}

// fixed is a database that never changes.
type fixed struct {
	vitals storage.Vitals
	err    error
	looked chan struct{}
}

func (f fixed) Gauges(context.Context, int) (storage.Gauges, error) {
	if f.looked != nil {
		close(f.looked)
	}
	now := commerce.MillisOf(time.Now())
	return storage.Gauges{Vitals: f.vitals,
		Jobs: []storage.JobCount{{Kind: commerce.JobRefund, State: commerce.JobWaiting, Count: 2, First: now.Add(-time.Hour), Made: now.Add(-2 * time.Hour)},
			{Kind: commerce.JobRefund, State: commerce.JobDead, Count: 1, First: now, Made: now}, {Kind: commerce.JobDispatch, State: commerce.JobHeld, Count: 9, First: now, Made: now}},
		Endpoints: []commerce.Endpoint{{PartnerID: "a"}, {PartnerID: "b", HeldUntil: 5, FailingSince: 1}, {PartnerID: "c", HeldUntil: 5, PausedOn: 1}},
		Open:      []storage.OpenCount{{Status: commerce.Paid, Count: 4, Oldest: now}},
		Attention: []storage.AttentionCount{{Code: commerce.AttentionDisputed, Count: 3, Oldest: 1}}}, f.err
}

// TestLook: gauges are read from the database. What an engine does not know has none: an alert would
// take a 0 for the truth.
func TestLook(t *testing.T) {
	lag := 2 * time.Second
	for name, c := range map[string]struct {
		sqlite bool
		vitals storage.Vitals
		has    []string
		lacks  []string
	}{
		"SQLite": {true, storage.Vitals{Bytes: 10, FreeBytes: 20, LogBytes: 3}, []string{"purveyor_disk_free_bytes 20", "purveyor_sqlite_wal_bytes 3", "purveyor_database_bytes 10"},
			[]string{"postgres_connections", "standby_lag"}},
		"PostgreSQL": {false, storage.Vitals{Idle: 1, Used: 2, Most: 8, StandbyLag: &lag, ClockOffset: time.Second},
			[]string{`purveyor_postgres_connections{state="max"} 8`, "purveyor_postgres_standby_lag_seconds 2", "purveyor_database_clock_offset_seconds 1"}, []string{"disk_free", "sqlite_wal"}},
	} {
		m := New(env.Env{}, Build{})
		ctx, stop := context.WithCancel(t.Context())
		f := fixed{vitals: c.vitals, looked: make(chan struct{})}
		ended := make(chan struct{})
		go func() { m.Look(ctx, f, c.sqlite); close(ended) }()
		<-f.looked
		stop()
		<-ended
		text := shown(t, m)
		has(t, text, append(c.has, "purveyor_database_up 1", "purveyor_refunds_pending 3", `purveyor_jobs{kind="refund_payment",state="waiting"} 2`, `purveyor_jobs{kind="refund_payment",state="dead"} 1`, `purveyor_jobs{kind="dispatch",state="held"} 9`,
			`purveyor_webhook_endpoints{state="active"} 1`, `purveyor_webhook_endpoints{state="held"} 1`, `purveyor_webhook_endpoints{state="paused"} 1`,
			`purveyor_orders_open{status="paid"} 4`, `purveyor_attention_open{code="payment_disputed"} 3`)...)
		for _, lacks := range c.lacks {
			if strings.Contains(text, lacks) {
				t.Errorf("%s has %s", name, lacks)
			}
		}
		for _, old := range []string{"refund_oldest_pending_seconds 72", `job_oldest_seconds{kind="refund_payment"} 36`, `webhook_endpoint_failing_seconds{endpoint="b"} 1.`} {
			if !strings.Contains(text, "purveyor_"+old) {
				t.Errorf("%s lacks %s", name, old)
			}
		}
	}
}

// TestDatabaseAway: what cannot be read is told by one gauge.
func TestDatabaseAway(t *testing.T) {
	g := New(env.Env{}, Build{}).gauges(true)
	if err := g.look(t.Context(), fixed{err: storage.ErrUnavailable}, 1); !errors.Is(err, storage.ErrUnavailable) {
		t.Error(err)
	}
}

func BenchmarkRequest(b *testing.B) {
	m := New(env.Env{}, Build{})
	for b.Loop() {
		m.Request("listProducts", commerce.Live, 200, "", 3*time.Millisecond)
	}
}

func BenchmarkBatch(b *testing.B) {
	m := New(env.Env{}, Build{})
	deeds := []commerce.Deed{{What: commerce.DeedOrder, Of: "report", Mode: commerce.Live}}
	for b.Loop() {
		m.Batch(20, time.Millisecond, time.Millisecond, time.Millisecond, time.Millisecond)
		m.Deeds(deeds)
	}
}

func BenchmarkCommand(b *testing.B) {
	m := New(env.Env{}, Build{})
	for b.Loop() {
		m.Command("ReportOrder", nil)
	}
}
