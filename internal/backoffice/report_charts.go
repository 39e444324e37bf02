package backoffice

import (
	"fmt"
	"html/template"
	"math"

	"purveyor/internal/commerce"
	"purveyor/internal/site/chart"
)

// lineChart begins a chart of lines of a report.
func lineChart(title, along string, lines []reportLine, series ...chart.Series) chart.Chart {
	c := chart.Chart{Title: title, Along: along, Series: series}
	for _, l := range lines {
		c.Labels = append(c.Labels, l.Name)
	}
	return c
}

// figuresOf are the values of a figure.
func figuresOf(name string, lines []reportLine, figure commerce.Figure) chart.Series {
	s := chart.Series{Name: name}
	for _, l := range lines {
		s.Values = append(s.Values, float64(l.Of(figure)))
	}
	return s
}

// dollars writes cents.
func dollars(cents float64) string { return commerce.Cents(math.Round(cents)).Dollars() }

// OrderDays draws how many orders were made on each day.
func (r *report) OrderDays() template.HTML {
	return lineChart("Orders by day", "Day", r.Days, figuresOf("Made", r.Days, commerce.SumMade), figuresOf("Cancelled", r.Days, commerce.SumCancelled)).Bars()
}

// MoneyDays draws the money of each day.
func (r *report) MoneyDays() template.HTML {
	c := lineChart("Money by day", "Day", r.Days, figuresOf("Sales", r.Days, commerce.SumTotal), figuresOf("Refunds", r.Days, commerce.SumReturned))
	c.Write = dollars
	return c.Bars()
}

// OrderHours draws how many orders were made in each hour of the day.
func (r *report) OrderHours() template.HTML {
	return lineChart("Orders by hour of the day", "Hour", r.Hours, figuresOf("Made", r.Hours, commerce.SumMade)).Bars()
}

// Chart draws the orders of today beside those of a week ago, hour by hour.
func (c comparison) Chart() template.HTML {
	drawn := chart.Chart{Title: "Orders by hour", Along: "Hour", Series: []chart.Series{{Name: "Today", Values: c.Hours}, {Name: "A week ago", Values: c.HoursBefore}}}
	for hour := range max(len(c.Hours), len(c.HoursBefore)) {
		drawn.Labels = append(drawn.Labels, fmt.Sprintf("%02d:00", hour))
	}
	if len(drawn.Labels) < 2 { // nothing to compare yet
		return ""
	}
	return drawn.Lines()
}
