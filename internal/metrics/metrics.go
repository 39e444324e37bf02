// Package metrics counts what a process does, for Prometheus. The parts of the service tell it by
// small interfaces of their own (web.Meter, commit.Meter and functions), and do not know it.
// docs/OPERATING.md lists the metrics. No label has a partner, a store or an order, but for the
// endpoints that fail longest.
package metrics

import (
	"net/http"
	"strconv"
	"sync"
	"time"

	"purveyor/internal/commerce"
	"purveyor/internal/env"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"
)

// Metrics are the counters of one process. It is safe for concurrent use, and nothing in it blocks.
type Metrics struct {
	env      env.Env
	registry *prometheus.Registry

	requests  *prometheus.CounterVec
	took      *prometheus.HistogramVec
	errors    *prometheus.CounterVec
	commands  *prometheus.CounterVec
	batches   prometheus.Histogram
	phases    [4]prometheus.Observer // wait, load, decide, save
	deeds     map[commerce.DeedKind]*prometheus.CounterVec
	orders    *prometheus.CounterVec
	logins    *prometheus.CounterVec
	tries     *prometheus.CounterVec
	jobTook   *prometheus.HistogramVec
	webhooks  *prometheus.CounterVec
	sent      prometheus.Histogram
	delay     prometheus.Histogram
	calls     *prometheus.CounterVec
	callTook  *prometheus.HistogramVec
	callbacks *prometheus.CounterVec
	pushed    prometheus.Histogram

	series  sync.Map // of requests, by seriesKey
	results sync.Map // of commands, by commandKey
}

// times are the bounds of what takes parts of seconds, long those of what may take hours.
var (
	times = []float64{.001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10, 30}
	long  = append(append([]float64{}, times...), 60, 300, 1800, 7200)
)

// Build describes the program.
type Build struct {
	Version, Commit string
	Schema          int // the number of the newest migration that it knows
}

// New makes the metrics of a process.
func New(e env.Env, b Build) *Metrics {
	m := &Metrics{env: e, registry: prometheus.NewRegistry()}
	m.registry.MustRegister(collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	m.requests = m.counters("http_requests_total", "Requests that were answered.", "operation", "status", "mode")
	m.took = m.histograms("http_request_duration_seconds", "Time from a request to the end of its answer.", times, "operation", "mode")
	m.errors = m.counters("errors_total", "Errors that were answered, by their code.", "code")
	m.commands = m.counters("commands_total", "Commands, by their result: ok, refused, failed or unknown.", "command", "result")
	m.batches = m.histogram("batch_commands", "Commands in a batch.", prometheus.ExponentialBuckets(1, 2, 11))
	phases := m.histograms("batch_duration_seconds", "Time of a batch in each phase: wait, load, decide, save.", times, "phase")
	for i, phase := range [...]string{"wait", "load", "decide", "save"} {
		m.phases[i] = phases.WithLabelValues(phase)
	}
	m.orders = m.counters("orders_created_total", "Orders that were made: report, checkout or merchant.", "source", "mode")
	m.deeds = map[commerce.DeedKind]*prometheus.CounterVec{
		commerce.DeedPayment: m.counters("payments_total", "Card payments: captured, failed, mismatch or late.", "result"),
		commerce.DeedRefund:  m.counters("refunds_total", "Refunds: done, refused or failed_later.", "result")}
	m.logins = m.counters("staff_logins_total", "Sign-ins to the back office: ok or refused.", "result")
	m.tries = m.counters("job_attempts_total", "Tries of jobs: done, failed, gave_up or lease_lost.", "kind", "result")
	m.jobTook = m.histograms("job_duration_seconds", "Time of a try of a job.", long, "kind")
	m.webhooks = m.counters("webhook_attempts_total", "Webhooks that were sent: delivered, refused, timeout, unreachable or forbidden_address.", "result")
	m.sent = m.histogram("webhook_attempt_duration_seconds", "Time of a try to deliver a webhook.", times)
	m.delay = m.histogram("webhook_delay_seconds", "Time from a change to the first try to deliver its webhook.", long)
	m.calls = m.counters("provider_calls_total", "Calls to providers: ok, refused, unauthorized, limited, unreachable or ambiguous.", "provider", "call", "result")
	m.callTook = m.histograms("provider_call_duration_seconds", "Time of a call to a provider.", long, "provider", "call")
	m.callbacks = m.counters("callbacks_total", "Callbacks of providers: ok, duplicate, unknown or bad_signature.", "provider", "result")
	m.pushed = m.histogram("board_push_seconds", "Time from a change to the moment when boards are told.", times)
	build := prometheus.NewGauge(prometheus.GaugeOpts{Name: prefix + "build_info", Help: "The program that runs; always 1.",
		ConstLabels: prometheus.Labels{"version": b.Version, "commit": b.Commit, "schema": strconv.Itoa(b.Schema)}})
	build.Set(1)
	m.registry.MustRegister(build)
	return m
}

const prefix = "purveyor_"

func (m *Metrics) counters(name, help string, labels ...string) *prometheus.CounterVec {
	v := prometheus.NewCounterVec(prometheus.CounterOpts{Name: prefix + name, Help: help}, labels)
	m.registry.MustRegister(v)
	return v
}

func (m *Metrics) histograms(name, help string, bounds []float64, labels ...string) *prometheus.HistogramVec {
	v := prometheus.NewHistogramVec(options(name, help, bounds), labels)
	m.registry.MustRegister(v)
	return v
}

func (m *Metrics) histogram(name, help string, bounds []float64) prometheus.Histogram {
	h := prometheus.NewHistogram(options(name, help, bounds))
	m.registry.MustRegister(h)
	return h
}

func options(name, help string, bounds []float64) prometheus.HistogramOpts {
	return prometheus.HistogramOpts{Name: prefix + name, Help: help, Buckets: bounds,
		NativeHistogramBucketFactor: 1.1, NativeHistogramMaxBucketNumber: 100, NativeHistogramMinResetDuration: time.Hour}
}

// Handler serves the metrics.
func (m *Metrics) Handler() http.Handler {
	return promhttp.HandlerFor(m.registry, promhttp.HandlerOpts{Registry: m.registry})
}

// Checkpoints adds a histogram of the copies of SQLite's log into its file, and returns what is told of
// them.
func (m *Metrics) Checkpoints() func(took time.Duration) {
	h := m.histogram("sqlite_checkpoint_duration_seconds", "Time to copy the log of SQLite into its file.", times)
	return func(took time.Duration) { h.Observe(took.Seconds()) }
}

// Waits adds a histogram of the waits for a connection to PostgreSQL, and returns what is told of them.
func (m *Metrics) Waits() func(took time.Duration) {
	h := m.histogram("postgres_wait_duration_seconds", "Time that reads wait for a connection.", times)
	return func(took time.Duration) { h.Observe(took.Seconds()) }
}

// Counter adds a counter that is read when the metrics are.
func (m *Metrics) Counter(name, help string, labels map[string]string, read func() float64) {
	m.registry.MustRegister(prometheus.NewCounterFunc(prometheus.CounterOpts{Name: prefix + name, Help: help, ConstLabels: labels}, read))
}

// Gauge adds a gauge that is read when the metrics are.
func (m *Metrics) Gauge(name, help string, labels map[string]string, read func() float64) {
	m.registry.MustRegister(prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: prefix + name, Help: help, ConstLabels: labels}, read))
}
