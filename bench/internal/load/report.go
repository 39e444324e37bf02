package load

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

// Report gathers the tables, as Markdown that also reads well on a terminal.
type Report struct {
	head   string
	parts  []string
	rows   [][]string // of the table under way
	notes  []string   // that go below it
	errors int
}

var columns = []string{"case", "requests/s", "p50", "p99", "server CPU a request", "errors", "ratio (least to most)", "target", "met"}

func newReport(folder, command string) (*Report, error) {
	sync, err := syncTime(folder)
	if err != nil {
		return nil, err
	}
	head := fmt.Sprintf("%s: `%s`\n\nMachine: %s, %d cores shared by server, load generator and disk; %s, %s/%s; "+
		"a 4 KiB write with fdatasync takes %v.\n\n"+
		"%d keep-alive connections over loopback, each with one request at a time. Rates, percentiles and ratios are medians of the rounds; "+
		"a ratio compares the two runs of one round. Logs are at info, into a file, unless a line says otherwise.",
		time.Now().UTC().Format(time.DateOnly), command, cpuName(), runtime.NumCPU(), runtime.Version(),
		runtime.GOOS, runtime.GOARCH, round(sync), Callers)
	return &Report{head: head}, nil
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

func (s Size) String() string {
	return fmt.Sprintf("%s stores, %s products, %s orders", thousands(s.Stores), thousands(s.Products), thousands(s.Orders))
}

// Record says what was sent before, and what could not be.
func (s Size) Record() string {
	return fmt.Sprintf("%s delivered webhooks on record, %s that wait for a dead endpoint", thousands(s.Events), thousands(s.Parked))
}

func thousands(n int) string {
	text := fmt.Sprint(n)
	for i := len(text) - 3; i > 0; i -= 3 {
		text = text[:i] + "," + text[i:]
	}
	return text
}

// Section begins a part with a table of its own.
func (r *Report) Section(title string) {
	r.flush()
	r.parts = append(r.parts, "### "+title)
}

// Note is a sentence below the table.
func (r *Report) Note(format string, args ...any) {
	r.notes = append(r.notes, fmt.Sprintf(format, args...))
}

// Compare adds a line of a series with its ratio to another one. With a
// title the line is of the ratio alone.
func (r *Report) Compare(of, against *Series, target float64, title string) {
	r.compare(of, against, target, title, rateOf)
}

// ComparePromptness adds a line of the ratio of two medians of times, the other
// way round: 0.5 is twice as long.
func (r *Report) ComparePromptness(of, against *Series, target float64, title string) {
	r.compare(of, against, target, title, promptness)
}

func (r *Report) compare(of, against *Series, target float64, title string, figure func(Measurement) float64) {
	median, least, most := ratio(of, against, figure)
	row := []string{title, "", "", "", "", ""}
	if title == "" {
		row = r.figures(of)
	}
	row = append(row, fmt.Sprintf("%.2f (%.2f to %.2f)", median, least, most), "", "")
	if target > 0 {
		row[7], row[8] = decimals(target), verdict(median >= target)
	}
	r.rows = append(r.rows, row)
}

// Slower adds a line of how many times as long the slowest of a hundred takes
// as that of another series, which must not be more than so many times; 0: it
// is only shown.
func (r *Report) Slower(of, against *Series, most float64) {
	median, least, high := ratio(of, against, func(m Measurement) float64 { return float64(m.P99) })
	row := append(r.figures(of), fmt.Sprintf("p99: %.2f (%.2f to %.2f)", median, least, high), "", "")
	if most > 0 {
		row[7], row[8] = "at most "+decimals(most), verdict(median <= most)
	}
	r.rows = append(r.rows, row)
}

// AtLeast adds a line of a series whose rate must not be below another.
func (r *Report) AtLeast(s *Series, least float64) {
	r.rows = append(r.rows, append(r.figures(s), "", fmt.Sprintf("at least %.0f/s", least), verdict(s.rate() >= least)))
}

// Within adds a line of a series whose percentiles must stay below others.
func (r *Report) Within(s *Series, p50, p99 time.Duration) {
	met := s.median(func(m Measurement) float64 { return float64(m.P50) }) < float64(p50) &&
		s.median(func(m Measurement) float64 { return float64(m.P99) }) < float64(p99)
	r.rows = append(r.rows, append(r.figures(s), "", fmt.Sprintf("p50 below %v, p99 below %v", p50, p99), verdict(met)))
}

// decimals is a figure with one decimal, or two where it has them.
func decimals(v float64) string {
	if text := fmt.Sprintf("%.2f", v); !strings.HasSuffix(text, "0") {
		return text
	}
	return fmt.Sprintf("%.1f", v)
}

// Show adds lines of baselines.
func (r *Report) Show(list ...*Series) {
	for _, s := range list {
		r.rows = append(r.rows, append(r.figures(s), "", "", ""))
	}
}

func (r *Report) figures(s *Series) []string {
	r.errors += s.errors()
	in := func(f func(Measurement) time.Duration) string {
		return micros(time.Duration(s.median(func(m Measurement) float64 { return float64(f(m)) })))
	}
	return []string{s.Name, thousands(int(s.rate())),
		in(func(m Measurement) time.Duration { return m.P50 }), in(func(m Measurement) time.Duration { return m.P99 }),
		in(func(m Measurement) time.Duration { return m.ServerCPU }), fmt.Sprint(s.errors())}
}

// micros is empty for what is not known.
func micros(d time.Duration) string {
	if d == 0 {
		return ""
	}
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

// Limit adds a figure that must stay below another.
func (r *Report) Limit(title string, value, most float64, unit string) {
	r.rows = append(r.rows, []string{title, fmt.Sprintf("%.0f %s", value, unit), "", "", "", "", "",
		fmt.Sprintf("below %.0f %s", most, unit), verdict(value < most)})
}

// Memory adds what a server process holds after its load, and held at most.
func (r *Report) Memory(name string, p *Process, most float64) error {
	for _, figure := range []struct{ Name, title string }{
		{"VmRSS", "memory of " + name + " after all this (VmRSS)"}, {"VmHWM", "its most memory (VmHWM)"}} {
		mib, err := p.Memory(figure.Name)
		if err != nil {
			return err
		}
		r.Limit(figure.title, mib, most, "MiB")
	}
	return nil
}

// flush ends the table under way.
func (r *Report) flush() {
	if len(r.rows) > 0 {
		r.parts = append(r.parts, r.table())
	}
	r.parts = append(r.parts, r.notes...)
	r.rows, r.notes = nil, nil
}

func (r *Report) table() string {
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

// Text is the whole report.
func (r *Report) Text() string {
	r.flush()
	return strings.Join(append([]string{r.head}, r.parts...), "\n\n")
}

// Failed is an error if any request failed: figures beside failures are worth
// nothing.
func (r *Report) Failed() error {
	if r.errors > 0 {
		return fmt.Errorf("%d requests failed", r.errors)
	}
	return nil
}

// marks are the lines around the section that a package writes.
func marks(pkg string) (begin, end string) {
	mark := "<!-- written by `go run " + pkg + " -write`: "
	return mark + "begin -->", mark + "end -->"
}

// WriteSection replaces what stands between the two marks of a package, or
// appends both to a file that has none.
func WriteSection(path, pkg, text string) error {
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
	made, err := replaceSection(old, pkg, text)
	if err != nil {
		return err
	}
	return os.WriteFile(path, made, 0o644)
}

func replaceSection(old []byte, pkg, text string) ([]byte, error) {
	begin, end := marks(pkg)
	section := begin + "\n\n" + text + "\n\n" + end
	before, rest, found := bytes.Cut(old, []byte(begin))
	if !found {
		return []byte(strings.TrimRight(string(old), "\n") + "\n\n" + section + "\n"), nil
	}
	_, after, found := bytes.Cut(rest, []byte(end))
	if !found {
		return nil, fmt.Errorf("the mark %q is missing", end)
	}
	return []byte(string(before) + section + string(after)), nil
}
