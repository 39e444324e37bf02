package backoffice

import (
	"cmp"
	"errors"
	"fmt"
	"html/template"
	"net/url"
	"slices"
	"strconv"
	"time"

	"purveyor/internal/commerce"
	"purveyor/internal/site"
	"purveyor/internal/storage"
)

// todayRoutes is the first page.
var todayRoutes = []route{
	{method: get, path: Prefix, may: commerce.MayReadOrders, handle: (*visit).today, word: "Today", icon: "sun"},
}

// reportRoutes are the pages of figures and of what people did.
var reportRoutes = []route{
	{method: get, path: Prefix + "/reports", may: commerce.MayReadReports, handle: (*visit).reports, word: "Reports", icon: "chart-column"},
	{method: get, path: Prefix + "/reports.csv", may: commerce.MayReadReports, handle: (*visit).reportSheet},
	{method: get, path: Prefix + "/audit", may: commerce.MayReadAudit, handle: (*visit).audit, word: "Audit", icon: "scroll-text"},
	{method: get, path: Prefix + "/audit.csv", may: commerce.MayReadAudit, handle: (*visit).auditSheet},
	{method: get, path: Prefix + "/outbox", may: commerce.MayExportOrders, handle: (*visit).outbox, word: "Outbox", icon: "mail"},
	{method: get, path: Prefix + "/outbox/{id}", may: commerce.MayExportOrders, handle: (*visit).outboxMessage},
}

// Bounds of a report.
const (
	mostDays      = 1_100
	mostStoreDays = 100_000 // days times stores
)

// reportPage is the data of the page "reports".
type reportPage struct {
	Report   *report
	From, To string // dates
	Presets  []preset
	Stores   []commerce.Store // to choose from
	StoreID  string
	Sources  []string // to choose from
	Source   string
	Mode     commerce.Mode
	Through  commerce.Millis // the figures end here; 0: there are none yet
	Zone     *time.Location
	Zones    bool         // the stores have several time zones
	Query    template.URL // of this page, for the CSV files
}

// preset is a link to a usual range.
type preset struct {
	Word    string
	Query   template.URL // it was encoded by net/url
	Current bool
}

// orderSources are the sources that an order may have.
var orderSources = []string{commerce.SourcePartner, "service", "ecommerce"}

// readReport makes the report that the query of the URL asks for.
func (v *visit) readReport() (p reportPage, err error) {
	stores, err := v.storesOf(commerce.MayReadReports)
	if err != nil {
		return p, err
	}
	in := v.URL.Query()
	p = reportPage{Stores: stores, Source: in.Get("source"), Mode: commerce.Live, Sources: orderSources, Zone: time.UTC}
	p.StoreID, _ = v.wantedStore()
	if in.Get("mode") == string(commerce.Test) {
		p.Mode = commerce.Test
	}
	q := reportQuery{Source: p.Source, Mode: p.Mode}
	if q.Stores, err = v.narrowed(stores); err != nil {
		return p, err
	}
	if len(q.Stores) > 0 {
		p.Zone = site.ZoneOf(q.Stores[0])
		p.Zones = slices.ContainsFunc(q.Stores, func(s commerce.Store) bool { return s.TimeZone != q.Stores[0].TimeZone })
	}
	position, err := v.o.reads.SumPosition(v.Context(), commerce.SumRun)
	if err != nil && !errors.Is(err, storage.ErrNotFound) {
		return p, err
	}
	p.Through, q.Through = position.At, position.At
	today := v.o.env.Now().In(p.Zone)
	if q.From, q.To, err = rangeOf(in, today); err != nil {
		return p, err
	}
	if q.days() > mostDays {
		return p, commerce.Invalid("to", "a report may have %d days at most", mostDays)
	}
	if q.days()*max(1, len(q.Stores)) > mostStoreDays {
		return p, commerce.Invalid("to", "this report would have more than %d days of stores; choose a store, or fewer days", mostStoreDays)
	}
	p.From, p.To = q.From.Format(time.DateOnly), q.To.Format(time.DateOnly)
	p.Presets = presets(in, today, p.From, p.To)
	in.Del("by")
	p.Query = template.URL(in.Encode())
	p.Report, err = newReport(v.Context(), v.o.reads, q)
	return p, err
}

