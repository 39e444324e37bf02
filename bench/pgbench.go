package main

import (
	_ "embed"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
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

// progress is a line of pgbench about one second: transactions per second, and
// their mean time in ms.
var progress = regexp.MustCompile(`progress: .* ([\d.]+) tps, lat ([\d.]+) ms`)

// pgbenchSide runs a script as long as the service is measured, in whole seconds,
// after a first one that does not count. The last is not printed. The p50 is a mean.
func (b *bench) pgbenchSide(title, script string) *side {
	b.openPgbench()
	args := []string{"--no-vacuum", "--protocol=prepared", "--progress=1", fmt.Sprintf("--client=%d", connections), "--jobs=2",
		fmt.Sprintf("--time=%.0f", 2+math.Ceil(b.pace.Measured.Seconds())), "--file=" + b.script(script),
		fmt.Sprintf("--define=stores=%d", b.limits.Stores), fmt.Sprintf("--define=goods=%d", ofEachStore)}
	if b.quick {
		args = append(args, "--rate=20")
	}
	return &side{name: title, run: func() measurement {
		// Ids of orders are made of these, and ascend on each connection.
		ids := []string{fmt.Sprintf("--define=run=%d", time.Now().Unix()), "--define=n=0", b.pgbench}
		cmd := b.command("pgbench", append(args, ids...)...)
		lines, err := cmd.CombinedOutput()
		if err != nil {
			check(fmt.Errorf("%s: %w\n%s", cmd.Args, err, lines))
		}
		return must(countProgress(string(lines)))
	}}
}

// countProgress is the mean of what pgbench printed about all seconds but the first.
func countProgress(lines string) (m measurement, err error) {
	seconds := progress.FindAllStringSubmatch(lines, -1)
	if len(seconds) < 2 {
		return m, fmt.Errorf("pgbench printed no progress:\n%s", lines)
	}
	rest := seconds[1:]
	for _, of := range rest {
		rate, err1 := strconv.ParseFloat(of[1], 64)
		ms, err2 := strconv.ParseFloat(of[2], 64)
		err = errors.Join(err, err1, err2)
		m.Rate += rate / float64(len(rest))
		m.P50 += time.Duration(ms * float64(time.Millisecond) / float64(len(rest)))
	}
	return m, err
}
