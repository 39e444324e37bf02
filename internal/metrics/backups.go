package metrics

import (
	"time"

	"purveyor/internal/env"

	"github.com/prometheus/client_golang/prometheus"
)

// Backup is what is known of the backups of a kind.
type Backup struct {
	Kind   string
	OK     bool      // the last attempt left a sound one
	GoodOn time.Time // when the newest sound one was up to date; zero: there is none
}

// Backups shows what read finds, each time the metrics are read.
func (m *Metrics) Backups(read func() []Backup) {
	desc := func(name, help string) *prometheus.Desc {
		return prometheus.NewDesc(prefix+name, help, []string{"kind"}, nil)
	}
	m.registry.MustRegister(backups{m.env, read, desc("backup_age_seconds", "How long ago the newest sound backup was up to date."),
		desc("backup_ok", "1 if the last attempt left a sound backup.")})
}

// backups shows the age of a kind only once there is a backup.
type backups struct {
	env     env.Env
	read    func() []Backup
	age, ok *prometheus.Desc
}

// Describe implements prometheus.Collector.
func (b backups) Describe(to chan<- *prometheus.Desc) { to <- b.age; to <- b.ok }

// Collect implements prometheus.Collector.
func (b backups) Collect(to chan<- prometheus.Metric) {
	for _, found := range b.read() {
		ok := 0.0
		if found.OK {
			ok = 1
		}
		to <- prometheus.MustNewConstMetric(b.ok, prometheus.GaugeValue, ok, found.Kind)
		if !found.GoodOn.IsZero() {
			to <- prometheus.MustNewConstMetric(b.age, prometheus.GaugeValue, b.env.Since(found.GoodOn).Seconds(), found.Kind)
		}
	}
}
