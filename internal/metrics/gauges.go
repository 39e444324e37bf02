package metrics

import (
	"context"
	"log/slog"
	"slices"
	"time"

	"purveyor/internal/commerce"
	"purveyor/internal/env"
	"purveyor/internal/storage"

	"github.com/prometheus/client_golang/prometheus"
)

const (
	gaugePause = 15 * time.Second
	gaugeTime  = 10 * time.Second // for all reads of one look
	mostFailed = 10               // endpoints that are shown by their names
)

// gauges are what is read from the database again and again.
type gauges struct {
	up, bytes, free, clock       prometheus.Gauge
	wal                          prometheus.Gauge
	connections                  *prometheus.GaugeVec
	lag                          prometheus.Gauge
	jobs, oldest                 *prometheus.GaugeVec
	endpoints, failing           *prometheus.GaugeVec
	refunds, oldestRefund        prometheus.Gauge
	open, oldestOpen, attention  *prometheus.GaugeVec
	oldestAttention              prometheus.Gauge
	registry                     *prometheus.Registry
	sqlite, standby, freeIsKnown bool // standby and freeIsKnown: their gauges are shown
}

func (m *Metrics) gauges(sqlite bool) *gauges {
	g := &gauges{registry: m.registry, sqlite: sqlite}
	one := func(name, help string) prometheus.Gauge {
		return prometheus.NewGauge(prometheus.GaugeOpts{Name: prefix + name, Help: help})
	}
	vec := func(name, help string, labels ...string) *prometheus.GaugeVec {
		v := prometheus.NewGaugeVec(prometheus.GaugeOpts{Name: prefix + name, Help: help}, labels)
		m.registry.MustRegister(v)
		return v
	}
	g.up, g.bytes = one("database_up", "1 while the database answers."), one("database_bytes", "What the database keeps.")
	g.free = one("disk_free_bytes", "Room that is left on the disk of the database; not known of a server's.")
	g.clock = one("database_clock_offset_seconds", "How far the clock of the database is ahead of this machine's.")
	g.wal = one("sqlite_wal_bytes", "Size of the write-ahead log of SQLite.")
	g.lag = one("postgres_standby_lag_seconds", "How far the standby is behind that is furthest behind.")
	g.refunds = one("refunds_pending", "Refunds that the processor has not made yet.")
	g.oldestRefund = one("refund_oldest_pending_seconds", "Age of the oldest of them.")
	g.oldestAttention = one("attention_oldest_seconds", "Age of the oldest reason why an order needs a person.")
	m.registry.MustRegister(g.up, g.bytes, g.clock, g.refunds, g.oldestRefund, g.oldestAttention)
	if sqlite {
		m.registry.MustRegister(g.wal)
	} else {
		g.connections = vec("postgres_connections", "Connections for reads: idle, used, and the most there may be.", "state")
	}
	g.jobs = vec("jobs", "Jobs: waiting, parked, held or dead.", "kind", "state")
	g.oldest = vec("job_oldest_seconds", "How long the job is past its time that waits longest.", "kind")
	g.endpoints = vec("webhook_endpoints", "Endpoints: active, held or paused.", "state")
	g.failing = vec("webhook_endpoint_failing_seconds", "How long endpoints have been failing, the ten longest.", "endpoint")
	g.open = vec("orders_open", "Orders that are open, by their status.", "status")
	g.oldestOpen = vec("order_oldest_seconds", "Age of the oldest of them.", "status")
	g.attention = vec("attention_open", "Reasons why orders need a person.", "code")
	return g
}

// Look reads the gauges every 15 s until ctx ends. sqlite: the database is a file.
func (m *Metrics) Look(ctx context.Context, reads storage.Watched, sqlite bool) {
	g := m.gauges(sqlite)
	var warned time.Time
	m.env.Drive(func() env.Next {
		if ctx.Err() != nil {
			return env.Ended
		}
		bounded, cancel := m.env.WithTimeout(ctx, gaugeTime)
		defer cancel()
		err := g.look(bounded, reads, commerce.MillisOf(m.env.Now()))
		g.up.Set(1)
		if err != nil && ctx.Err() == nil {
			g.up.Set(0)
			if m.env.Since(warned) >= time.Minute {
				warned = m.env.Now()
				slog.Warn("gauges could not be read", "error", err)
			}
		}
		return env.Next(gaugePause)
	}, ctx.Done())
}