// rangeOf are the first and the last day that are asked for: the last seven days if none is.
func rangeOf(in url.Values, today time.Time) (from, to time.Time, err error) {
	from, to = today.AddDate(0, 0, -6), today
	for field, at := range map[string]*time.Time{"from": &from, "to": &to} {
		if text := in.Get(field); text != "" {
			if *at, err = time.ParseInLocation(time.DateOnly, text, today.Location()); err != nil || at.Year() < 1970 || at.Year() > 9999 {
				return from, to, commerce.Invalid(field, "%s must be a date like 2026-01-31", field)
			}
		}
	}
	if dayNumber(from) > dayNumber(to) {
		return from, to, commerce.Invalid("to", "the last day lies before the first one")
	}
	return from, to, nil
}

// presets are the usual ranges, with the rest of the query kept.
func presets(in url.Values, today time.Time, from, to string) (list []preset) {
	first := time.Date(today.Year(), today.Month(), 1, 0, 0, 0, 0, today.Location())
	for _, p := range []struct {
		word     string
		from, to time.Time
	}{
		{"Today", today, today}, {"Yesterday", today.AddDate(0, 0, -1), today.AddDate(0, 0, -1)},
		{"7 days", today.AddDate(0, 0, -6), today}, {"31 days", today.AddDate(0, 0, -30), today},
		{"This month", first, today}, {"Last month", first.AddDate(0, -1, 0), first.AddDate(0, 0, -1)},
	} {
		q := url.Values{}
		for name, values := range in {
			q[name] = values
		}
		q.Set("from", p.from.Format(time.DateOnly))
		q.Set("to", p.to.Format(time.DateOnly))
		list = append(list, preset{p.word, template.URL(q.Encode()), q.Get("from") == from && q.Get("to") == to})
	}
	return list
}

// reports shows the figures of a range of days.
func (v *visit) reports() error {
	p, err := v.readReport()
	if err != nil {
		return err
	}
	return v.page("reports", "Reports", p)
}

// Reported reports whether there is anything to show.
func (p reportPage) Reported() bool { return p.Report.Total.Of(commerce.SumMade) > 0 }

// reportSheet is one of the tables of a report as a CSV file.
func (v *visit) reportSheet() error {
	p, err := v.readReport()
	if err != nil {
		return err
	}
	by := cmp.Or(v.URL.Query().Get("by"), "day")
	lines, known := map[string][]reportLine{"day": p.Report.Days, "hour": p.Report.Hours, "store": p.Report.Stores, "source": p.Report.Sources}[by]
	if !known {
		return commerce.Invalid("by", "by must be day, hour, store or source")
	}
	columns := []string{by}
	if by == "store" {
		columns = append(columns, "store_id", "median_seconds_paid_to_confirmed", "p95_seconds_paid_to_confirmed", "median_seconds_confirmed_to_done", "p95_seconds_confirmed_to_done")
	}
	for _, c := range sheetFigures {
		columns = append(columns, c.name)
	}
	s := v.sheet("report-"+p.From+"-"+p.To+"-by-"+by, columns...)
	for _, line := range lines {
		cells := []string{line.Name}
		if by == "store" {
			cells = append(cells, line.ID)
			for _, w := range []*commerce.Waits{&line.Confirm, &line.Finish} {
				cells = append(cells, seconds(w, 0.5), seconds(w, 0.95))
			}
		}
		for _, c := range sheetFigures {
			if cells = append(cells, strconv.FormatInt(line.Of(c.figure), 10)); c.cents {
				cells[len(cells)-1] = commerce.FormatMajor(line.Cents(c.figure))
			}
		}
		s.row(cells...)
	}
	s.Flush()
	return nil
}

