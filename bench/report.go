package main

import (
	"fmt"
	"os"
	"runtime"
	"strings"
	"syscall"
	"time"
	"unicode/utf8"
)

// report is the table of one section, as Markdown that also reads well on a
// terminal.
type report struct {
	title  string
	rows   [][]string
	notes  []string // below the table
	errors []string // of requests
}

var columns = []string{"case", "requests/s", "p50", "p99", "server CPU a request", "ratio (least to most)", "target", "met"}

// verdict is a target and whether it was met; none is zero.
type verdict struct {
	target string
	met    bool
}

func (v verdict) cells() []string {
	switch {
	case v.target == "":
		return []string{"", ""}
	case v.met:
		return []string{v.target, "yes"}
	}
	return []string{v.target, "no"}
}

// note adds a sentence below the table.
func (r *report) note(format string, args ...any) {
	r.notes = append(r.notes, fmt.Sprintf(format, args...))
}

// line adds the figures of a side.
func (r *report) line(s *side, v verdict) { r.add(r.figures(s), "", v) }

// show adds the figures of baselines.
func (r *report) show(list ...*side) {
	for _, s := range list {
		r.line(s, verdict{})
	}
}

func (r *report) add(figures []string, ratio string, v verdict) {
	r.rows = append(r.rows, append(append(figures, ratio), v.cells()...))
}

// compare adds the ratio of a side's rate to that of another one, which must be
// at least so much (0: it is only shown). With a title, the line has no figures.
func (r *report) compare(of, against *side, least float64, title string) {
	r.compareBy(rateOf, of, against, least, title)
}

func (r *report) compareBy(by figure, of, against *side, least float64, title string) {
	median, low, high := ratio(of, against, by)
	cells := []string{title, "", "", "", ""}
	if title == "" {
		cells = r.figures(of)
	}
	v := verdict{}
	if least > 0 {
		v = verdict{decimals(least), median >= least}
	}
	r.add(cells, fmt.Sprintf("%.2f (%.2f to %.2f)", median, low, high), v)
}

// slower adds the ratio of a side's p99 to that of another one, which must be at
// most so much (0: it is only shown).
func (r *report) slower(of, against *side, most float64) {
	median, low, high := ratio(of, against, p99Of)
	v := verdict{}
	if most > 0 {
		v = verdict{"at most " + decimals(most), median <= most}
	}
	r.add(r.figures(of), fmt.Sprintf("p99: %.2f (%.2f to %.2f)", median, low, high), v)
}

// atLeast adds a side whose rate must be at least so much.
func (r *report) atLeast(s *side, least float64) {
	r.line(s, verdict{fmt.Sprintf("at least %.0f/s", least), s.median(rateOf) >= least})
}

// within adds a side whose times must stay below others.
func (r *report) within(s *side, p50, p99 time.Duration) {
	target, met := fmt.Sprintf("p99 below %v", p99), s.median(p99Of) < float64(p99)
	if p50 > 0 {
		target, met = fmt.Sprintf("p50 below %v, ", p50)+target, met && s.median(p50Of) < float64(p50)
	}
	r.line(s, verdict{target, met})
}

// limit adds a figure that must stay below another one.
func (r *report) limit(title string, value, most float64, unit string) {
	r.add([]string{title, fmt.Sprintf("%.0f %s", value, unit), "", "", ""}, "", verdict{fmt.Sprintf("below %.0f %s", most, unit), value < most})
}

// memory adds how much memory a process holds now, and held at most.
func (r *report) memory(name string, p *process, most float64) {
	r.limit("memory of the service after all this (VmRSS), "+name, p.memory("VmRSS"), most, "MiB")
	r.limit("its most memory (VmHWM), "+name, p.memory("VmHWM"), most, "MiB")
}

// figures are the first cells of a side's line.
func (r *report) figures(s *side) []string {
	for _, m := range s.rounds {
		if m.Errors > 0 {
			r.errors = append(r.errors, fmt.Sprintf("%s: %d errors, first: %s", s.name, m.Errors, m.FirstError))
		}
	}
	cells := []string{s.name, thousands(int(s.median(rateOf)))}
	for _, f := range []figure{p50Of, p99Of, cpuOf} {
		cells = append(cells, micros(time.Duration(s.median(f))))
	}
	return cells
}

// decimals is a figure with one decimal, or with two if it has them.
func decimals(v float64) string {
	if text := fmt.Sprintf("%.2f", v); !strings.HasSuffix(text, "0") {
		return text
	}
	return fmt.Sprintf("%.1f", v)
}

// micros is empty for an unknown time.
func micros(d time.Duration) string {
	switch {
	case d == 0:
		return ""
	case d < 10*time.Millisecond:
		return fmt.Sprintf("%d us", d.Microseconds())
	}
	return fmt.Sprintf("%d ms", d.Milliseconds())
}

// text is the table and what is below it.
func (r *report) text() string {
	widths := make([]int, len(columns))
	table := append([][]string{columns, make([]string, len(columns))}, r.rows...)
	for _, row := range table {
		for i, cell := range row {
			widths[i] = max(widths[i], utf8.RuneCountInString(cell))
		}
	}
	for i, w := range widths {
		table[1][i] = strings.Repeat("-", w)
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s\n\n", r.title)
	for _, row := range table {
		for i, cell := range row {
			fmt.Fprintf(&b, "| %-*s ", widths[i], cell)
		}
		b.WriteString("|\n")
	}
	for _, note := range r.notes {
		fmt.Fprintf(&b, "\n%s\n", note)
	}
	return b.String()
}

// machine describes where the figures were measured.
func machine(folder string) string {
	_, cpu, _ := strings.Cut(string(must(os.ReadFile("/proc/cpuinfo"))), "model name\t: ")
	cpu, _, _ = strings.Cut(cpu, "\n")
	return fmt.Sprintf("%s, %d cores shared by service, load generator and disk; %s, %s/%s; a 4 KiB write with fdatasync takes %v",
		strings.TrimSpace(cpu), runtime.NumCPU(), runtime.Version(), runtime.GOOS, runtime.GOARCH, round(syncTime(folder)))
}

// syncTime is the median time of a small write that is flushed to the disk of
// this folder. No durable transaction takes less.
func syncTime(folder string) time.Duration {
	f := must(os.CreateTemp(folder, "sync"))
	defer func() { _ = f.Close(); _ = os.Remove(f.Name()) }()
	values := make([]float64, 200)
	for i := range values {
		began := time.Now()
		must(f.WriteAt(make([]byte, 4096), int64(i%8)*4096))
		check(syscall.Fdatasync(int(f.Fd())))
		values[i] = float64(time.Since(began))
	}
	return time.Duration(medianOf(values))
}

// marks are the lines around what -write writes of a section.
func marks(section string) (begin, end string) {
	return "<!-- begin " + section + " -->", "<!-- end " + section + " -->"
}

// replaceSection replaces what stands between the marks of a section.
func replaceSection(document, section, text string) (string, error) {
	begin, end := marks(section)
	before, rest, found := strings.Cut(document, begin)
	_, after, ended := strings.Cut(rest, end)
	if !found || !ended {
		return "", fmt.Errorf("the document has no place for section %s: %s and %s", section, begin, end)
	}
	return before + begin + "\n\n" + text + "\n" + end + after, nil
}
