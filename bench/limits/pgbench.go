package main

import (
	"bufio"
	"embed"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"purveyor/bench/internal/load"
)

// The baselines of PostgreSQL: pgbench with one transaction, or one read,
// after another on each connection.

//go:embed *.sql
var scripts embed.FS

const pgbenchDatabase = "pgbench"

// openPgbench makes the database of pgbench and writes its scripts, each put
// together from files.
func (l *limits) openPgbench() error {
	for name, parts := range map[string][]string{
		"schema": {"schema"}, "product": {"product"}, "spread": {"spread", "report"}, "hot": {"hot", "report"},
	} {
		var script []byte
		for _, part := range parts {
			text, err := scripts.ReadFile(part + ".sql")
			if err != nil {
				return err
			}
			script = append(script, text...)
		}
		if err := os.WriteFile(l.script(name), script, 0o600); err != nil {
			return err
		}
	}
	if err := l.databases.Server.SQL("CREATE DATABASE " + pgbenchDatabase); err != nil {
		return err
	}
	_, err := load.Output(l.Ctx, "psql", "--quiet", "--no-psqlrc", "--set=ON_ERROR_STOP=1", "--dbname="+l.databases.Server.URL(pgbenchDatabase),
		"--set=stores="+fmt.Sprint(l.size.Stores), "--set=goods="+fmt.Sprint(goods), "--file="+l.script("schema"))
	return err
}

func (l *limits) script(name string) string { return filepath.Join(l.Work, name+".pgbench.sql") }

// pgbench is a series of one script.
func (l *limits) pgbench(title, script string) *load.Series {
	return &load.Series{Name: title, Run: func() (load.Measurement, error) { return l.runPgbench(script) }}
}

// runPgbench runs a script as long as the service is measured, and half a second
// more to connect. Where nothing was done in that time, it is given longer.
func (l *limits) runPgbench(script string) (load.Measurement, error) {
	for p := l.Pace; ; p.Measured *= 4 {
		done, err := l.transactions(script, math.Ceil(0.5+(p.Warm+p.Measured).Seconds()))
		if err != nil {
			return load.Measurement{}, err
		}
		if m := measurementOf(done, p); m.Errors == 0 || p.Measured > 5*time.Second {
			return m, nil
		}
	}
}

// transactions runs pgbench and returns what it logged.
func (l *limits) transactions(script string, seconds float64) (list []transaction, err error) {
	logs, err := os.MkdirTemp(l.Work, "pgbench-")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(logs)) }()
	_, err = load.Output(l.Ctx, "pgbench", "--no-vacuum", "--protocol=prepared", "--client="+fmt.Sprint(load.Callers), "--jobs=2",
		"--time="+fmt.Sprint(seconds), "--file="+l.script(script), "--log", "--log-prefix="+filepath.Join(logs, "log"),
		"--define=stores="+fmt.Sprint(l.size.Stores), "--define=goods="+fmt.Sprint(goods),
		// Ids of orders are made of these, and ascend on each connection.
		"--define=run="+fmt.Sprint(time.Now().Unix()), "--define=n=0",
		l.databases.Server.URL(pgbenchDatabase))
	if err != nil {
		return nil, err
	}
	paths, err := filepath.Glob(filepath.Join(logs, "log.*"))
	if err != nil {
		return nil, err
	}
	for _, path := range paths {
		if list, err = readLog(list, path); err != nil {
			return nil, err
		}
	}
	return list, nil
}

// measurementOf counts transactions as the load generator counts requests: a
// while after the first has ended, and so long.
func measurementOf(done []transaction, p load.Pace) load.Measurement {
	var sum load.Tally
	if len(done) == 0 {
		return sum.Measurement(p.Measured, 0)
	}
	ended := func(a, b transaction) int { return a.ended.Compare(b.ended) }
	from := slices.MinFunc(done, ended).ended.Add(p.Warm)
	until := from.Add(p.Measured)
	for _, t := range done {
		sum.Done(t.ended.Add(-t.took), t.ended, from, until)
	}
	return sum.Measurement(p.Measured, 0)
}

// transaction is one line of pgbench's log.
type transaction struct {
	took  time.Duration
	ended time.Time
}

// readLog appends the transactions of a log, whose lines are: client, number,
// microseconds, script, and when it ended in seconds and microseconds.
func readLog(list []transaction, path string) ([]transaction, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }()
	lines := bufio.NewScanner(f)
	for lines.Scan() {
		fields := strings.Fields(lines.Text())
		if len(fields) < 6 {
			return nil, fmt.Errorf("%s: %q", path, lines.Text())
		}
		took, err1 := strconv.ParseInt(fields[2], 10, 64)
		seconds, err2 := strconv.ParseInt(fields[4], 10, 64)
		micros, err3 := strconv.ParseInt(fields[5], 10, 64)
		if err := errors.Join(err1, err2, err3); err != nil {
			return nil, fmt.Errorf("%s: %q: %w", path, lines.Text(), err)
		}
		list = append(list, transaction{time.Duration(took) * time.Microsecond, time.Unix(seconds, micros*1000)})
	}
	return list, lines.Err()
}
