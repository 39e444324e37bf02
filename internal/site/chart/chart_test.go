package chart

import (
	"encoding/xml"
	"errors"
	"io"
	"math"
	"strings"
	"testing"
)

// TestScales: zero stands at a line of the grid, all values are inside, and the lines stand at
// round values.
func TestScales(t *testing.T) {
	for _, c := range []struct {
		values    []float64
		low, high float64
	}{
		{nil, 0, 4},
		{[]float64{0, 0}, 0, 4},
		{[]float64{1}, 0, 4},
		{[]float64{4}, 0, 4},
		{[]float64{5, 7}, 0, 8},
		{[]float64{9}, 0, 12},
		{[]float64{17}, 0, 20},
		{[]float64{99}, 0, 100},
		{[]float64{101}, 0, 120},
		{[]float64{1_234_567}, 0, 1_600_000},
		{[]float64{-3}, -4, 0},
		{[]float64{-3, 12}, -12, 12},
		{[]float64{0.02}, 0, 0.02},
		{[]float64{math.NaN(), math.Inf(1), 3}, 0, 4},
	} {
		labels := make([]string, len(c.values))
		got := Chart{Labels: labels, Series: []Series{{Values: c.values}}}.scale()
		if math.Abs(got.low-c.low) > 1e-9 || math.Abs(got.high-c.high) > 1e-9 {
			t.Errorf("%v: %v, not from %v to %v", c.values, got, c.low, c.high)
		}
	}
}

// TestBars: each value is a bar of the right height with its figure, from zero on and right of
// the values of the grid; a value that is missing has none. The table has them all.
func TestBars(t *testing.T) {
	got := string(Chart{Title: "Orders & <more>", Along: "Day", Labels: []string{"Mon", "Tue", "<Wed>"},
		Series: []Series{{"Paid", []float64{2, 4, math.NaN()}}, {"Refunded", []float64{0, 1}}},
		Write:  func(v float64) string { return "n" + short(v) }}.Bars())
	sound(t, got)
	for _, want := range []string{"<title>Orders &amp; &lt;more&gt;</title>",
		`<rect class="s1" x="10.39%" y="95" width="10.38%" height="77"><title>Paid, Mon: n2</title></rect>`,
		`y="18" width="10.38%" height="154"><title>Paid, Tue: n4</title>`,
		`height="0"><title>Refunded, Mon: n0</title>`,
		`<tr><td>Tue</td><td class="num">n4</td><td class="num">n1</td></tr>`,
		`<tr><td>&lt;Wed&gt;</td><td class="num"></td><td class="num"></td></tr>`, `<ul class="legend">`} {
		if !strings.Contains(got, want) {
			t.Errorf("lacks %s:\n%s", want, got)
		}
	}
	if strings.Contains(got, "&lt;Wed&gt;:") {
		t.Errorf("a value that is missing is drawn:\n%s", got)
	}
	if n := strings.Count(got, "<rect class"); n != 4+2 { // 2 are of the legend
		t.Errorf("%d bars:\n%s", n, got)
	}
}

// TestLines: neighbours are joined, gaps stay open, and a value between gaps is a dot.
func TestLines(t *testing.T) {
	nan := math.NaN()
	c := Chart{Title: "Stock", Along: "Day", Labels: strings.Split("a b c d e", " "), Series: []Series{{"Stock", []float64{4, 2, nan, 1, nan}}}}
	got := string(c.Lines())
	sound(t, got)
	if n := strings.Count(got, `class="l s1"`); n != 1 {
		t.Errorf("%d lines:\n%s", n, got)
	}
	if !strings.Contains(got, `x1="13.6%" y1="18" x2="32.8%" y2="95"`) {
		t.Errorf("the line is elsewhere:\n%s", got)
	}
	if n := strings.Count(got, "<circle"); n != 3 {
		t.Errorf("%d dots:\n%s", n, got)
	}
	long := Chart{Labels: make([]string, 400), Series: []Series{{"Stock", make([]float64, 400)}}}
	long.Series[0].Values[200], long.Series[0].Values[198] = nan, nan
	if got := string(long.Lines()); strings.Count(got, "<circle") != 1 || strings.Count(got, "<text") > 4+18 {
		t.Errorf("many values: %d dots, %d texts", strings.Count(got, "<circle"), strings.Count(got, "<text"))
	}
}

// TestEmpty: a chart without values is still a chart.
func TestEmpty(t *testing.T) {
	for _, c := range []Chart{{}, {Labels: []string{"a"}}, {Series: []Series{{Name: "x"}}}} {
		sound(t, string(c.Bars()))
		sound(t, string(c.Lines()))
	}
}

// sound checks that the markup is well-formed, and has no style and no script.
func sound(t *testing.T, got string) {
	t.Helper()
	d := xml.NewDecoder(strings.NewReader(got))
	for {
		if _, err := d.Token(); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatalf("%v\n%s", err, got)
		}
	}
	for _, bad := range []string{"style=", "<script", "<style", "NaN", "Inf", "%!"} {
		if strings.Contains(got, bad) {
			t.Errorf("has %s:\n%s", bad, got)
		}
	}
}
