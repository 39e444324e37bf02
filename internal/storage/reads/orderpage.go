package reads

import (
	"cmp"
	"container/heap"
	"context"
	"math"
	"slices"
	"strconv"
	"strings"

	"purveyor/internal/commerce"
	"purveyor/internal/storage"
	"purveyor/internal/storage/schema"
)

// OrderPage merges the lanes of the list by time. First it reads of each row where it stands and
// whether the filter selects it, then the orders of the page.
func (r Reader) OrderPage(ctx context.Context, f storage.OrderFilter) (page storage.OrderPage, err error) {
	m := merge{Reader: r, filter: f}
	m.sql, m.args = r.laneSQL(f)
	m.begin()
	keys, err := m.page(ctx, &page)
	if err != nil {
		return page, err
	}
	found, err := r.OrdersByKey(ctx, keys)
	for _, k := range keys {
		if o, there := found[k]; there {
			page.Orders = append(page.Orders, o)
		}
	}
	return page, err
}

// dayOff is how much the time in an order's id may differ from when the order was made: it
// waits for its batch, and clocks differ.
const dayOff = commerce.Millis(60 * 60 * 1000)

// lane is one sequence of orders, the newest first.
type lane struct {
	store   storage.OrderStore // of a list by stores
	partner string             // of a list by partners
	mode    commerce.Mode
	status  commerce.OrderStatus  // of a list by statuses
	from    storage.OrderPosition // the rows below it were not read yet
	rows    []examined            // that are not merged yet
	ended   bool
	alike   int // how many more rows to read than usual, because so many were made at once
}

// add takes the rows of a read of n. An index by time has the orders of one time in no order, so the rows of the last time wait for a read that has all of them.
func (l *lane) add(rows []examined, n int, byTime bool) {
	l.ended = len(rows) < n
	if !byTime {
		if len(rows) > 0 {
			l.rows, l.from = append(l.rows, rows...), rows[len(rows)-1].at
		}
		return
	}
	from := l.from
	slices.SortFunc(rows, func(a, b examined) int { return b.at.Compare(a.at) })
	if !l.ended {
		last := rows[n-1].at.At
		if last == from.At {
			l.alike += n
			return
		}
		l.from, l.alike = storage.OrderPosition{At: last, ID: storage.AfterAllIDs}, 0
		rows = slices.DeleteFunc(rows, func(row examined) bool { return row.at.At == last })
	}
	for _, row := range rows {
		if row.at.Compare(from) < 0 {
			l.rows = append(l.rows, row)
		}
	}
}

// examined is a row that was looked at.
type examined struct {
	at    storage.OrderPosition
	store string
	has   bool // the filter selects it
}

// lanes is a heap. The lane with the newest row stands first.
type lanes []*lane

func (l lanes) Len() int           { return len(l) }
func (l lanes) Less(i, j int) bool { return l[i].rows[0].at.Compare(l[j].rows[0].at) > 0 }
func (l lanes) Swap(i, j int)      { l[i], l[j] = l[j], l[i] }
func (l *lanes) Push(x any)        { *l = append(*l, x.(*lane)) }
func (l *lanes) Pop() any {
	last := (*l)[len(*l)-1]
	*l = (*l)[:len(*l)-1]
	return last
}

// merge merges lanes.
type merge struct {
	Reader
	filter storage.OrderFilter
	sql    string
	args   []any // of the conditions, which all lanes share
	all    []*lane
	chunk  int // rows that a lane reads next
	read   int // rows that were read
}

// begin makes the lanes.
func (m *merge) begin() {
	f := m.filter
	from := f.After
	if from == (storage.OrderPosition{}) {
		from.At = math.MaxInt64 >> 17 // the latest time that an id can have
	}
	if f.Until != 0 && f.Until+dayOff < from.At {
		from = storage.OrderPosition{At: f.Until + dayOff}
	}
	switch {
	case f.ByStatus:
		for _, status := range f.Statuses {
			m.all = append(m.all, &lane{status: status, from: from})
		}
	case f.ByPartner:
		for _, partner := range f.Partners {
			for _, mode := range []commerce.Mode{commerce.Live, commerce.Test} {
				if f.Mode == "" || f.Mode == mode {
					m.all = append(m.all, &lane{partner: partner, mode: mode, from: from})
				}
			}
		}
	default:
		for _, store := range f.Stores {
			m.all = append(m.all, &lane{store: store, from: from})
		}
	}
	m.chunk = f.Limit + 1
	if n := len(m.all); n > 1 {
		m.chunk = max(2, 2*f.Limit/n)
	}
}

// page merges the rows of one page.
func (m *merge) page(ctx context.Context, page *storage.OrderPage) (keys []commerce.OrderKey, err error) {
	var last storage.OrderPosition
	for {
		open, err := m.fill(ctx)
		if err != nil || open == nil {
			return keys, err
		}
		for whole := true; whole && len(*open) > 0; { // until a lane may have rows that were not read
			next := (*open)[0]
			row := next.rows[0]
			if row.has && len(keys) == m.filter.Limit {
				page.Next = last
				return keys, nil
			}
			if row.has {
				keys = append(keys, commerce.OrderKey{StoreID: row.store, OrderID: row.at.ID})
			}
			last, next.rows = row.at, next.rows[1:]
			switch {
			case len(next.rows) > 0:
				heap.Fix(open, 0)
			case next.ended:
				heap.Pop(open)
			default:
				whole = false
			}
		}
		if len(*open) > 0 && m.read >= m.filter.Examine {
			page.Next, page.Further = last, true
			return keys, nil
		}
	}
}

