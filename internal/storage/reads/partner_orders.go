package reads

import (
	"cmp"
	"context"
	"math"
	"slices"
	"strconv"
	"strings"

	"purveyor/internal/commerce"
	"purveyor/internal/storage"
	"purveyor/internal/storage/schema"
)

// PartnerOrdersBelow reads one page of a partner's orders. First it reads where rows stand
// and whether the filter selects them, then the orders of the page. Rows with the stamp
// below, or a later one, may be incomplete; cut reports that the page ends before such rows.
func (r Reader) PartnerOrdersBelow(ctx context.Context, f storage.PartnerOrderFilter, have storage.OrderDocuments, below commerce.Millis) (page storage.PartnerOrderPage, cut bool, err error) {
	page.ReadSet = f.ReadSet()
	if len(f.Modes) == 0 {
		return page, false, nil
	}
	p := partnerRead{Reader: r, filter: f, have: have, below: below}
	p.sql, p.args = p.statement()
	most := max(2, f.Examine/(2*len(f.Modes)*p.feeds())) // of a lane at once: rows are read twice at most
	for n := min(f.Limit+24, most); ; n = more(n, most) {
		if err := p.examine(ctx, n); err != nil {
			return page, false, err
		}
		if p.ended || p.selected > f.Limit || len(p.rows) > 0 && n >= most {
			return page, p.cut, p.fill(ctx, &page)
		}
	}
}

// more is how many rows to read after n were too few.
func more(n, most int) int {
	if n < most {
		return most
	}
	return 4 * n // so many orders have one time
}

// partnerRead reads a page. A lane is what one index has in the order of the list: the
// orders of a mode or, in the sequence of changes, those of them that were never changed and
// the others.
type partnerRead struct {
	Reader
	filter storage.PartnerOrderFilter
	have   storage.OrderDocuments
	below  commerce.Millis
	sql    string
	args   []any // of the conditions, which all modes share

	rows     []partnerRow // that follow After in the list, without a gap
	selected int          // rows that the filter selects
	ended    bool         // no rows follow those
	cut      bool
}

// partnerRow is a row that was examined.
type partnerRow struct {
	version storage.OrderVersion // with ByExternalID, without the time
	at      storage.PartnerOrderPosition
	has     bool // the filter selects it
}

// feeds is how many lanes a mode has.
func (p *partnerRead) feeds() int {
	if p.filter.Sequence == storage.InChangeOrder {
		return 2
	}
	return 1
}

// examine reads the next n rows of each lane, in one snapshot.
func (p *partnerRead) examine(ctx context.Context, n int) error {
	f, below := p.filter, p.below
	lanes := make([][]partnerRow, p.feeds()*len(f.Modes))
	err := p.Each(ctx, p.sql, len(f.Modes), func(i int) []any { return p.argsOf(f.Modes[i], n) }, func(i int, s schema.Scanner) {
		row := partnerRow{version: storage.OrderVersion{OrderKey: commerce.OrderKey{StoreID: s.Text(), OrderID: s.Text()}, UpdatedOn: commerce.Millis(s.Int())}}
		row.at = storage.PartnerOrderPosition{At: commerce.Millis(s.Int()), ID: s.Text()}
		if f.Sequence == storage.ByExternalID {
			row.at.Mode = f.Modes[i]
		}
		row.has = s.Bool()
		lane := &lanes[i*p.feeds()+int(s.Int())]
		*lane = append(*lane, row)
		if open := s.Int(); open != 0 {
			below = min(below, commerce.Millis(open))
		}
	})
	p.take(lanes, n, below)
	return err
}

// take merges lanes of which n rows were read. The rows behind the last row of a lane that
// goes on are left to a later read. So are those with its time, which no index has in order.
func (p *partnerRead) take(lanes [][]partnerRow, n int, below commerce.Millis) {
	f := p.filter
	p.rows, p.selected, p.ended, p.cut = nil, 0, true, false
	known := func(storage.PartnerOrderPosition) bool { return true }
	for _, lane := range lanes {
		if len(lane) < n {
			continue
		}
		p.ended = false
		before, last := known, lane[n-1].at
		known = func(at storage.PartnerOrderPosition) bool {
			if f.Sequence != storage.ByExternalID {
				at.ID, last.ID = "", ""
				return before(at) && f.Compare(at, last) < 0
			}
			return before(at) && f.Compare(at, last) <= 0
		}
	}
	for _, row := range slices.Concat(lanes...) {
		switch {
		case !f.Follows(row.at) || !known(row.at):
		case f.Sequence == storage.InChangeOrder && row.at.At >= below:
			p.ended, p.cut = true, true
		default:
			p.rows = append(p.rows, row)
			if row.has {
				p.selected++
			}
		}
	}
	slices.SortFunc(p.rows, func(a, b partnerRow) int { return f.Compare(a.at, b.at) })
}