// seconds is a quantile as a cell; empty without waits.
func seconds(w *commerce.Waits, part float64) string {
	if w.Count() == 0 {
		return ""
	}
	return strconv.Itoa(int(w.Quantile(part) / time.Second))
}

// sheetFigures are the columns of a report's CSV file.
var sheetFigures = []struct {
	name   string
	figure commerce.Figure
	cents  bool
}{
	{"orders", commerce.SumMade, false}, {"paid", commerce.SumPaid, false}, {"handed_over", commerce.SumDone, false},
	{"cancelled", commerce.SumCancelled, false}, {"refunded_in_full", commerce.SumRefunded, false},
	{"sales", commerce.SumTotal, true}, {"tax", commerce.SumTax, true}, {"delivery_fees", commerce.SumFee, true},
	{"sales_stopped", commerce.SumTotalStopped, true}, {"captured", commerce.SumCaptured, true}, {"refunds", commerce.SumReturned, true},
	{"couriers_found", commerce.SumCourierFound, false}, {"couriers_left", commerce.SumCourierLeft, false},
	{"courier_deliveries", commerce.SumByCourier, false}, {"courier_deliveries_late", commerce.SumCourierLate, false},
}

// waited is a quantile of waits in words.
func waited(w commerce.Waits, part float64) string {
	if w.Count() == 0 {
		return "–"
	}
	d := w.Quantile(part)
	switch {
	case d < time.Minute:
		return fmt.Sprintf("%d s", d/time.Second)
	case d < time.Hour:
		return fmt.Sprintf("%d min %d s", d/time.Minute, d%time.Minute/time.Second)
	}
	return fmt.Sprintf("%d h %d min", d/time.Hour, d%time.Hour/time.Minute)
}

// The figures, for templates.

// Made is how many orders there are; the others are figures of the same names.
func (l reportLine) Made() int64              { return l.Of(commerce.SumMade) }
func (l reportLine) Paid() int64              { return l.Of(commerce.SumPaid) }
func (l reportLine) Done() int64              { return l.Of(commerce.SumDone) }
func (l reportLine) Cancelled() int64         { return l.Of(commerce.SumCancelled) }
func (l reportLine) Refunded() int64          { return l.Of(commerce.SumRefunded) }
func (l reportLine) Sales() commerce.Cents    { return l.Cents(commerce.SumTotal) }
func (l reportLine) Tax() commerce.Cents      { return l.Cents(commerce.SumTax) }
func (l reportLine) Fees() commerce.Cents     { return l.Cents(commerce.SumFee) }
func (l reportLine) Stopped() commerce.Cents  { return l.Cents(commerce.SumTotalStopped) }
func (l reportLine) Captured() commerce.Cents { return l.Cents(commerce.SumCaptured) }
func (l reportLine) Refunds() commerce.Cents  { return l.Cents(commerce.SumReturned) }
func (l reportLine) Found() int64             { return l.Of(commerce.SumCourierFound) }
func (l reportLine) Left() int64              { return l.Of(commerce.SumCourierLeft) }
func (l reportLine) Brought() int64           { return l.Of(commerce.SumByCourier) }
func (l reportLine) Late() int64              { return l.Of(commerce.SumCourierLate) }

// Events is how many webhook events there are, Tried how many of them were sent, and Arrived
// how many were delivered.
func (l reportLine) Events() int64  { return l.Of(commerce.SumHooks) }
func (l reportLine) Tried() int64   { return l.Of(commerce.SumHooksTried) }
func (l reportLine) Arrived() int64 { return l.Of(commerce.SumHooksDelivered) }

// share is a part of a whole as a percentage.
func share(part, whole int64) string {
	if whole == 0 {
		return "–"
	}
	return fmt.Sprintf("%.1f %%", 100*float64(part)/float64(whole))
}
