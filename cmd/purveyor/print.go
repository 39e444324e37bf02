package main

import (
	"encoding/json"
	"fmt"
	"io"
	"math"
	"os"
	"strings"
	"text/tabwriter"

	"purveyor/internal/commerce"
)

// printf writes to standard output. Printed texts may come from partners, customers
// and providers, so control characters are removed, except for line breaks and tabs.
func printf(format string, args ...any) { printTo(os.Stdout, format, args...) }

// complain is printf for standard error.
func complain(format string, args ...any) { printTo(os.Stderr, format, args...) }

func printTo(w io.Writer, format string, args ...any) {
	_, _ = io.WriteString(w, commerce.CleanText(fmt.Sprintf(format, args...), math.MaxInt))
}

// printJSON writes v to standard output as one line of JSON, for programs. It does
// not clean texts, so v must not contain foreign ones.
func printJSON(v any) error { return json.NewEncoder(os.Stdout).Encode(v) }

// table prints rows in columns. A cell stays on its line even if its text has line breaks.
type table struct{ w *tabwriter.Writer }

func newTable(heads ...any) table {
	t := table{tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', 0)}
	t.row(heads...)
	return t
}

var oneLine = strings.NewReplacer("\n", " ", "\t", " ")

func (t table) row(cells ...any) {
	texts := make([]string, len(cells))
	for i, c := range cells {
		texts[i] = commerce.CleanText(oneLine.Replace(fmt.Sprint(c)), math.MaxInt)
	}
	_, _ = io.WriteString(t.w, strings.Join(texts, "\t")+"\n")
}

func (t table) flush() error { return t.w.Flush() }
