package backoffice

import (
	"cmp"
	"html/template"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"purveyor/internal/commerce"
	"purveyor/internal/site"
	"purveyor/internal/storage"
)

// findRoutes are the pages that find orders.
var findRoutes = []route{
	{method: get, path: ordersPath, may: commerce.MayReadOrders, handle: (*visit).orders, word: "Orders", icon: "receipt"},
	{method: get, path: ordersPath + ".csv", may: commerce.MayExportOrders, handle: (*visit).exportOrders},
	{method: post, path: ordersPath + "/views", may: commerce.MayReadOrders, handle: (*visit).saveView},
	{method: post, path: ordersPath + "/views/remove", may: commerce.MayReadOrders, handle: (*visit).removeView},
	{method: get, path: Prefix + "/attention", may: commerce.MayReadOrders, handle: (*visit).attention, word: "Attention", icon: "triangle-alert"},
}

const (
	ordersPath   = Prefix + "/orders"
	ordersOnPage = 50
	// ordersExamined is how many orders a page looks at before it says "look further".
	ordersExamined = 2000
)

// Choices of the status that stand for several.
const (
	allOpen     = "open"
	allFinished = "finished"
)

// orderQuery is the filter of the list of orders, as the URL has it.
type orderQuery struct {
	Text     string // looked for; empty: the list
	Status   string // or allOpen, allFinished
	Store    string
	Partner  string // id
	Source   string
	Mode     string
	From, To string // dates on the clock of the stores
	Min, Max string // dollars
}

// fields are the fields of the query by their names in the URL.
func (q *orderQuery) fields() map[string]*string {
	return map[string]*string{"q": &q.Text, "status": &q.Status, "store": &q.Store, "partner": &q.Partner, "source": &q.Source, "mode": &q.Mode,
		"from": &q.From, "to": &q.To, "min": &q.Min, "max": &q.Max}
}

// orderQueryOf reads the fields of a query, and nothing else.
func orderQueryOf(in url.Values) (q orderQuery) {
	for name, field := range q.fields() {
		*field = strings.TrimSpace(in.Get(name))
	}
	return q
}

// String is the query for a URL. Fields that are empty are left out.
func (q orderQuery) String() string {
	out := url.Values{}
	for name, field := range q.fields() {
		if *field != "" {
			out.Set(name, *field)
		}
	}
	return out.Encode()
}

// orderFilter is the query with what it means to the user.
type orderFilter struct {
	orderQuery
	Stores   []commerce.Store // that the user may choose
	Zone     *time.Location   // of the dates
	Partners []commerce.Partner
	shown    []commerce.Store // that are chosen
	filter   storage.OrderFilter
}

// orderFilter is what a query means, for the stores in which the user has the permission of the
// route.
func (v *visit) orderFilter(q orderQuery) (f orderFilter, err error) {
	f.orderQuery = q
	if f.Stores, err = v.storesOf(v.route.may); err == nil {
		f.shown, err = v.narrowed(f.Stores)
	}
	if err != nil {
		return f, err
	}
	if id, _ := v.wantedStore(); len(f.shown) == 1 && f.shown[0].ID == id {
		f.Store = id
	}
	f.Zone = zoneOfAll(f.shown)
	if f.Partners, err = v.partnersOf(f.Stores); err != nil {
		return f, err
	}
	if err := f.read(); err != nil {
		return f, err
	}
	_, all := v.user.StoresWith(v.route.may)
	f.chooseLanes(all && len(f.shown) == len(f.Stores))
	return f, nil
}

// zoneOfAll is the time zone of stores; UTC if they have several.
func zoneOfAll(stores []commerce.Store) *time.Location {
	for _, s := range stores {
		if s.TimeZone != stores[0].TimeZone {
			return time.UTC
		}
	}
	if len(stores) == 0 {
		return time.UTC
	}
	return site.ZoneOf(stores[0])
}