// fill reads more rows of the lanes that have few left. It returns the lanes that have rows;
// nil: there are no rows left.
func (m *merge) fill(ctx context.Context) (*lanes, error) {
	few := m.chunk / 16 // a quarter of what was read last
	for {
		var short []*lane
		for _, l := range m.all {
			if !l.ended && len(l.rows) <= few {
				short = append(short, l)
			}
		}
		if len(short) == 0 {
			break
		}
		if err := m.readMore(ctx, short); err != nil {
			return nil, err
		}
		few = 0 // go on with lanes that have not got a row
	}
	m.chunk *= 4
	open := &lanes{}
	for _, l := range m.all {
		if len(l.rows) > 0 {
			*open = append(*open, l)
		}
	}
	if len(*open) == 0 {
		return nil, nil
	}
	heap.Init(open)
	return open, nil
}

// readMore reads the next rows of lanes.
func (m *merge) readMore(ctx context.Context, short []*lane) error {
	n := min(m.chunk, max(1, (m.filter.Examine-m.read)/len(short)))
	rows := make([][]examined, len(short))
	counts := make([]int, len(short))
	err := m.Each(ctx, m.sql, len(short), func(i int) []any {
		counts[i] = n + short[i].alike
		if m.filter.ByTime() {
			counts[i]++ // the last one may have to wait
		}
		return m.argsOf(short[i], counts[i])
	}, func(i int, s schema.Scanner) {
		row := examined{store: s.Text()}
		row.at = m.filter.Position(s.Text(), commerce.Millis(s.Int()))
		row.has = s.Bool()
		rows[i] = append(rows[i], row)
	})
	if err != nil {
		return err
	}
	for i, l := range short {
		l.add(rows[i], counts[i], m.filter.ByTime())
		m.read += len(rows[i])
	}
	return nil
}

// laneSQL is the statement that reads of a lane, and its first arguments, which all lanes share.
func (r Reader) laneSQL(f storage.OrderFilter) (string, []any) {
	var args []any
	n := 0
	next := func() string { n++; return "$" + strconv.Itoa(n) }
	given := func(v any) string { args = append(args, v); return next() }
	statuses := make([]string, len(f.Statuses))
	for i, s := range f.Statuses {
		statuses[i] = string(s)
	}
	has := strings.Join([]string{
		"(" + given(f.Stores == nil) + " OR " + r.among("store_id", given(f.StoreIDs())) + ")",
		"(" + given(f.Partners == nil) + " OR " + r.among("partner_id", given(append([]string{}, f.Partners...))) + ")",
		"(" + given(f.Mode == "") + " OR mode = " + given(string(f.Mode)) + ")",
		"(" + given(f.Source == "") + " OR source = " + given(f.Source) + ")",
		"(" + given(f.Statuses == nil) + " OR " + r.among("status", given(statuses)) + ")",
		"created_on >= " + given(f.Since), "created_on < " + given(cmp.Or(f.Until, math.MaxInt64)),
		"total_cents >= " + given(int64(f.MinCents)), "total_cents <= " + given(cmp.Or(int64(f.MaxCents), math.MaxInt64)),
	}, " AND ")
	where, order := "", "created_on DESC"
	since := func() string {
		return " AND created_on >= " + r.number(next()) + " AND created_on <= " + r.number(next())
	}
	switch {
	case f.ByStatus:
		where = "status = " + next() + " AND " + openStatuses + since()
	case f.ByPartner:
		where = "partner_id = " + next() + " AND mode = " + next() + since()
	default:
		where, order = "store_id = "+next()+" AND id >= "+r.text(next())+" AND id < "+r.text(next()), "id DESC"
	}
	return "SELECT store_id, id, created_on, " + has + " FROM orders WHERE " + where + " ORDER BY " + order + " LIMIT " + next(), args
}

// argsOf are the arguments of the statement for the next n rows of a lane.
func (m *merge) argsOf(l *lane, n int) []any {
	since := m.filter.Since
	args := slices.Clone(m.args)
	switch {
	case m.filter.ByStatus:
		args = append(args, string(l.status), since, l.from.At)
	case m.filter.ByPartner:
		args = append(args, l.partner, string(l.mode), since, l.from.At)
	default:
		args = append(args, l.store.ID, commerce.OrderIDsFrom(l.store.No, max(0, since-dayOff)), l.below())
	}
	return append(args, n)
}

// below is the id of a store's order below which the rows stand that come next.
func (l *lane) below() string {
	// Of the orders with the time of the position, those with a lower id come next: of this
	// store, that are the rest, all or none.
	switch all, none := commerce.OrderIDsFrom(l.store.No, l.from.At+1), commerce.OrderIDsFrom(l.store.No, l.from.At); {
	case l.from.ID <= none:
		return none
	case l.from.ID >= all:
		return all
	}
	return l.from.ID
}
