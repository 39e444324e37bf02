package site

import (
	"fmt"
	"html/template"
	"time"

	"purveyor/internal/commerce"
	"purveyor/internal/requestlog"
	"purveyor/internal/site/chart"
)

// UseTime is how far back Use looks.
const UseTime = 24 * time.Hour

// Use is how much a partner asked for in the last UseTime, and how much of it went wrong.
type Use struct {
	Requests int64
	Refused  int64 // 4xx, but for 429
	Limited  int64 // 429
	Failed   int64 // 5xx
	Limit    int64 // requests a minute of one key
	Busiest  int64 // requests of the busiest minute, of all keys
	At       commerce.Millis
	hours    []float64 // the busiest minute of each hour
	labels   []string
}

// UseOf adds up the counts of minutes.
func UseOf(counts []requestlog.Count, limit int64, now commerce.Millis, zone *time.Location) Use {
	const hours = int(UseTime / time.Hour)
	u := Use{Limit: limit, hours: make([]float64, hours)}
	from := now.Add(-UseTime)
	for i := range hours {
		u.labels = append(u.labels, from.Add(time.Duration(i+1)*time.Hour).Time().In(zone).Format("15:04"))
	}
	minutes := map[commerce.Millis]int64{}
	for _, c := range counts {
		hour := int(c.Minute.Sub(from) / time.Hour)
		if c.Minute < from || hour >= hours {
			continue
		}
		u.Requests, u.Refused, u.Limited, u.Failed = u.Requests+c.Requests, u.Refused+c.Refused, u.Limited+c.Limited, u.Failed+c.Failed
		minutes[c.Minute] += c.Requests // of both modes
		u.hours[hour] = max(u.hours[hour], float64(minutes[c.Minute]))
		if minutes[c.Minute] > u.Busiest {
			u.Busiest, u.At = minutes[c.Minute], c.Minute
		}
	}
	return u
}

// ErrorRate is the share of requests that were refused or failed.
func (u Use) ErrorRate() string { return percent(u.Refused+u.Limited+u.Failed, u.Requests) }

// Share is how much of the limit of one key the busiest minute is.
func (u Use) Share() string { return percent(u.Busiest, u.Limit) }

// Over reports whether requests were refused because of the limit.
func (u Use) Over() bool { return u.Limited > 0 }

func percent(part, of int64) string {
	if of == 0 {
		return "0 %"
	}
	return fmt.Sprintf("%.1f %%", float64(part)*100/float64(of))
}

// Chart draws the busiest minute of each hour.
func (u Use) Chart() template.HTML {
	return chart.Chart{Title: "Requests in the busiest minute of each hour", Along: "Hour until", Labels: u.labels, Series: []chart.Series{{Name: "Requests", Values: u.hours}}}.Bars()
}