// partnersOf are the partners that sell in any of the stores, in the order of their names.
func (v *visit) partnersOf(stores []commerce.Store) ([]commerce.Partner, error) {
	partners, err := v.o.reads.Partners(v.Context())
	partners = slices.DeleteFunc(partners, func(p commerce.Partner) bool {
		return !slices.ContainsFunc(stores, func(s commerce.Store) bool { return p.MayUse(s.ID) == nil })
	})
	slices.SortFunc(partners, func(a, b commerce.Partner) int {
		return cmp.Or(strings.Compare(a.Name, b.Name), strings.Compare(a.ID, b.ID))
	})
	return partners, err
}

// read reads the fields.
func (f *orderFilter) read() (err error) {
	to := &f.filter
	to.Mode, to.Source = commerce.Mode(f.Mode), f.Source
	switch f.Status {
	case "":
	case allOpen:
		to.Statuses = commerce.OpenStatuses
	case allFinished:
		to.Statuses = slices.DeleteFunc(slices.Clone(commerce.Statuses), func(s commerce.OrderStatus) bool { return !s.Terminal() })
	default:
		to.Statuses = []commerce.OrderStatus{commerce.OrderStatus(f.Status)}
	}
	for _, date := range []struct {
		name, text string
		days       int
		to         *commerce.Millis
	}{{"from", f.From, 0, &to.Since}, {"to", f.To, 1, &to.Until}} {
		if date.text == "" {
			continue
		}
		day, err := time.ParseInLocation(time.DateOnly, date.text, f.Zone)
		if err != nil || day.Year() < 1970 || day.Year() > 9999 {
			return commerce.Invalid(date.name, "%s must be a date like 2026-01-31", date.name)
		}
		*date.to = midnight(day.AddDate(0, 0, date.days), f.Zone)
	}
	for _, amount := range []struct {
		name, text string
		to         *commerce.Cents
	}{{"min", f.Min, &to.MinCents}, {"max", f.Max, &to.MaxCents}} {
		if amount.text == "" {
			continue
		}
		cents, err := commerce.ParseScaled(strings.TrimPrefix(amount.text, "$"), 2)
		if err != nil || cents < 0 {
			return commerce.Invalid(amount.name, "%s must be an amount like 12.50", amount.name)
		}
		*amount.to = commerce.Cents(cents)
	}
	return nil
}

// chooseLanes has the list read in as few lanes as possible. everywhere: the list is of all stores.
func (f *orderFilter) chooseLanes(everywhere bool) {
	to := &f.filter
	to.Stores = []storage.OrderStore{}
	for _, s := range f.shown {
		to.Stores = append(to.Stores, storage.OrderStore{ID: s.ID, No: s.No})
	}
	switch {
	case f.Source == commerce.SourceService && f.Partner == "":
		to.Partners = []string{""}
	case f.Partner != "":
		to.Partners = []string{f.Partner}
	}
	closed := func(s commerce.OrderStatus) bool { return !s.Open() }
	if to.ByStatus = to.Statuses != nil && !slices.ContainsFunc(to.Statuses, closed); to.ByStatus {
		if everywhere {
			to.Stores = nil
		}
		return
	}
	if to.Partners == nil && everywhere {
		all := []string{""}
		for _, p := range f.Partners {
			all = append(all, p.ID)
		}
		if 2*len(all) < len(to.Stores) {
			to.Partners = all
		}
	}
	to.ByPartner = to.Partners != nil && 2*len(to.Partners) < len(to.Stores)
	if to.ByPartner && everywhere {
		to.Stores = nil
	}
}

// ordersPage is the data of the page "orders".
type ordersPage struct {
	orderFilter
	Rows     []orderRow
	Statuses []commerce.OrderStatus
	Older    string // the address of the next page; empty: there is none
	Further  bool   // the page ends since enough orders were examined
	Begins   bool   // the page is the first one
	Filtered bool
	MayMake  bool   // the user may take orders
	Try      string // the address of the service, to make a test order
	Export   string // the address of the file; empty: the user may not
	Views    []viewLink
	View     string // the name of the view that is shown
	Most     bool   // more orders may have been found
}

// viewLink leads to a saved view.
type viewLink struct {
	Name  string
	Query template.URL // orderQuery has encoded it
}

// orderRow is an order of a list.
type orderRow struct {
	commerce.Order
	URL            string
	Store, Partner string
	Zone           *time.Location
}

