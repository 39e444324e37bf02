package main

import (
	_ "embed"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// The baselines of PostgreSQL: pgbench runs one transaction, or one read, after
// another on each connection.

//go:embed pgbench.sql
var pgbenchSQL string

// pgbenchParts are put together from the parts of pgbench.sql.
var pgbenchParts = map[string][]string{"schema": {"schema"}, "product": {"product"}, "spread": {"spread", "report"}, "hot": {"hot", "report"}}

// openPgbench writes the scripts and makes the database of pgbench.
func (b *bench) openPgbench() {
	if b.pgbench != "" {
		return
	}
	parts := map[string]string{}
	for _, part := range strings.Split(pgbenchSQL, "-- part ")[1:] {
		name, text, _ := strings.Cut(part, "\n")
		parts[name] = text
	}
	for name, list := range pgbenchParts {
		var script string
		for _, part := range list {
			script += parts[part]
		}
		check(os.WriteFile(b.script(name), []byte(script), 0o600))
	}
	b.pgbench = b.create(postgresEngine, "pgbench")
	b.output("psql", "--quiet", "--no-psqlrc", "--set=ON_ERROR_STOP=1", "--dbname="+b.pgbench, "--set=stores="+fmt.Sprint(b.limits.Stores),
		"--set=goods="+fmt.Sprint(ofEachStore), "--file="+b.script("schema"))
}

func (b *bench) script(name string) string { return filepath.Join(b.work, name+".pgbench.sql") }

// pgbenchSide runs a script as long as the service is measured. A run without a
// transaction in that time is repeated with four times the length.
func (b *bench) pgbenchSide(title, script string) *side {
	b.openPgbench()
	return &side{name: title, run: func() measurement {
		for p := b.pace; ; p.Measured *= 4 {
			const connecting = 0.5 // seconds
			m := countTransactions(b.transactions(script, math.Ceil(connecting+(p.Warm+p.Measured).Seconds())), p)
			if m.Errors == 0 || p.Measured > 5*time.Second {
				return m
			}
		}
	}}
}

// transactions runs pgbench and returns what it logged.
func (b *bench) transactions(script string, seconds float64) (list []transaction) {
	logs := must(os.MkdirTemp(b.work, "pgbench-"))
	defer func() { _ = os.RemoveAll(logs) }()
	b.output("pgbench", "--no-vacuum", "--protocol=prepared", "--client="+fmt.Sprint(connections), "--jobs=2",
		"--time="+fmt.Sprint(seconds), "--file="+b.script(script), "--log", "--log-prefix="+filepath.Join(logs, "log"),
		"--define=stores="+fmt.Sprint(b.limits.Stores), "--define=goods="+fmt.Sprint(ofEachStore),
		// Ids of orders are made of these, and ascend on each connection.
		"--define=run="+fmt.Sprint(time.Now().Unix()), "--define=n=0", b.pgbench)
	for _, path := range must(filepath.Glob(filepath.Join(logs, "log.*"))) {
		list = append(list, must(readLog(string(must(os.ReadFile(path)))))...)
	}
	return list
}

// transaction is one line of pgbench's log.
type transaction struct {
	took  time.Duration
	ended time.Time
}

// readLog reads the transactions of a log. Its lines are: client, number,
// microseconds, script, and the end in seconds and microseconds.
func readLog(log string) (list []transaction, err error) {
	for line := range strings.Lines(log) {
		var client, number, micros, script, seconds, rest int64
		if _, err := fmt.Sscan(line, &client, &number, &micros, &script, &seconds, &rest); err != nil {
			return nil, fmt.Errorf("%q in the log of pgbench: %w", line, err)
		}
		list = append(list, transaction{time.Duration(micros) * time.Microsecond, time.Unix(seconds, rest*1000)})
	}
	return list, nil
}

// countTransactions counts as the load generator does: from a while after the
// first transaction has ended, and so long.
func countTransactions(done []transaction, p pace) measurement {
	var sum tally
	if len(done) == 0 {
		return sum.measurement(p.Measured, 0)
	}
	first := slices.MinFunc(done, func(a, b transaction) int { return a.ended.Compare(b.ended) })
	from := first.ended.Add(p.Warm)
	for _, t := range done {
		sum.done(t.ended.Add(-t.took), t.ended, from, from.Add(p.Measured))
	}
	return sum.measurement(p.Measured, 0)
}
