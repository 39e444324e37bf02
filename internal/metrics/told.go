package metrics

import (
	"context"
	"errors"
	"net"
	"strconv"
	"strings"
	"time"

	"purveyor/internal/commerce"
	"purveyor/internal/jobs"
	"purveyor/internal/outside/courier"
	"purveyor/internal/outside/webhook"
	"purveyor/internal/storage"

	"github.com/prometheus/client_golang/prometheus"
)

type seriesKey struct {
	operation string
	mode      commerce.Mode
	status    int
}

// series are the counters of one kind of request. Looking them up once spares their labels a hash
// for each request.
type series struct {
	requests prometheus.Counter
	took     prometheus.Observer
}

// Request implements web.Meter.
func (m *Metrics) Request(operation string, mode commerce.Mode, status int, code string, took time.Duration) {
	key := seriesKey{operation, mode, status}
	found, known := m.series.Load(key)
	if !known {
		name := operation
		if name == "" {
			name = "none"
		}
		found, _ = m.series.LoadOrStore(key, series{m.requests.WithLabelValues(name, strconv.Itoa(status), string(mode)), m.took.WithLabelValues(name, string(mode))})
	}
	s := found.(series)
	s.requests.Inc()
	s.took.Observe(took.Seconds())
	if code != "" {
		m.errors.WithLabelValues(code).Inc()
	}
}

type commandKey struct{ name, result string }

// Command implements commit.Meter.
func (m *Metrics) Command(name string, err error) {
	key := commandKey{name, resultOf(err)}
	found, known := m.results.Load(key)
	if !known {
		found, _ = m.results.LoadOrStore(key, m.commands.WithLabelValues(key.name, key.result))
	}
	found.(prometheus.Counter).Inc()
	switch {
	case name == "SignIn" && err == nil:
		m.logins.WithLabelValues("ok").Inc()
	case name == "RefuseSignIn" && err == nil:
		m.logins.WithLabelValues("refused").Inc()
	}
}

func resultOf(err error) string {
	if err == nil {
		return "ok"
	}
	if _, refused := errors.AsType[*commerce.Error](err); refused {
		return "refused"
	}
	if errors.Is(err, storage.ErrOutcomeUnknown) {
		return "unknown"
	}
	return "failed"
}

// Batch implements commit.Meter.
func (m *Metrics) Batch(commands int, wait, load, decide, save time.Duration) {
	m.batches.Observe(float64(commands))
	for i, took := range [...]time.Duration{wait, load, decide, save} {
		m.phases[i].Observe(took.Seconds())
	}
}

// Deeds implements commit.Meter.
func (m *Metrics) Deeds(list []commerce.Deed) {
	for _, d := range list {
		if d.What == commerce.DeedOrder {
			m.orders.WithLabelValues(d.Of, string(d.Mode)).Inc()
			continue
		}
		m.deeds[d.What].WithLabelValues(d.Of).Inc()
	}
}

// Tried is told of each try of a job.
func (m *Metrics) Tried(kind commerce.JobKind, result jobs.Result, took time.Duration) {
	m.tries.WithLabelValues(string(kind), string(result)).Inc()
	m.jobTook.WithLabelValues(string(kind)).Observe(took.Seconds())
}

// Sent is told of each webhook that was sent. happened is when its event was; first: it is the first try.
func (m *Metrics) Sent(r webhook.Result, happened commerce.Millis, first bool) {
	result := "unreachable"
	switch {
	case r.Status != 0 && r.Error == "":
		result = "delivered"
	case r.Status != 0:
		result = "refused"
	case r.TimedOut:
		result = "timeout"
	case strings.HasPrefix(r.Error, webhook.RefusedAddress):
		result = "forbidden_address"
	}
	took := time.Duration(r.TookMs) * time.Millisecond
	m.webhooks.WithLabelValues(result).Inc()
	m.sent.Observe(took.Seconds())
	if began := commerce.MillisOf(m.env.Now().Add(-took)); first {
		m.delay.Observe(max(0, began.Sub(happened).Seconds()))
	}
}

// Call is told that a call to a provider begins, and returns what is told of its end.
func (m *Metrics) Call(provider, call string) (ended func(err error, refused bool)) {
	began := m.env.Now()
	return func(err error, refused bool) {
		m.calls.WithLabelValues(provider, call, resultOfCall(err, refused)).Inc()
		m.callTook.WithLabelValues(provider, call).Observe(m.env.Since(began).Seconds())
	}
}

// resultOfCall sorts the end of a call. ambiguous: it may have taken effect, since it was sent and no
// answer came.
func resultOfCall(err error, refused bool) string {
	var dns *net.DNSError
	var op *net.OpError
	switch {
	case err == nil:
		return "ok"
	case refused:
		return "refused"
	case errors.As(err, new(*commerce.CredentialsError)):
		return "unauthorized"
	case errors.As(err, new(*courier.Limited)):
		return "limited"
	case errors.As(err, &dns), errors.As(err, &op) && op.Op == "dial":
		return "unreachable"
	case errors.Is(err, context.DeadlineExceeded), errors.As(err, &op):
		return "ambiguous"
	}
	return "unreachable"
}

// Callback is told of each callback of a provider.
func (m *Metrics) Callback(provider, result string) {
	m.callbacks.WithLabelValues(provider, result).Inc()
}

// Pushed is told how long boards waited for a change.
func (m *Metrics) Pushed(took time.Duration) { m.pushed.Observe(took.Seconds()) }
