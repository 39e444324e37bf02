package backoffice

import (
	"fmt"
	"html/template"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"purveyor/internal/commerce"
	"purveyor/internal/site"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

const (
	auditPageSize = 50
	// mostExamined is how many rows a filtered list looks at before it says "look further".
	mostExamined = 5000
	examineStep  = 500
)

// auditPage is the data of the page "audit".
type auditPage struct {
	Filter  auditFilter
	Stores  []commerce.Store
	Entries []auditShown
	Query   template.URL // of the filter, for other pages of it
	Next    string       // position of the next page; empty: there is none
	Further bool         // the list ends because too many rows were examined
}

// auditFilter selects entries.
type auditFilter struct {
	Actor, Action string // parts of the name of the actor and of the action
	Store         string // id; empty: all
	From, To      string // dates by UTC
	since, until  commerce.Millis
}

// auditShown is an entry as the page shows it.
type auditShown struct {
	commerce.AuditEntry
	Who     string
	Store   string
	Changes []auditChange
}

// auditChange is one difference between before and after.
type auditChange struct {
	Row           string // "Partners ptn_1"; empty: it is about no row
	Column        string
	Before, After string
	New           bool // there was no row before
}

// filterAudit reads the filter of the URL.
func (v *visit) filterAudit() (f auditFilter, err error) {
	in := v.URL.Query()
	f = auditFilter{Actor: strings.TrimSpace(in.Get("actor")), Action: strings.TrimSpace(in.Get("action")), Store: in.Get("store"), From: in.Get("from"), To: in.Get("to")}
	for field, at := range map[string]*commerce.Millis{"from": &f.since, "to": &f.until} {
		text := in.Get(field)
		if text == "" {
			continue
		}
		day, err := time.ParseInLocation(time.DateOnly, text, time.UTC)
		if err != nil || day.Year() < 1970 || day.Year() > 9999 {
			return f, commerce.Invalid(field, "%s must be a date like 2026-01-31", field)
		}
		if field == "to" {
			day = day.AddDate(0, 0, 1)
		}
		*at = commerce.MillisOf(day)
	}
	return f, nil
}

// query is the filter as a query.
func (f auditFilter) query() template.URL {
	q := url.Values{}
	for name, value := range map[string]string{"actor": f.Actor, "action": f.Action, "store": f.Store, "from": f.From, "to": f.To} {
		if value != "" {
			q.Set(name, value)
		}
	}
	return template.URL(q.Encode())
}

// has reports whether the filter selects an entry, but for its time.
func (f auditFilter) has(e commerce.AuditEntry, who string) bool {
	part := func(text, of string) bool { return strings.Contains(strings.ToLower(text), strings.ToLower(of)) }
	return (f.Store == "" || e.StoreID == f.Store) && (part(who, f.Actor) || part(e.Actor, f.Actor)) &&
		(part(e.Action, f.Action) || part(site.Word(e.Action), f.Action))
}

// walkAudit calls show for the selected entries, the newest first, from behind the entry with an
// id on (empty: from the newest), until show returns false or too many rows were examined. It
// returns the position at which it stopped; empty: at the end.
func (v *visit) walkAudit(f auditFilter, before string, names actorNames, most int, show func(commerce.AuditEntry, string) bool) (stopped string, further bool, err error) {
	if before == "" && f.until != 0 {
		before = commerce.NewID(commerce.PrefixAudit, f.until, commerce.Entropy{})
	}
	for examined := 0; examined < most; examined += examineStep {
		page, err := v.o.reads.NewestAudit(v.Context(), before, examineStep)
		if err != nil {
			return "", false, err
		}
		for _, e := range page {
			if e.CreatedOn < f.since {
				return "", false, nil
			}
			if err := names.know(v, e.Actor); err != nil {
				return "", false, err
			}
			if who := names.of(e.Actor); f.has(e, who) && !show(e, who) {
				return before, false, nil
			}
			before = e.ID
		}
		if len(page) < examineStep {
			return "", false, nil
		}
	}
	return before, true, nil
}

// audit shows what people did.
func (v *visit) audit() error {
	f, err := v.filterAudit()
	if err != nil {
		return err
	}
	p := auditPage{Filter: f, Query: f.query()}
	if p.Stores, err = v.storesOf(commerce.MayReadAudit); err != nil {
		return err
	}
	stores := map[string]string{}
	for _, s := range p.Stores {
		stores[s.ID] = s.Name
	}
	names, err := v.actorNames()
	if err != nil {
		return err
	}
	p.Next, p.Further, err = v.walkAudit(f, v.URL.Query().Get("before"), names, mostExamined, func(e commerce.AuditEntry, who string) bool {
		if len(p.Entries) == auditPageSize {
			return false
		}
		p.Entries = append(p.Entries, auditShown{e, who, stores[e.StoreID], changesOf(e)})
		return true
	})
	if err != nil {
		return err
	}
	return v.page("audit", "Audit", p)
}

// auditSheet is the filtered list as a CSV file, page by page.
func (v *visit) auditSheet() error {
	f, err := v.filterAudit()
	if err != nil {
		return err
	}
	names, err := v.actorNames()
	if err != nil {
		return err
	}
	s := v.sheet("audit", "time", "actor", "actor_id", "action", "object", "store_id", "changes", "address", "trace_id")
	_, _, failed := v.walkAudit(f, "", names, 1<<30, func(e commerce.AuditEntry, who string) bool {
		var changes []string
		for _, c := range changesOf(e) {
			changes = append(changes, c.String())
		}
		s.row(e.CreatedOn.Time().UTC().Format(time.RFC3339), who, e.Actor, e.Action, e.Object, e.StoreID, strings.Join(changes, "; "), e.Address, e.TraceID)
		return s.Error() == nil
	})
	s.Flush()
	if failed != nil {
		panic(http.ErrAbortHandler) // an error after the first row can only cut the file off
	}
	return nil
}

func (c auditChange) String() string {
	text := strings.TrimSpace(c.Row + " " + c.Column + ": ")
	if c.New {
		return text + " " + c.After
	}
	return fmt.Sprintf("%s %q → %q", text, c.Before, c.After)
}

// changesOf lists the differences of an entry.
func changesOf(e commerce.AuditEntry) (list []auditChange) {
	before, after := members(e.Before), members(e.After)
	for _, table := range slices.Sorted(maps.Keys(after)) {
		rows, was := members(after[table]), members(before[table])
		if rows == nil {
			list = append(list, auditChange{Column: site.Word(table), After: shownValue(after[table]), New: true})
			continue
		}
		for _, key := range slices.Sorted(maps.Keys(rows)) {
			old, known := was[key]
			columns, stored := members(rows[key]), members(old)
			for _, column := range slices.Sorted(maps.Keys(columns)) {
				list = append(list, auditChange{Row: site.Word(table) + " " + key, Column: site.Word(column),
					Before: shownValue(stored[column]), After: shownValue(columns[column]), New: !known})
			}
		}
	}
	return list
}

// members are those of a JSON object; nil: it is none.
func members(object []byte) (m map[string]jsontext.Value) {
	if json.Unmarshal(object, &m) != nil {
		return nil
	}
	return m
}

// shownValue is a JSON value as people read it.
func shownValue(value jsontext.Value) string {
	var text string
	if json.Unmarshal(value, &text) == nil {
		return text
	}
	var list []string
	if json.Unmarshal(value, &list) == nil {
		return strings.Join(list, ", ")
	}
	return string(value)
}