// Customer is how the list calls the customer.
func (r orderRow) Customer() string {
	if r.Address != nil {
		return cmp.Or(r.Address.Name, r.CustomerEmail)
	}
	return r.CustomerEmail
}

// orders lists orders, or those that were looked for.
func (v *visit) orders() error {
	f, err := v.orderFilter(orderQueryOf(v.URL.Query()))
	if err != nil {
		return err
	}
	after := v.URL.Query().Get("after")
	page := ordersPage{orderFilter: f, Statuses: commerce.Statuses, Begins: after == "", Filtered: f.Status+f.Partner+f.Source+f.Mode+f.From+f.To+f.Min+f.Max != ""}
	var orders []commerce.Order
	if f.Text != "" {
		if orders, err = v.search(f); err != nil {
			return err
		}
		page.Most = len(orders) >= mostFound
	} else {
		list := f.filter
		list.After, list.Limit, list.Examine = positionOf(after), ordersOnPage, ordersExamined
		found, err := v.o.reads.OrderPage(v.Context(), list)
		if err != nil {
			return err
		}
		orders, page.Further = found.Orders, found.Further
		if found.Next != (storage.OrderPosition{}) {
			q := v.URL.Query()
			q.Set("after", strconv.FormatInt(int64(found.Next.At), 10)+"."+found.Next.ID)
			page.Older = "?" + q.Encode()
		}
	}
	page.Rows, page.Try = f.rows(orders), v.o.publicURL
	page.MayMake = v.user.MaySomewhere(commerce.MayWriteOrders)
	views, err := v.o.reads.SavedViews(v.Context(), v.user.ID)
	if err != nil {
		return err
	}
	query := f.String()
	for _, view := range views {
		page.Views = append(page.Views, viewLink{view.Name, template.URL(view.Query)})
		if view.Query == query && query != "" {
			page.View = view.Name
		}
	}
	if ids, all := v.user.StoresWith(commerce.MayExportOrders); f.Text == "" && (all || len(ids) > 0) {
		page.Export = ordersPath + ".csv?" + query
	}
	return v.page("orders", "Orders", page)
}

// positionOf reads the position in the address of a page. One that cannot be read is the
// beginning.
func positionOf(text string) (p storage.OrderPosition) {
	at, id, _ := strings.Cut(text, ".")
	ms, err := strconv.ParseInt(at, 10, 64)
	if _, ok := commerce.StoreNoOfOrder(id); err != nil || ms < 0 || ms > 1<<46 || !ok && id != storage.AfterAllIDs {
		return p
	}
	return storage.OrderPosition{At: commerce.Millis(ms), ID: id}
}

// rows are the rows of orders.
func (f orderFilter) rows(orders []commerce.Order) []orderRow {
	stores, partners := map[string]commerce.Store{}, map[string]string{}
	for _, s := range f.Stores {
		stores[s.ID] = s
	}
	for _, p := range f.Partners {
		partners[p.ID] = p.Name
	}
	rows := make([]orderRow, len(orders))
	for i, o := range orders {
		store := stores[o.StoreID]
		rows[i] = orderRow{Order: o, URL: ordersPath + "/" + o.ID, Store: cmp.Or(store.Name, o.StoreID), Partner: cmp.Or(partners[o.PartnerID], o.PartnerID), Zone: site.ZoneOf(store)}
	}
	return rows
}

// saveView keeps the filter of the list under a name.
func (v *visit) saveView() error {
	q, err := url.ParseQuery(v.PostFormValue("query"))
	if err != nil {
		return commerce.Invalid("query", "The filter cannot be read")
	}
	query := orderQueryOf(q).String()
	view, err := v.o.uses.SaveView(v.Context(), v.caller(), v.PostFormValue("name"), query)
	if err != nil {
		return err
	}
	return v.done(ordersPath+"?"+query, "View saved: "+view.Name)
}

// removeView forgets a view.
func (v *visit) removeView() error {
	name := v.PostFormValue("name")
	if err := v.o.uses.RemoveView(v.Context(), v.caller(), name); err != nil {
		return err
	}
	return v.done(ordersPath, "View removed: "+name)
}
