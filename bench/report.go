package main

import (
	"fmt"
	"os"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"time"
	"unicode/utf8"
)

// report is the table of one section.
type report struct {
	title  string
	rows   [][]string
	notes  []string // below the table
	errors []string // of requests
}

var columns = []string{"case", "requests/s", "p50", "p99", "server CPU a request", "ratio (least to most)", "target", "met"}

// note adds a sentence below the table.
func (r *report) note(format string, args ...any) {
	r.notes = append(r.notes, fmt.Sprintf(format, args...))
}

// add adds a line. Without a target there is nothing to meet.
func (r *report) add(figures []string, ratio, target string, met bool) {
	answer := map[bool]string{true: "yes", false: "no"}[met]
	if target == "" {
		answer = ""
	}
	r.rows = append(r.rows, append(figures, ratio, target, answer))
}

// show adds figures without a target.
func (r *report) show(list ...*side) {
	for _, s := range list {
		r.add(r.figures(s), "", "", false)
	}
}

// compare adds the ratio of a side's rate to that of another one, which must be
// at least so much (0: it is only shown). With a title, the line has no figures.
func (r *report) compare(of, against *side, least float64, title string) {
	r.compareBy(rateOf, of, against, least, title)
}

func (r *report) compareBy(by figure, of, against *side, least float64, title string) {
	median, low, high := ratio(of, against, by)
	cells, target := []string{title, "", "", "", ""}, ""
	if title == "" {
		cells = r.figures(of)
	}
	if least > 0 {
		target = decimals(least)
	}
	r.add(cells, spread(median, low, high), target, median >= least)
}

// slower adds the ratio of a side's p99 to that of another one, which must be at
// most so much (0: it is only shown).
func (r *report) slower(of, against *side, most float64) {
	median, low, high := ratio(of, against, p99Of)
	target := ""
	if most > 0 {
		target = "at most " + decimals(most)
	}
	r.add(r.figures(of), "p99: "+spread(median, low, high), target, median <= most)
}

// atLeast adds a side whose rate must be at least so much.
func (r *report) atLeast(s *side, least float64) {
	r.add(r.figures(s), "", fmt.Sprintf("at least %.0f/s", least), s.median(rateOf) >= least)
}

// within adds a side whose times must stay below others.
func (r *report) within(s *side, p50, p99 time.Duration) {
	target, met := fmt.Sprintf("p99 below %v", p99), s.median(p99Of) < float64(p99)
	if p50 > 0 {
		target, met = fmt.Sprintf("p50 below %v, ", p50)+target, met && s.median(p50Of) < float64(p50)
	}
	r.add(r.figures(s), "", target, met)
}

// limit adds a figure that must stay below another one.
func (r *report) limit(title string, value, most float64, unit string) {
	r.add([]string{title, fmt.Sprintf("%.0f %s", value, unit), "", "", ""}, "", fmt.Sprintf("below %.0f %s", most, unit), value < most)
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

// spread is a ratio, with the least and the most of the rounds.
func spread(median, least, most float64) string {
	return fmt.Sprintf("%.2f (%.2f to %.2f)", median, least, most)
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
	text := r.title + "\n\n" + table(append([][]string{columns}, r.rows...))
	for _, note := range r.notes {
		text += "\n" + note + "\n"
	}
	return text
}

// table is Markdown that also reads well on a terminal. The first row is the head.
func table(rows [][]string) string {
	widths := make([]int, len(rows[0]))
	for _, row := range rows {
		for i, cell := range row {
			widths[i] = max(widths[i], utf8.RuneCountInString(cell))
		}
	}
	line := make([]string, len(widths))
	for i, w := range widths {
		line[i] = strings.Repeat("-", w)
	}
	var b strings.Builder
	for _, row := range slices.Insert(rows, 1, line) {
		for i, cell := range row {
			fmt.Fprintf(&b, "| %-*s ", widths[i], cell)
		}
		b.WriteString("|\n")
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

// The document has the figures that have a target, in one table between these marks.
const beginFigures, endFigures = "<!-- begin figures -->", "<!-- end figures -->"

// replaceFigures puts the rows of a section in the place of those that the
// document has of it. Rows of the other sections stay; about is written above all.
func replaceFigures(document, section, about, day string, measured [][]string) (string, error) {
	before, rest, found := strings.Cut(document, beginFigures)
	old, after, ended := strings.Cut(rest, endFigures)
	if !found || !ended {
		return "", fmt.Errorf("the document has no place for figures: %s and %s", beginFigures, endFigures)
	}
	rows := [][]string{append(append([]string{"section"}, columns...), "measured")}
	for _, s := range sections {
		for _, row := range measured {
			if s.name == section && row[len(row)-2] != "" {
				rows = append(rows, append(append([]string{section}, row...), day))
			}
		}
		for line := range strings.Lines(old) {
			if cells := cellsOf(line); s.name != section && cells[0] == s.name {
				rows = append(rows, cells)
			}
		}
	}
	return before + beginFigures + "\n\n" + about + "\n\n" + table(rows) + "\n" + endFigures + after, nil
}

// cellsOf is the cells of a line of a table.
func cellsOf(line string) []string {
	cells := strings.Split(strings.Trim(line, "|\n"), "|")
	for i := range cells {
		cells[i] = strings.TrimSpace(cells[i])
	}
	return cells
}
