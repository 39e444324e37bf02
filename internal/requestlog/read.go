package requestlog

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strconv"
	"strings"

	"purveyor/internal/commerce"
)

// ErrNotFound means that a row is not, or no longer, in the log.
var ErrNotFound = errors.New("no such request")

// Filter selects rows of a partner. Empty fields select all.
type Filter struct {
	PartnerID string
	Mode      commerce.Mode
	// StoreIDs leaves out rows of other stores, and not those without one. Nil: rows of all
	// stores.
	StoreIDs  []string
	Statuses  []Statuses // any of them
	Method    string
	Operation string
	Code      string
	KeyID     string
	OrderID   string
	TraceID   string
	Since     commerce.Millis // inclusive
	Until     commerce.Millis // exclusive; 0: no bound
	Before    string          // the id of a row, exclusive
	Limit     int
}

// Statuses is a range of statuses, both ends included.
type Statuses struct{ From, To int }

// ParseStatuses reads a list of statuses such as "404,5xx"; of an empty text it returns none.
func ParseStatuses(text string) (list []Statuses, ok bool) {
	if text == "" {
		return nil, true
	}
	for part := range strings.SplitSeq(text, ",") {
		from, err := strconv.Atoi(strings.Replace(part, "xx", "00", 1))
		if err != nil || len(part) != 3 || from < 100 || from > 599 {
			return nil, false
		}
		to := from
		if strings.HasSuffix(part, "xx") {
			to += 99
		}
		list = append(list, Statuses{from, to})
	}
	slices.SortFunc(list, func(a, b Statuses) int { return cmp.Compare(a.From, b.From) })
	return list, true
}

// Shows reports whether the filter selects a row, whatever its time.
func (f *Filter) Shows(e *Entry) bool {
	equal := func(want, is string) bool { return want == "" || want == is }
	return equal(string(f.Mode), string(e.Mode)) && equal(f.Method, e.Method) && equal(f.Operation, e.Operation) && equal(f.Code, e.Code) &&
		equal(f.KeyID, e.KeyID) && equal(f.OrderID, e.OrderID) && equal(f.TraceID, e.TraceID) &&
		(f.StoreIDs == nil || e.StoreID == "" || slices.Contains(f.StoreIDs, e.StoreID)) &&
		(f.Statuses == nil || slices.ContainsFunc(f.Statuses, func(s Statuses) bool { return s.From <= e.Status && e.Status <= s.To }))
}

// ref is the digest by which the store finds the rows; 0: none is given.
func (f *Filter) ref() int64 {
	if f.TraceID != "" {
		return refOf(f.PartnerID, "trace", f.TraceID)
	}
	return refOf(f.PartnerID, "order", f.OrderID)
}

// Page is a page of rows, the newest first.
type Page struct {
	Entries []Entry
	// Before is where the next page begins, as the field of the filter; empty: there are no
	// more rows.
	Before string
	Lost   int64 // rows that were dropped in the time of the page, whatever the filter
}

// mostExamined is how many rows are examined for a page.
const mostExamined = 5000

// At most so many chunks are read at a time, and so many bytes if they are as long as those before.
const (
	fewChunks  = 16
	manyChunks = 256
	bytesRead  = 1 << 20
)

// endOfTime is after all rows, in Unix ms.
const endOfTime commerce.Millis = 1 << 47

// Page reads the newest rows that the filter selects.
//
// Chunks are read by the time of their newest row, newest first. A row can be given out once
// every chunk that is not read yet ends before it.
func (l *Log) Page(ctx context.Context, f Filter) (p Page, err error) {
	end := f.Before
	if f.Until != 0 {
		until := entryID(f.Until, 0, 0)
		if end == "" || until < end {
			end = until
		}
	}
	if end == "" {
		end = entryID(endOfTime, 0, 0)
	}
	w := &walk{log: l, filter: f, end: end, examined: 0}
	err = w.chunks(ctx, func(c *Chunk) (more bool, err error) {
		if w.release(&p, c.Last) || w.examined >= mostExamined && w.passed(&p, c.Last) {
			return false, nil
		}
		if c.Last <= commerce.TimeOfRequest(w.end) { // else the page before has told of it
			p.Lost += c.Lost
		}
		return true, w.add(c)
	})
	if err == nil && p.Before == "" {
		w.release(&p, -1)
	}
	return p, err
}

