package backoffice

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"time"

	"purveyor/internal/commerce"
	"purveyor/internal/site"
	"purveyor/internal/storage"
)

// report is the figures of a range of days. A day is that of the store's clock.
type report struct {
	Total reportLine
	// Hooks are the webhook events of partners about orders of these stores.
	Hooks reportLine
	// The same orders by the day and by the hour of the day at which they were made, by
	// store and by source. Stores and sources without orders are left out.
	Days, Hours, Stores, Sources []reportLine
}

// reportLine is the figures of some of the orders.
type reportLine struct {
	Name string
	ID   string // of a store
	commerce.Sum
}

// addFigures adds the figures of an hour, without its waits.
func (l *reportLine) addFigures(h *commerce.HourSum) {
	for i, n := range h.Figures {
		l.Figures[i] += n
	}
}

// reportQuery says what a report is about.
type reportQuery struct {
	From, To time.Time // days, both inclusive: their dates count
	Stores   []commerce.Store
	Source   string // empty: all
	Mode     commerce.Mode
	Through  commerce.Millis // sums are complete before this time
}

// days is how many days there are.
func (q reportQuery) days() int { return dayNumber(q.To) - dayNumber(q.From) + 1 }

// dayNumber numbers days by their dates.
func dayNumber(t time.Time) int {
	y, m, d := t.Date()
	return int(time.Date(y, m, d, 0, 0, 0, 0, time.UTC).Unix() / (24 * 60 * 60))
}

const hourOfMillis = commerce.Millis(time.Hour / time.Millisecond)

// slot is where an hour lies on the clock of a store.
type slot struct{ day, hour int } // day counts from the first of the range; below 0: it is outside

// clocks has the slot of every hour of a range, for each time zone.
type clocks struct {
	from, until commerce.Millis // the hours of all zones
	slots       map[string][]slot
}

// newClocks makes the clocks of the stores.
func newClocks(q reportQuery) clocks {
	c := clocks{slots: map[string][]slot{}}
	for _, s := range q.Stores {
		if _, known := c.slots[s.TimeZone]; known {
			continue
		}
		c.slots[s.TimeZone] = nil
		zone := site.ZoneOf(s)
		from, until := midnight(q.From, zone), midnight(q.To.AddDate(0, 0, 1), zone)
		if c.from == 0 || from < c.from {
			c.from = from
		}
		c.until = max(c.until, until)
	}
	c.from, c.until = commerce.HourOf(c.from), min(c.until, q.Through)
	for _, s := range q.Stores {
		if c.slots[s.TimeZone] != nil {
			continue
		}
		zone, list := site.ZoneOf(s), []slot{}
		for at := c.from; at < c.until; at += hourOfMillis {
			local := at.Time().In(zone)
			at := slot{dayNumber(local) - dayNumber(q.From), local.Hour()}
			if at.day >= q.days() {
				at.day = -1
			}
			list = append(list, at)
		}
		c.slots[s.TimeZone] = list
	}
	return c
}

// midnight is when a day begins, on the clock of a zone.
func midnight(day time.Time, zone *time.Location) commerce.Millis {
	y, m, d := day.Date()
	return commerce.MillisOf(time.Date(y, m, d, 0, 0, 0, 0, zone))
}

// newReport adds up the sums of a range.
func newReport(ctx context.Context, reads storage.Sums, q reportQuery) (*report, error) {
	r := &report{Days: make([]reportLine, q.days()), Hours: make([]reportLine, 24), Stores: make([]reportLine, len(q.Stores))}
	for i := range r.Days {
		r.Days[i].Name = q.From.AddDate(0, 0, i).Format(time.DateOnly)
	}
	for i := range r.Hours {
		r.Hours[i].Name = time.Date(0, 1, 1, i, 0, 0, 0, time.UTC).Format("15:04")
	}
	c, f, at := newClocks(q), storage.SumFilter{Mode: q.Mode}, make(map[string]int, len(q.Stores))
	for i, s := range q.Stores {
		r.Stores[i].Name, r.Stores[i].ID = s.Name, s.ID
		at[s.ID], f.StoreIDs = i, append(f.StoreIDs, s.ID)
	}
	if f.From, f.Until = c.from, c.until; len(q.Stores) == 0 || f.From >= f.Until {
		r.Stores = nil
		return r, nil
	}
	sources := map[string]*reportLine{}
	var of string // the store that the following were found for: its hours come one after another
	var store int
	var slots []slot
	err := reads.HourSums(ctx, f, func(key commerce.DaySumsKey, h *commerce.HourSum) {
		if key.StoreID != of || slots == nil {
			of, store = key.StoreID, at[key.StoreID]
			slots = c.slots[q.Stores[store].TimeZone]
		}
		where := slots[(key.Day+commerce.Millis(h.Hour)*hourOfMillis-c.from)/hourOfMillis]
		if where.day < 0 {
			return
		}
		if key.Source == commerce.SumWebhooks {
			r.Hooks.Merge(&h.Sum)
			return
		}
		if q.Source != "" && key.Source != q.Source {
			return
		}
		source := sources[key.Source]
		if source == nil {
			source = &reportLine{Name: key.Source}
			sources[key.Source] = source
		}
		r.Stores[store].Merge(&h.Sum)
		for _, line := range [...]*reportLine{&r.Days[where.day], &r.Hours[where.hour], source} {
			line.addFigures(h)
		}
	})
	for i := range r.Stores {
		r.Total.Sum.Merge(&r.Stores[i].Sum)
	}
	for _, line := range sources {
		r.Sources = append(r.Sources, *line)
	}
	slices.SortFunc(r.Sources, func(a, b reportLine) int { return strings.Compare(a.Name, b.Name) })
	r.Stores = slices.DeleteFunc(r.Stores, func(l reportLine) bool { return l.Of(commerce.SumMade) == 0 })
	slices.SortStableFunc(r.Stores, func(a, b reportLine) int { return cmp.Compare(b.Of(commerce.SumTotal), a.Of(commerce.SumTotal)) })
	return r, err
}
