package backoffice

import (
	"cmp"
	"slices"
	"strings"

	"purveyor/internal/commerce"
	"purveyor/internal/site"
)

// boardRoutes are the pages for the kitchen and the counter.
var boardRoutes = []route{
	{method: get, path: Prefix + "/board", may: commerce.MayReadOrders, handle: (*visit).board, word: "Board", icon: "square-kanban"},
	{method: get, path: Prefix + "/board/stream", may: commerce.MayReadOrders, handle: (*visit).boardStream},
	{method: get, path: Prefix + "/board/recall", may: commerce.MayReadOrders, handle: (*visit).recall},
	{method: get, path: Prefix + "/orders/{id}/slip", may: commerce.MayReadOrders, handle: ofOrder((*visit).slip)},
}

// boardColumns are the columns of the board with the statuses whose orders stand there.
var boardColumns = []struct {
	ID, Word, Empty string
	Statuses        []commerce.OrderStatus
}{
	{"new", "New", "Orders stand here when they are paid, until you confirm them.", []commerce.OrderStatus{commerce.Paid}},
	{"make", "To make", "Confirmed orders stand here, until they are ready or a courier is found.", []commerce.OrderStatus{commerce.Processed}},
	{"ready", "Ready or waiting", "Orders stand here that a customer or a courier collects.", []commerce.OrderStatus{commerce.ReadyForPickup, commerce.Shipped}},
	{"way", "On the way", "Orders stand here that a courier has.", []commerce.OrderStatus{commerce.OutForDelivery}},
}

// boardRoom is how many cards a column has.
const boardRoom = 50

// boardFilter says which orders a board shows, and on which of them its user may act. Boards
// with the same filter share what is made for them.
type boardFilter struct {
	Stores  []string // nil: all
	Acts    []string // the stores in which the user may act
	ActsAll bool
	Partner string // empty: all
}

// key is the same for the same filter.
func (f boardFilter) key() string {
	stores := "*"
	if f.Stores != nil {
		stores = strings.Join(f.Stores, ",")
	}
	acts := "*"
	if !f.ActsAll {
		acts = strings.Join(f.Acts, ",")
	}
	return stores + " " + acts + " " + f.Partner
}

// shows reports whether the board shows an order.
func (f boardFilter) shows(o *commerce.Order) bool {
	return (f.Stores == nil || slices.Contains(f.Stores, o.StoreID)) && (f.Partner == "" || f.Partner == o.PartnerID)
}

// acts reports whether the user may act on orders of a store.
func (f boardFilter) acts(storeID string) bool { return f.ActsAll || slices.Contains(f.Acts, storeID) }

// boardFilter is the filter of a visit: the rights of the user, and what was chosen in the
// form above the board.
func (v *visit) boardFilter() boardFilter {
	var f boardFilter
	ids, all := v.storesWith(commerce.MayReadOrders)
	if !all {
		f.Stores = append([]string{}, ids...)
	}
	if store := v.URL.Query().Get("store"); store != "" && v.user.May(commerce.MayReadOrders, store) {
		f.Stores = []string{store}
	}
	f.Acts, f.ActsAll = v.user.StoresWith(commerce.MayAdvanceOrders)
	if f.Partner = v.URL.Query().Get("partner"); len(f.Partner) > 64 {
		f.Partner = ""
	}
	return f
}

// boardPage is the data of the page "board".
type boardPage struct {
	Columns  []boardColumn
	Stream   string // the path of the changes after what the page shows
	Now      commerce.Millis
	Stores   []commerce.Store   // to choose from
	Partners []commerce.Partner // the same
	Store    string             // that is chosen
	Partner  string
	Query    string // of the page, without the column
}

// boardColumn is one column of the page.
type boardColumn struct {
	ID, Word, Empty string
	Current         bool // on a phone it is the one that is shown
	Count           int
	More            string
	Cards           []shownCard
}

// board shows the open orders by status.
func (v *visit) board() error {
	f := v.boardFilter()
	view, err := v.o.boards.open(v.Context(), f)
	if err != nil {
		return err
	}
	q := v.URL.Query()
	page := boardPage{Now: commerce.MillisOf(v.o.env.Now()), Store: q.Get("store"), Partner: f.Partner}
	position := v.o.boards.show(view, &page)
	current := cmp.Or(q.Get("column"), boardColumns[0].ID)
	for i := range page.Columns {
		page.Columns[i].Current = page.Columns[i].ID == current
	}
	stores, err := v.storesOf(commerce.MayReadOrders)
	if err != nil {
		return err
	}
	if page.Partners, err = v.partnersOf(stores); err != nil {
		return err
	}
	if v.Switch() != "" && v.chosen() == "" {
		page.Stores = stores
	}
	q.Del("column")
	page.Query = q.Encode()
	q.Set("since", position)
	page.Stream = Prefix + "/board/stream?" + q.Encode()
	return v.page("board", "Board", page)
}

// How many orders the recall shows, and among how many of the newest ones it looks for those
// that were finished last.
const (
	recallRoom     = 20
	recallAmong    = 200
	recallExamined = 2000
)

// recall shows the orders that were finished last, for what went to the wrong hands.
func (v *visit) recall() error {
	f, err := v.orderFilter(orderQuery{Status: allFinished})
	if err != nil {
		return err
	}
	list := f.filter
	list.Limit, list.Examine = recallAmong, recallExamined
	found, err := v.o.reads.OrderPage(v.Context(), list)
	if err != nil {
		return err
	}
	slices.SortFunc(found.Orders, func(a, b commerce.Order) int { return cmp.Compare(b.UpdatedOn, a.UpdatedOn) })
	return v.page("recall", "Finished last", recallPage{Rows: f.rows(found.Orders[:min(recallRoom, len(found.Orders))]), Now: commerce.MillisOf(v.o.env.Now())})
}

// recallPage is the data of the page "recall".
type recallPage struct {
	Rows []orderRow
	Now  commerce.Millis
}

// slipPage is the data of the page "slip".
type slipPage struct {
	orderPage
	Partner string
}

// slip is an order for the printer at the counter.
func (v *visit) slip(o commerce.Order) error {
	f, err := v.facts(o)
	if err != nil {
		return err
	}
	page := slipPage{orderPage: orderPage{orderFacts: f, Zone: site.ZoneOf(f.Store), URL: Prefix + "/orders/" + o.ID}, Partner: f.orderedFrom()}
	if page.Lines, err = v.shownLines(o); err != nil {
		return err
	}
	return v.page("slip", "Order "+site.Short(o.ID), page)
}

// orderedFrom is where the customer ordered.
func (f orderFacts) orderedFrom() string { return cmp.Or(f.Partner.Name, f.Store.Name) }