// walk goes through the chunks of a partner.
type walk struct {
	log      *Log
	filter   Filter
	end      string  // rows with this id and later ones are not wanted
	held     []Entry // newest first
	examined int
}

// add holds the wanted rows of a chunk.
func (w *walk) add(c *Chunk) error {
	w.examined++ // it may have no row
	err := c.rows(func(r *stored) {
		if r.ID >= w.end || r.At < w.filter.Since {
			return
		}
		w.examined++
		if w.filter.Shows(&r.Entry) {
			w.held = append(w.held, r.Entry)
		}
	})
	slices.SortFunc(w.held, func(a, b Entry) int { return strings.Compare(b.ID, a.ID) })
	return err
}

// release gives out the rows that are later than a time. It reports whether the page is full.
func (w *walk) release(p *Page, after commerce.Millis) (full bool) {
	for len(w.held) > 0 && w.held[0].At > after {
		if len(p.Entries) == w.filter.Limit {
			p.Before = p.Entries[w.filter.Limit-1].ID
			return true
		}
		p.Entries = append(p.Entries, w.held[0])
		w.held = w.held[1:]
	}
	return false
}

// passed ends the page behind the rows that are later than a time, unless it would begin there.
func (w *walk) passed(p *Page, after commerce.Millis) bool {
	before := entryID(after+1, 0, 0)
	if before >= w.end {
		return false
	}
	p.Before = before
	return true
}

// chunks calls visit for the chunks with rows before the end of the walk, newest first, until it
// returns false.
func (w *walk) chunks(ctx context.Context, visit func(*Chunk) (more bool, err error)) error {
	days, err := w.log.store.Days(ctx)
	if err != nil {
		return err
	}
	until := commerce.TimeOfRequest(w.end)
	last := min(until+Span, endOfTime)
	for _, day := range slices.Backward(days) {
		if day > DayOf(last) || day < DayOf(w.filter.Since) {
			continue
		}
		q := Query{Day: day, PartnerID: w.filter.PartnerID, Before: Place{Last: last + 1}, From: w.filter.Since, Until: until, Ref: w.filter.ref(), Limit: fewChunks}
		for {
			list, err := w.log.store.Chunks(ctx, q)
			if err != nil {
				return err
			}
			read := 0
			for i := range list {
				read += len(list[i].Rows)
				if more, err := visit(&list[i]); err != nil || !more {
					return err
				}
			}
			if len(list) < q.Limit {
				break
			}
			q.Before, q.Limit = list[len(list)-1].Place, max(fewChunks, min(manyChunks, bytesRead*len(list)/(read+1)))
		}
	}
	return nil
}

// Find reads a row of a partner with its headers and bodies.
func (l *Log) Find(ctx context.Context, partnerID, id string) (found Entry, err error) {
	at := commerce.TimeOfRequest(id)
	if at == 0 {
		return found, ErrNotFound
	}
	err = ErrNotFound
	w := &walk{log: l, filter: Filter{PartnerID: partnerID, Since: at}, end: entryID(at+1, 0, 0)}
	walked := w.chunks(ctx, func(c *Chunk) (more bool, _ error) {
		damaged := c.rows(func(r *stored) {
			if r.ID == id {
				found, err = r.entry()
			}
		})
		return found.ID == "", damaged
	})
	if walked != nil {
		return found, walked
	}
	return found, err
}

// Counts reads how many requests of a partner were answered in each minute from a time on, in the
// order of minutes and modes.
func (l *Log) Counts(ctx context.Context, partnerID string, from commerce.Millis) (list []Count, err error) {
	days, err := l.store.Days(ctx)
	for _, day := range days {
		if err != nil || day < DayOf(from) {
			continue
		}
		var some []Count
		some, err = l.store.Counts(ctx, day, partnerID, from)
		list = append(list, some...)
	}
	return list, err
}