// fill reads the orders of the page. An order that has changed since its row was examined is
// left out if the filter no longer selects it, or if it stands elsewhere in the list now.
func (p *partnerRead) fill(ctx context.Context, page *storage.PartnerOrderPage) error {
	f, rest := p.filter, p.rows
	for len(rest) > 0 && len(page.Orders) < f.Limit {
		var keys []commerce.OrderKey
		n := 0
		for ; n < len(rest) && len(keys) < f.Limit; n++ {
			if _, known := p.have[rest[n].version]; rest[n].has && !known {
				keys = append(keys, rest[n].version.OrderKey)
			}
		}
		found, err := p.OrdersByKey(ctx, keys)
		if err != nil {
			return err
		}
		for ; n > 0 && len(page.Orders) < f.Limit; n-- {
			row, o := rest[0], found[rest[0].version.OrderKey]
			if _, known := p.have[row.version]; known && row.has {
				page.Orders = append(page.Orders, storage.PartnerOrder{Version: row.version, At: row.at})
			} else if row.has && f.Has(o) && f.Position(o) == row.at {
				page.Orders = append(page.Orders, storage.PartnerOrder{Version: storage.OrderVersion{OrderKey: row.version.OrderKey, UpdatedOn: o.UpdatedOn}, At: row.at, Order: o})
			}
			page.Next, rest = row.at, rest[1:]
		}
	}
	if p.ended && !slices.ContainsFunc(rest, func(row partnerRow) bool { return row.has }) {
		page.Next = storage.PartnerOrderPosition{}
	}
	return nil
}

// statement is the statement that reads the lanes of a mode, and its first arguments. Rows
// of it are: store, order, stamp, time, id or external id, whether the filter selects it,
// number of the lane, lowest stamp that an open batch may write.
func (p *partnerRead) statement() (string, []any) {
	f, n := p.filter, 0
	next := func() string { n++; return "$" + strconv.Itoa(n) }
	var args []any
	given := func(v any) string { args = append(args, v); return next() }
	if f.Sequence == storage.ByExternalID { // what else the filter asks for is seen in the orders
		return "SELECT store_id, order_id, CAST(0 AS BIGINT), CAST(0 AS BIGINT), external_id, true, CAST(0 AS BIGINT), CAST(NULL AS BIGINT) FROM external_ids" +
			" WHERE partner_id = " + next() + " AND mode = " + next() + " AND external_id >= " + p.text(next()) + " AND external_id < " + p.text(next()) +
			" ORDER BY external_id LIMIT " + next(), nil
	}
	has := []string{"true"}
	if f.StoreIDs != nil {
		has = append(has, p.among("store_id", given(f.StoreIDs)))
	}
	if f.Statuses != nil {
		statuses := make([]string, len(f.Statuses))
		for i, s := range f.Statuses {
			statuses[i] = string(s)
		}
		has = append(has, p.among("status", given(statuses)))
	}
	if f.Fulfillment != "" {
		has = append(has, "fulfillment = "+given(string(f.Fulfillment)))
	}
	if f.Sequence == storage.InChangeOrder && (f.Since != 0 || f.Until != 0) {
		has = append(has, "created_on >= "+given(f.Since)+" AND created_on < "+given(cmp.Or(f.Until, math.MaxInt64)))
	}
	where := " FROM orders WHERE partner_id = " + next() + " AND mode = " + next()
	from, to, limit := p.number(next()), p.number(next()), " LIMIT "+next()
	lane := func(at, has, no, only, order string) string {
		return "SELECT store_id, id, updated_on AS stamp, " + at + ", id AS name, " + has + ", CAST(" + no + " AS BIGINT), " + cmp.Or(p.OpenStamp, "CAST(NULL AS BIGINT)") +
			where + " AND " + at + " >= " + from + " AND " + at + " <= " + to + only + " ORDER BY " + at + order + limit
	}
	all := strings.Join(has, " AND ")
	if f.Sequence == storage.NewestFirst {
		return lane("created_on", all, "0", "", " DESC"), args
	}
	return "SELECT * FROM (" + lane("created_on", "updated_on = created_on AND "+all, "0", "", "") + ") AS few UNION ALL SELECT * FROM (" +
		lane("updated_on", all, "1", " AND updated_on <> created_on", "") + ") AS few", args
}

// argsOf are the arguments of the statement for the next n rows of the lanes of a mode.
func (p *partnerRead) argsOf(mode commerce.Mode, n int) []any {
	f := p.filter
	args := append(slices.Clone(p.args), f.PartnerID, string(mode))
	switch f.Sequence {
	case storage.ByExternalID:
		return append(args, max(f.Prefix, f.After.ID), afterPrefix(f.Prefix), n)
	case storage.InChangeOrder:
		return append(args, f.After.At, commerce.Millis(math.MaxInt64), n)
	}
	to := commerce.Millis(math.MaxInt64)
	if f.After != (storage.PartnerOrderPosition{}) {
		to = f.After.At
	}
	if f.Until != 0 {
		to = min(to, f.Until-1)
	}
	return append(args, f.Since, to, n)
}

// afterPrefix is the first text after all texts with a prefix. Texts are in the order of
// their characters.
func afterPrefix(prefix string) string {
	text := []rune(prefix)
	for i, r := range slices.Backward(text) {
		if r++; r == 0xD800 {
			r = 0xE000 // surrogates are no characters
		}
		if r <= '\U0010FFFF' {
			return string(append(text[:i], r))
		}
	}
	return strings.Repeat("\U0010FFFF", len(prefix)+256) // longer than any external id
}
