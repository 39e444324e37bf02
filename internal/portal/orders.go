package portal

import (
	"html/template"
	"net/url"
	"strconv"
	"strings"
	"time"

	"purveyor/internal/commerce"
	"purveyor/internal/requestlog"
	"purveyor/internal/site"
	"purveyor/internal/storage"
)

// orderRoutes are the pages of the partner's own orders.
var orderRoutes = []route{
	{method: get, path: Prefix + "/orders", handle: (*visit).orders, word: "Orders", icon: "receipt"},
	{method: get, path: Prefix + "/orders/{id}", handle: (*visit).order},
}

const (
	ordersOnPage   = 50
	ordersExamined = 5000
	timelineRoom   = 500
	callsRoom      = 50
)

// ordersPage is the data of the page "orders".
type ordersPage struct {
	Orders               []commerce.Order
	Zone                 *time.Location
	Statuses             []commerce.OrderStatus
	Status, Mode, Prefix string
	Further              template.URL // the query of the next page; empty: there is none
}

// orders lists the partner's orders, the newest first or, with the begin of an external id, by that.
func (v *visit) orders() (err error) {
	query := v.URL.Query()
	page := ordersPage{Statuses: commerce.Statuses, Status: query.Get("status"), Mode: query.Get("mode"), Prefix: strings.TrimSpace(query.Get("prefix"))}
	if page.Zone, err = v.zone(); err != nil {
		return err
	}
	f := storage.PartnerOrderFilter{PartnerID: v.partner.ID, Modes: []commerce.Mode{commerce.Live, commerce.Test}, Prefix: page.Prefix, Limit: ordersOnPage, Examine: ordersExamined, After: positionOf(query.Get("after"))}
	if len(v.partner.StoreIDs) > 0 {
		f.StoreIDs = v.partner.StoreIDs
	}
	if page.Status != "" {
		f.Statuses = []commerce.OrderStatus{commerce.OrderStatus(page.Status)}
	}
	if page.Mode == string(commerce.Live) || page.Mode == string(commerce.Test) {
		f.Modes = []commerce.Mode{commerce.Mode(page.Mode)}
	}
	if f.Prefix != "" {
		f.Sequence = storage.ByExternalID
	}
	found, err := v.p.reads.PartnerOrders(v.Context(), f, nil)
	if err != nil {
		return err
	}
	for _, o := range found.Orders {
		page.Orders = append(page.Orders, o.Order)
	}
	if next := found.Next; next != (storage.PartnerOrderPosition{}) {
		out := url.Values{"status": {page.Status}, "mode": {page.Mode}, "prefix": {page.Prefix}, "after": {strconv.FormatInt(int64(next.At), 10) + " " + string(next.Mode) + " " + next.ID}}
		page.Further = template.URL(out.Encode())
	}
	return v.page("orders", "Orders", page)
}

// positionOf is the position behind a page, as its link has it; the begin if it is none.
func positionOf(text string) (p storage.PartnerOrderPosition) {
	at, rest, _ := strings.Cut(text, " ")
	mode, id, _ := strings.Cut(rest, " ")
	n, err := strconv.ParseInt(at, 10, 64)
	if err != nil || id == "" {
		return p
	}
	return storage.PartnerOrderPosition{At: commerce.Millis(n), Mode: commerce.Mode(mode), ID: id}
}

// orderPage is the data of the page "order".
type orderPage struct {
	Order    commerce.Order
	Timeline []commerce.TimelineEvent
	Calls    []requestlog.Entry
	Zone     *time.Location
}

// order shows one order of the partner, with what happened to it and the calls about it.
func (v *visit) order() error {
	o, err := v.p.uses.FindOrder(v.Context(), v.caller(), v.PathValue("id"))
	if err != nil {
		return err
	}
	page := orderPage{Order: o}
	if page.Zone, err = v.zone(); err != nil {
		return err
	}
	if page.Timeline, err = v.p.reads.Timeline(v.Context(), o.Key(), timelineRoom); err != nil {
		return err
	}
	if v.p.requests != nil {
		calls, err := v.p.requests.Page(v.Context(), requestlog.Filter{PartnerID: v.partner.ID, OrderID: o.ID, Since: max(o.CreatedOn.Add(-time.Minute), v.now().Add(-requestsShown)), Limit: callsRoom})
		if err != nil {
			return err
		}
		page.Calls = calls.Entries
	}
	return v.page("order", "Order "+site.Short(o.ID), page)
}
