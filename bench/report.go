package main

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"time"
	"unicode/utf8"
)

// report gathers the tables, as Markdown that also reads well on a terminal.
type report struct {
	head   string
	parts  []string
	rows   [][]string // of the table under way
	notes  []string   // that go below it
	errors int
}

var columns = []string{"case", "requests/s", "p50", "p99", "server CPU a request", "errors", "ratio (least to most)", "target", "met"}

func newReport(folder string, args []string) (*report, error) {
	sync, err := syncTime(folder)
	if err != nil {
		return nil, err
	}
	head := fmt.Sprintf("%s: `go run ./bench %s`\n\nMachine: %s, %d cores shared by server, load generator and disk; %s, %s/%s; "+
		"a 4 KiB write with fdatasync takes %v.\n\n"+
		"%d keep-alive connections over loopback, each with one request at a time. Rates, percentiles and ratios are medians of the rounds; "+
		"a ratio compares the two runs of one round. Logs are at info, into a file, unless a line says otherwise.",
		time.Now().UTC().Format(time.DateOnly), strings.Join(args, " "), cpuName(), runtime.NumCPU(), runtime.Version(),
		runtime.GOOS, runtime.GOARCH, round(sync), callers)
	return &report{head: head}, nil
}

func cpuName() string {
	f, err := os.Open("/proc/cpuinfo")
	if err != nil {
		return "unknown CPU"
	}
	defer func() { _ = f.Close() }()
	for lines := bufio.NewScanner(f); lines.Scan(); {
		if name, value, ok := strings.Cut(lines.Text(), ":"); ok && strings.TrimSpace(name) == "model name" {
			return strings.TrimSpace(value)
		}
	}
	return "unknown CPU"
}

func (s size) String() string {
	return fmt.Sprintf("%s stores, %s products, %s orders", thousands(s.Stores), thousands(s.Products), thousands(s.Orders))
}

func thousands(n int) string {
	text := fmt.Sprint(n)
	for i := len(text) - 3; i > 0; i -= 3 {
		text = text[:i] + "," + text[i:]
	}
	return text
}

func (r *report) section(title string) {
	r.flush()
	r.parts = append(r.parts, "### "+title)
}

// note is a sentence below the table.
func (r *report) note(format string, args ...any) {
	r.notes = append(r.notes, fmt.Sprintf(format, args...))
}

// compare adds a line of a series with its ratio to another one. With a
// title the line is of the ratio alone.
func (r *report) compare(of, against *series, target float64, title string) {
	median, least, most := ratio(of, against)
	row := []string{title, "", "", "", "", ""}
	if title == "" {
		row = r.figures(of)
	}
	row = append(row, fmt.Sprintf("%.2f (%.2f to %.2f)", median, least, most), "", "")
	if target > 0 {
		row[7], row[8] = fmt.Sprintf("%.1f", target), verdict(median >= target)
	}
	r.rows = append(r.rows, row)
}

// show adds lines of baselines.
func (r *report) show(list ...*series) {
	for _, s := range list {
		r.rows = append(r.rows, append(r.figures(s), "", "", ""))
	}
}

func (r *report) figures(s *series) []string {
	r.errors += s.errors()
	in := func(f func(measurement) time.Duration) string {
		return micros(time.Duration(s.median(func(m measurement) float64 { return float64(f(m)) })))
	}
	return []string{s.name, thousands(int(s.rate())),
		in(func(m measurement) time.Duration { return m.P50 }), in(func(m measurement) time.Duration { return m.P99 }),
		in(func(m measurement) time.Duration { return m.ServerCPU }), fmt.Sprint(s.errors())}
}

func micros(d time.Duration) string {
	if d < 10*time.Millisecond {
		return fmt.Sprintf("%d us", d.Microseconds())
	}
	return fmt.Sprintf("%d ms", d.Milliseconds())
}

func verdict(met bool) string {
	if met {
		return "yes"
	}
	return "no"
}

// limit adds a figure that must stay below another.
func (r *report) limit(title string, value, most float64, unit string) {
	r.rows = append(r.rows, []string{title, fmt.Sprintf("%.0f %s", value, unit), "", "", "", "", "",
		fmt.Sprintf("below %.0f %s", most, unit), verdict(value < most)})
}

// memory adds what a server process holds after its load, and held at most.
func (r *report) memory(p *process) error {
	for _, figure := range []struct{ name, title string }{
		{"VmRSS", "memory of the server process after all this (VmRSS)"}, {"VmHWM", "its most memory (VmHWM)"}} {
		mib, err := p.memory(figure.name)
		if err != nil {
			return err
		}
		r.limit(figure.title, mib, mostMemory, "MiB")
	}
	return nil
}

// flush ends the table under way.
func (r *report) flush() {
	if len(r.rows) > 0 {
		r.parts = append(r.parts, r.table())
	}
	r.parts = append(r.parts, r.notes...)
	r.rows, r.notes = nil, nil
}

func (r *report) table() string {
	widths := make([]int, len(columns))
	for _, row := range append([][]string{columns}, r.rows...) {
		for i, cell := range row {
			widths[i] = max(widths[i], utf8.RuneCountInString(cell))
		}
	}
	var b strings.Builder
	writeRow(&b, columns, widths)
	rule := make([]string, len(columns))
	for i, w := range widths {
		rule[i] = strings.Repeat("-", w)
	}
	writeRow(&b, rule, widths)
	for _, row := range r.rows {
		writeRow(&b, row, widths)
	}
	return strings.TrimSuffix(b.String(), "\n")
}

func writeRow(b *strings.Builder, row []string, widths []int) {
	for i, cell := range row {
		fmt.Fprintf(b, "| %-*s ", widths[i], cell)
	}
	b.WriteString("|\n")
}

func (r *report) text() string {
	r.flush()
	return strings.Join(append([]string{r.head}, r.parts...), "\n\n")
}

// failed is an error if any request failed: figures beside failures are worth
// nothing.
func (r *report) failed() error {
	if r.errors > 0 {
		return fmt.Errorf("%d requests failed", r.errors)
	}
	return nil
}

const (
	sectionBegin = "<!-- written by `go run ./bench -write`: begin -->"
	sectionEnd   = "<!-- written by `go run ./bench -write`: end -->"
)

// writeSection replaces what stands between the two marks, or appends both to
// a file that has none.
func writeSection(path, text string) error {
	old, err := os.ReadFile(path)
	switch {
	case errors.Is(err, os.ErrNotExist):
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return err
		}
		old = []byte("# Benchmarks\n")
	case err != nil:
		return err
	}
	made, err := replaceSection(old, text)
	if err != nil {
		return err
	}
	return os.WriteFile(path, made, 0o644)
}

func replaceSection(old []byte, text string) ([]byte, error) {
	section := sectionBegin + "\n\n" + text + "\n\n" + sectionEnd
	before, rest, found := bytes.Cut(old, []byte(sectionBegin))
	if !found {
		return []byte(strings.TrimRight(string(old), "\n") + "\n\n" + section + "\n"), nil
	}
	_, after, found := bytes.Cut(rest, []byte(sectionEnd))
	if !found {
		return nil, fmt.Errorf("the mark %q is missing", sectionEnd)
	}
	return []byte(string(before) + section + string(after)), nil
}