func (g *gauges) look(ctx context.Context, reads storage.Watched, now commerce.Millis) error {
	found, err := reads.Gauges(ctx, storage.MostWatched)
	if err != nil {
		return err
	}
	g.vitals(found.Vitals)
	g.ofJobs(found.Jobs, now)
	g.ofEndpoints(found.Endpoints, now)
	g.open.Reset()
	g.oldestOpen.Reset()
	for _, c := range found.Open {
		g.open.WithLabelValues(string(c.Status)).Set(float64(c.Count))
		g.oldestOpen.WithLabelValues(string(c.Status)).Set(age(now, c.Oldest))
	}
	g.attention.Reset()
	oldest := 0.0
	for _, c := range found.Attention {
		g.attention.WithLabelValues(string(c.Code)).Set(float64(c.Count))
		oldest = max(oldest, age(now, c.Oldest))
	}
	g.oldestAttention.Set(oldest)
	return nil
}

// age is how long ago something was, in seconds; 0: it is to come.
func age(now, then commerce.Millis) float64 { return max(0, now.Sub(then).Seconds()) }

func (g *gauges) vitals(v storage.Vitals) {
	g.bytes.Set(float64(v.Bytes))
	g.clock.Set(v.ClockOffset.Seconds())
	g.shown(v.FreeBytes != 0, &g.freeIsKnown, g.free)
	g.free.Set(float64(v.FreeBytes))
	g.shown(v.StandbyLag != nil, &g.standby, g.lag)
	if v.StandbyLag != nil {
		g.lag.Set(v.StandbyLag.Seconds())
	}
	if g.sqlite {
		g.wal.Set(float64(v.LogBytes))
		return
	}
	for state, n := range map[string]int{"idle": v.Idle, "used": v.Used, "max": v.Most} {
		g.connections.WithLabelValues(state).Set(float64(n))
	}
}

// shown has a gauge shown while it means something: an alert fires for a 0 of what is not known.
func (g *gauges) shown(now bool, before *bool, gauge prometheus.Collector) {
	switch {
	case now && !*before:
		g.registry.MustRegister(gauge)
	case !now && *before:
		g.registry.Unregister(gauge)
	}
	*before = now
}

func (g *gauges) ofJobs(counts []storage.JobCount, now commerce.Millis) {
	g.jobs.Reset()
	g.oldest.Reset()
	pending, made := int64(0), now
	for _, c := range counts {
		g.jobs.WithLabelValues(string(c.Kind), string(c.State)).Set(float64(c.Count))
		if c.State == commerce.JobWaiting {
			g.oldest.WithLabelValues(string(c.Kind)).Set(age(now, c.First))
		}
		if c.Kind == commerce.JobRefund { // a refund is pending as long as its job is there
			pending, made = pending+c.Count, min(made, c.Made)
		}
	}
	g.refunds.Set(float64(pending))
	g.oldestRefund.Set(age(now, made))
}

func (g *gauges) ofEndpoints(endpoints []commerce.Endpoint, now commerce.Millis) {
	states := map[string]int{"active": 0, "held": 0, "paused": 0}
	var failing []commerce.Endpoint
	for _, e := range endpoints {
		switch {
		case e.PausedOn != 0:
			states["paused"]++
		case e.HeldUntil != 0:
			states["held"]++
		default:
			states["active"]++
		}
		if e.FailingSince != 0 {
			failing = append(failing, e)
		}
	}
	for state, n := range states {
		g.endpoints.WithLabelValues(state).Set(float64(n))
	}
	slices.SortFunc(failing, func(a, b commerce.Endpoint) int { return int(a.FailingSince - b.FailingSince) })
	g.failing.Reset()
	for _, e := range failing[:min(len(failing), mostFailed)] {
		g.failing.WithLabelValues(e.Owner()).Set(age(now, e.FailingSince))
	}
}
