// Package chart draws bars and lines as SVG. Every chart has its figures as a table below it,
// folded away. The colours stand in the style sheet, so a chart has neither style nor script.
package chart

import (
	"fmt"
	"html/template"
	"math"
	"strconv"
	"strings"
)

// Series is one row of values.
type Series struct {
	Name   string
	Values []float64 // one for each label of the chart; NaN where there is none
}

// Chart is what is drawn.
type Chart struct {
	Title  string // what it shows: "Orders by day"
	Along  string // what the labels are: "Day"
	Labels []string
	Series []Series // at most 4
	// Write is a value as people read it; nil: as a plain number.
	Write func(float64) string
}

// The drawing is as wide as its page: places from left to right are in percent, those from
// top to bottom in pixels.
const (
	height = 200
	top    = 18.0  // the highest line of the grid
	bottom = 172.0 // the lowest
	steps  = 4     // between the lines of the grid
)

// Bars draws the series side by side.
func (c Chart) Bars() template.HTML {
	return c.draw(func(b *strings.Builder, s scale) {
		slot := s.slot(len(c.Labels))
		wide := slot * 0.72 / float64(max(1, len(c.Series)))
		for n, series := range c.Series {
			for i := range c.Labels {
				v := series.at(i)
				if math.IsNaN(v) {
					continue
				}
				from, to := s.y(max(v, 0)), s.y(min(v, 0))
				fmt.Fprintf(b, `<rect class="s%d" x="%s%%" y="%s" width="%s%%" height="%s"><title>%s</title></rect>`, n+1,
					short(s.left+float64(i)*slot+slot*0.14+float64(n)*wide), short(from), short(wide*0.92), short(max(to-from, 0)), c.told(n, i))
			}
		}
	})
}

// Lines draws each series as a line. A missing value leaves a gap.
func (c Chart) Lines() template.HTML {
	const mostDots = 62 // beyond them dots would hide the line
	return c.draw(func(b *strings.Builder, s scale) {
		slot := s.slot(len(c.Labels))
		x := func(i int) string { return short(s.left + float64(i)*slot + slot/2) }
		for n, series := range c.Series {
			for i := range c.Labels {
				v := series.at(i)
				if math.IsNaN(v) {
					continue
				}
				if before := series.at(i - 1); !math.IsNaN(before) {
					fmt.Fprintf(b, `<line class="l s%d" x1="%s%%" y1="%s" x2="%s%%" y2="%s"/>`, n+1, x(i-1), short(s.y(before)), x(i), short(s.y(v)))
				}
				if len(c.Labels) <= mostDots || math.IsNaN(series.at(i-1)) && math.IsNaN(series.at(i+1)) {
					fmt.Fprintf(b, `<circle class="s%d" cx="%s%%" cy="%s" r="3.5"><title>%s</title></circle>`, n+1, x(i), short(s.y(v)), c.told(n, i))
				}
			}
		}
	})
}

// at is the value of a place; NaN beyond the values, and for what is no number.
func (s Series) at(i int) float64 {
	if i < 0 || i >= len(s.Values) || math.IsInf(s.Values[i], 0) {
		return math.NaN()
	}
	return s.Values[i]
}

// told is a value in words.
func (c Chart) told(series, i int) string {
	text := c.Labels[i] + ": " + c.write(c.Series[series].at(i))
	if len(c.Series) > 1 {
		text = c.Series[series].Name + ", " + text
	}
	return escape(text)
}

func (c Chart) write(v float64) string {
	switch {
	case math.IsNaN(v):
		return ""
	case c.Write != nil:
		return c.Write(v)
	}
	return strconv.FormatFloat(v, 'f', -1, 64)
}

// draw draws the grid, what the kind of chart puts on it, and the figures.
func (c Chart) draw(values func(*strings.Builder, scale)) template.HTML {
	var b strings.Builder
	s := c.scale()
	for i := range steps { // on a phone a letter takes two percent
		s.left = max(s.left, 2+2*float64(len(c.write(s.line(i+1)))))
	}
	fmt.Fprintf(&b, `<figure class="chart"><svg role="img" height="%d" width="100%%"><title>%s</title>`, height, escape(c.Title))
	for i := range steps + 1 {
		v := s.line(i)
		class := "grid"
		if v == 0 {
			class = "zero"
		}
		fmt.Fprintf(&b, `<line class="%s" x1="0" x2="100%%" y1="%s" y2="%[2]s"/>`, class, short(s.y(v)))
	}
	values(&b, s)
	for i := range steps {
		v := s.line(i + 1)
		fmt.Fprintf(&b, `<text x="0" y="%s">%s</text>`, short(s.y(v)-4), escape(c.write(v)))
	}
	c.labels(&b, s)
	b.WriteString(`</svg>`)
	c.legend(&b)
	c.figures(&b)
	b.WriteString(`</figure>`)
	return template.HTML(b.String())
}

