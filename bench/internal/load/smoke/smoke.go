// Package smoke is what the tests of all benchmarks share: that a quick run
// goes through.
package smoke

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"purveyor/bench/internal/load"
)

// Main runs the tests, or the hidden command of the benchmark: its processes
// are the program of the test.
func Main(m *testing.M, hidden load.Hidden) {
	done, err := hidden(os.Args[1:])
	if !done {
		os.Exit(m.Run())
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// Dir is a folder for databases, which PostgreSQL may enter as another user.
func Dir(t *testing.T) string {
	t.Helper()
	if testing.Short() {
		t.Skip("-short leaves out what runs the service under load")
	}
	dir := t.TempDir()
	if err := os.Chmod(filepath.Dir(dir), 0o755); err != nil {
		t.Fatal(err)
	}
	return dir
}

// Report is that of a quick run. One in which a request was not answered in
// time, as the machine was busy with other things, is made again.
func Report(t *testing.T, measure func() (string, error)) string {
	t.Helper()
	text, err := measure()
	if err != nil {
		t.Log(err)
		text, err = measure()
	}
	if err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	return text
}

// HasLines looks for table lines that begin like these.
func HasLines(t *testing.T, report string, beginnings ...string) {
	t.Helper()
	for _, want := range beginnings {
		if !strings.Contains(report, "| "+want+" ") {
			t.Errorf("no line for %q", want)
		}
	}
	if t.Failed() {
		t.Log(report)
	}
}

// OfBoth are titles of cases, as lines have them for both engines.
func OfBoth(titles ...string) (lines []string) {
	for _, title := range titles {
		lines = append(lines, title+", "+load.SQLite, title+", "+load.Postgres)
	}
	return lines
}