// labels writes as many labels as a phone has room for, the first and the last among them.
func (c Chart) labels(b *strings.Builder, s scale) {
	const room = 36 // letters side by side on a phone
	longest := 1
	for _, l := range c.Labels {
		longest = max(longest, len([]rune(l))+2)
	}
	slot := s.slot(len(c.Labels))
	shown := min(len(c.Labels), max(2, room/longest))
	for n := range shown {
		i := 0
		if shown > 1 {
			i = n * (len(c.Labels) - 1) / (shown - 1)
		}
		at, anchor := s.left+float64(i)*slot+slot/2, "middle"
		switch { // a label must not stand out of the drawing
		case shown > 1 && n == 0 && slot < 20:
			at, anchor = s.left+float64(i)*slot, "start"
		case shown > 1 && n == shown-1 && slot < 20:
			at, anchor = s.left+float64(i+1)*slot, "end"
		}
		fmt.Fprintf(b, `<text x="%s%%" y="%d" text-anchor="%s">%s</text>`, short(at), height-8, anchor, escape(c.Labels[i]))
	}
}

func (c Chart) legend(b *strings.Builder) {
	if len(c.Series) < 2 {
		return
	}
	b.WriteString(`<ul class="legend">`)
	for n, s := range c.Series {
		fmt.Fprintf(b, `<li><svg width="20" height="12" aria-hidden="true"><rect class="s%d" y="1" width="20" height="10"/></svg>%s</li>`, n+1, escape(s.Name))
	}
	b.WriteString(`</ul>`)
}

// figures is the table of all values.
func (c Chart) figures(b *strings.Builder) {
	fmt.Fprintf(b, `<details class="figures"><summary>Figures</summary><table><thead><tr><th scope="col">%s</th>`, escape(c.Along))
	for _, s := range c.Series {
		fmt.Fprintf(b, `<th scope="col" class="num">%s</th>`, escape(s.Name))
	}
	b.WriteString(`</tr></thead><tbody>`)
	for i, label := range c.Labels {
		fmt.Fprintf(b, `<tr><td>%s</td>`, escape(label))
		for _, s := range c.Series {
			fmt.Fprintf(b, `<td class="num">%s</td>`, escape(c.write(s.at(i))))
		}
		b.WriteString(`</tr>`)
	}
	b.WriteString(`</tbody></table></details>`)
}

// scale maps values to heights.
type scale struct {
	low, high float64
	left      float64 // percent of the width that are for the values of the grid
}

// slot is how wide the place of each of n labels is.
func (s scale) slot(n int) float64 { return (100 - s.left) / float64(max(1, n)) }

func (s scale) y(v float64) float64 { return bottom - (v-s.low)/(s.high-s.low)*(bottom-top) }

// line is the value of a line of the grid, counted from the bottom.
func (s scale) line(i int) float64 { return s.low + (s.high-s.low)*float64(i)/steps }

// scale has zero in it, and round values at the lines of the grid.
func (c Chart) scale() scale {
	low, high := 0.0, 0.0
	for _, s := range c.Series {
		for i := range c.Labels {
			if v := s.at(i); !math.IsNaN(v) {
				low, high = min(low, v), max(high, v)
			}
		}
	}
	if low == 0 && high == 0 {
		return scale{high: steps}
	}
	step := roundUp(max(high, -low) / steps)
	if low == 0 {
		return scale{high: step * steps}
	}
	if high == 0 {
		return scale{low: -step * steps}
	}
	step = roundUp(max(high, -low) / (steps / 2)) // zero is the line in the middle
	return scale{low: -step * steps / 2, high: step * steps / 2}
}

// roundUp is the next round number: of those below ten a whole one, since most charts count.
func roundUp(v float64) float64 {
	if v > 0.1 && v < 1 {
		return 1
	}
	power := math.Pow(10, math.Floor(math.Log10(v)))
	for _, m := range []float64{1, 2, 2.5, 3, 4, 5, 6, 8} {
		if step := m * power; step >= v*(1-1e-9) && (step >= 10 || v < 1 || step == math.Trunc(step)) {
			return step
		}
	}
	return 10 * power
}

// short writes a place with two decimals at most.
func short(v float64) string {
	text := strings.TrimRight(strconv.FormatFloat(v, 'f', 2, 64), "0")
	return strings.TrimSuffix(text, ".")
}

func escape(text string) string { return template.HTMLEscapeString(text) }
