package backoffice

import (
	"context"
	"encoding/csv"
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"purveyor/internal/commerce"
	"purveyor/internal/storage/schema/schematest"
	"purveyor/internal/testkit/fixture"
)

const (
	otherStore = "sto_other"
	hostile    = `=HYPERLINK("x")<script>alert(1)</script>`
)

// noon is a time at which both stores have the same day.
var noon = commerce.MillisOf(time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC))

// fillList adds orders to the shop's store and to another one, an hour apart, and returns them,
// the newest first.
func (o *office) fillList(n int) (orders []commerce.Order) {
	o.t.Helper()
	c := commerce.Changes{Stores: []commerce.Store{{ID: otherStore, No: 2, Name: "Other place", Active: true, TimeZone: "Asia/Tokyo"}}}
	for i := range n {
		order := commerce.Order{StoreID: fixture.StoreID, PartnerID: fixture.PartnerID, Mode: commerce.Live, Source: commerce.SourcePartner, ExternalID: fmt.Sprintf("X-%d", i),
			Fulfillment: commerce.ByPickup, Status: commerce.Statuses[i%len(commerce.Statuses)], TotalCents: commerce.Cents(100 * i), CustomerID: fmt.Sprintf("cus_%d", i)}
		no := int64(1)
		if i%3 == 2 {
			order.StoreID, no = otherStore, 2
		}
		if i%5 == 4 {
			order.PartnerID, order.Source, order.ExternalID = "", commerce.SourceService, ""
		}
		if i%7 == 6 {
			order.Mode = commerce.Test
		}
		order.CreatedOn = noon - commerce.Millis(i)*60*60*1000
		order.UpdatedOn, order.ID = order.CreatedOn, commerce.NewOrderID(no, order.CreatedOn, commerce.Entropy{9, 9, 9, 9, 9, 9, 9, 9, 9, byte(i)})
		if i == 0 {
			order.ExternalID, order.CustomerEmail = hostile, hostile
			order.Address = &commerce.DeliveryAddress{Name: hostile, Email: hostile, Phone: "+1 (512) 555-0100"}
		}
		orders = append(orders, order)
		if order.ExternalID != "" {
			c.External = append(c.External, commerce.ExternalRef{ExternalKey: commerce.ExternalKey{PartnerID: order.PartnerID, Mode: order.Mode, ExternalID: order.ExternalID}, Order: order.Key()})
		}
		for _, contact := range []string{commerce.EmailContact("Ann@e.example"), commerce.PhoneContact("+1 (512) 555-0100")} {
			if i < 6 {
				key := commerce.CustomerKey{StoreID: order.StoreID, PartnerID: fmt.Sprint("ptn_", i), Mode: order.Mode, Contact: contact}
				c.Customers = append(c.Customers, commerce.Customer{CustomerKey: key, ID: order.CustomerID})
			}
		}
	}
	c.Orders = orders
	needs := schematest.Needs(c)
	needs.NextStoreNo, needs.Lock = true, true
	fixture.Change(o.t, o.Engine, needs, func(*commerce.Rows, commerce.Millis) commerce.Changes { return c })
	return orders
}

var orderLink = regexp.MustCompile(`<td data-word="Order"><a href="/office/orders/(ord_[0-9a-z_]+)"`)

// listed are the ids of the orders on a page.
func listed(page string) (ids []string) {
	for _, m := range orderLink.FindAllStringSubmatch(page, -1) {
		ids = append(ids, m[1])
	}
	return ids
}

var olderLink = regexp.MustCompile(`<nav class="more">.*<a href="([^"]+)">(Older|Look further)</a>`)

// walk reads all pages of a list.
func (o *office) walk(user, query string) (ids []string) {
	o.t.Helper()
	for at := ordersPath + "?" + query; ; {
		status, page := o.get(user, at)
		if status != http.StatusOK {
			o.t.Fatalf("%s: %d\n%s", at, status, page)
		}
		ids = append(ids, listed(page)...)
		next := olderLink.FindStringSubmatch(page)
		if next == nil {
			return ids
		}
		at = ordersPath + strings.ReplaceAll(next[1], "&amp;", "&")
	}
}

func idsOf(orders []commerce.Order, has func(commerce.Order) bool) (ids []string) {
	for _, o := range orders {
		if has(o) {
			ids = append(ids, o.ID)
		}
	}
	return ids
}

// TestOrderList walks the filtered list: each order stands there once, the newest first, and no order of a foreign store.
func TestOrderList(t *testing.T) {
	o := openOffice(t)
	orders := o.fillList(130)
	mine := func(order commerce.Order) bool { return order.StoreID == fixture.StoreID }
	since := commerce.MillisOf(time.Date(2026, 2, 27, 0, 0, 0, 0, time.UTC))
	until := commerce.MillisOf(time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC))
	tokyo := commerce.Millis(9 * 60 * 60 * 1000)
	for _, c := range []struct {
		user, query string
		has         func(commerce.Order) bool
	}{
		{"boss", "", func(commerce.Order) bool { return true }},
		{"viewer", "", mine},
		{"elsewhere", "", func(order commerce.Order) bool { return !mine(order) }},
		{"boss", "store=" + otherStore, func(order commerce.Order) bool { return !mine(order) }},
		{"boss", "status=paid", func(order commerce.Order) bool { return order.Status == commerce.Paid }},
		{"boss", "status=open", func(order commerce.Order) bool { return order.Status.Open() }},
		{"viewer", "status=finished", func(order commerce.Order) bool { return order.Status.Terminal() && mine(order) }},
		{"boss", "partner=" + fixture.PartnerID, func(order commerce.Order) bool { return order.PartnerID == fixture.PartnerID }},
		{"boss", "source=service", func(order commerce.Order) bool { return order.Source == commerce.SourceService }},
		{"boss", "mode=test", func(order commerce.Order) bool { return order.Mode == commerce.Test }},
		{"boss", "min=12.50&max=%2440", func(order commerce.Order) bool { return order.TotalCents >= 1250 && order.TotalCents <= 4000 }},
		{"boss", "from=2026-02-27&to=2026-02-28", func(order commerce.Order) bool { return order.CreatedOn >= since && order.CreatedOn < until }},
		{"boss", "from=2026-02-27&to=2026-02-28&store=" + otherStore, func(order commerce.Order) bool {
			return order.CreatedOn >= since-tokyo && order.CreatedOn < until-tokyo && !mine(order)
		}},
		{"boss", "after=nonsense", func(commerce.Order) bool { return true }},
	} {
		if got, want := o.walk(c.user, c.query), idsOf(orders, c.has); !slices.Equal(got, want) {
			t.Errorf("%s, %q:\n got %d %q\nwant %d %q", c.user, c.query, len(got), got, len(want), want)
		}
	}
	for query, want := range map[string]int{"from=yesterday": http.StatusBadRequest, "min=-1": http.StatusBadRequest, "max=a": http.StatusBadRequest} {
		if status, _ := o.get("boss", ordersPath+"?"+query); status != want {
			t.Errorf("%s: %d", query, status)
		}
	}
	if status, _ := o.get("viewer", ordersPath+"?store="+otherStore); status != http.StatusNotFound {
		t.Errorf("a foreign store: %d", status)
	}
	_, page := o.get("viewer", ordersPath)
	mustHave(t, page, "-<script>alert", "&lt;script&gt;alert", "-Other place", "-.csv")
}

// TestOrderSearch finds orders by what staff know, in the stores of the user alone.
func TestOrderSearch(t *testing.T) {
	o := openOffice(t)
	orders := o.fillList(12)
	end := func(order commerce.Order) string { return order.ID[len(order.ID)-4:] }
	for _, c := range []struct {
		user, text string
		want       []int
	}{
		{"boss", orders[7].ID, []int{7}},
		{"boss", strings.ToUpper(orders[7].ID), []int{7}},
		{"viewer", orders[2].ID, nil}, // of the other store
		{"elsewhere", orders[2].ID, []int{2}},
		{"boss", "X-5", []int{5}},
		{"viewer", "X-5", nil},
		{"boss", hostile, []int{0}},
		{"boss", " ann@E.example ", []int{0, 1, 2, 3, 4, 5}},
		{"viewer", "ann@e.example", []int{0, 1, 3, 4}},
		{"elsewhere", "ann@e.example", []int{2, 5}},
		{"boss", "512 555 0100", []int{0, 1, 2, 3, 4, 5}},
		{"boss", "+1-512-555-0100", []int{0, 1, 2, 3, 4, 5}},
		{"boss", "an@e.example", nil},
		{"boss", end(orders[3]), []int{3}},                  // processed
		{"boss", strings.ToUpper(end(orders[2])), []int{2}}, // paid
		{"viewer", end(orders[2]), nil},
		{"boss", end(orders[10]), nil}, // cancelled
		{"boss", "%_'\"\x00", nil},
	} {
		status, page := o.get(c.user, ordersPath+"?q="+url.QueryEscape(c.text))
		var want []string
		for _, i := range c.want {
			want = append(want, orders[i].ID)
		}
		if got := listed(page); status != http.StatusOK || !slices.Equal(got, want) {
			t.Errorf("%q by %s: %d, %q; want %q", c.text, c.user, status, got, want)
		}
		mustHave(t, page, "-<script>alert")
	}
	if _, page := o.get("boss", ordersPath+"?status=cancelled&q=ann%40e.example"); len(listed(page)) != 0 {
		t.Errorf("the filter does not hold in a search: %q", listed(page))
	}
}

// TestOrderExport: managers take the filtered list of their stores as a file without formulas, and
// this is written down.
func TestOrderExport(t *testing.T) {
	o := openOffice(t)
	orders := o.fillList(60)
	for _, user := range []string{"viewer", "clerk"} {
		if status, _ := o.get(user, ordersPath+".csv"); status != http.StatusForbidden {
			t.Errorf("%s: %d", user, status)
		}
	}
	status, text := o.get("manager", ordersPath+".csv?status=pending_payment")
	rows, err := csv.NewReader(strings.NewReader(text)).ReadAll()
	want := idsOf(orders, func(order commerce.Order) bool {
		return order.StoreID == fixture.StoreID && order.Status == commerce.PendingPayment
	})
	if status != http.StatusOK || err != nil || len(rows) != 1+len(want) || rows[1][1] != "'"+hostile || rows[1][11] != "'"+hostile || rows[1][13] != "'+1 (512) 555-0100" || rows[1][18] != "0.00" {
		t.Fatalf("%d, %v: %q", status, err, rows)
	}
	for i, id := range want {
		if rows[1+i][0] != id {
			t.Errorf("row %d: %q, want %s", i, rows[1+i], id)
		}
	}
	entries, err := o.Reader.Audit(context.Background(), "", "", 10)
	if err != nil || len(entries) != 1 || entries[0].Action != "export_orders" || entries[0].Actor != "staff:usr_manager" ||
		string(entries[0].After) != fmt.Sprintf(`{"filter":"status=pending_payment","orders":%d}`, len(want)) {
		t.Errorf("%+v, %v", entries, err)
	}
	if status, _ := o.get("manager", ordersPath+".csv?store="+otherStore); status != http.StatusNotFound {
		t.Errorf("a foreign store: %d", status)
	}
	if _, all := o.get("boss", ordersPath+".csv"); strings.Count(all, "\nord_") != len(orders) {
		t.Errorf("%d of %d orders", strings.Count(all, "\nord_"), len(orders))
	}
}

// TestSavedViews: a user names a filter, finds it as a link, and removes it.
func TestSavedViews(t *testing.T) {
	o := openOffice(t)
	save := func(name, query string) int {
		status, _ := o.post("viewer", ordersPath+"/views", "name", name, "query", query)
		return status
	}
	if status := save("<b>Late</b>", "status=paid&store=x&evil=javascript"); status != http.StatusSeeOther {
		t.Fatal(status)
	}
	if status := save(" ", "status=paid"); status != http.StatusBadRequest {
		t.Errorf("without a name: %d", status)
	}
	_, page := o.get("viewer", ordersPath)
	mustHave(t, page, `<a class="chip" href="/office/orders?status=paid&amp;store=x">&lt;b&gt;Late`, "-evil", "-<b>Late")
	_, page = o.get("clerk", ordersPath)
	mustHave(t, page, "-Late")
	if status, _ := o.post("viewer", ordersPath+"/views/remove", "name", "<b>Late</b>"); status != http.StatusSeeOther {
		t.Fatal(status)
	}
	_, page = o.get("viewer", ordersPath)
	mustHave(t, page, "-Late")
}

// TestAttentionPage lists reasons of the user's stores with their next step.
func TestAttentionPage(t *testing.T) {
	o := openOffice(t)
	orders := o.fillList(12)
	raise := func(i int, code commerce.AttentionCode, since commerce.Millis, detail string) commerce.Attention {
		return commerce.Attention{StoreID: orders[i].StoreID, OrderID: orders[i].ID, Code: code, Since: since, Detail: detail}
	}
	c := commerce.Changes{Attention: []commerce.Attention{
		raise(2, commerce.AttentionInsufficientStock, 5, "Rye is missing"),        // paid, in the other store
		raise(3, commerce.AttentionMailNotSent, 4, hostile),                       // processed
		raise(0, commerce.AttentionRefundDue, 9, "100 cents"),                     // pending
		raise(9, commerce.AttentionRefundRequested, 8, ""),                        // refund requested
		raise(10, commerce.AttentionTwoCouriers, 7, ""),                           // cancelled
		raise(6, commerce.AttentionGoodsReturned, 3, "The goods are in the shop"), // delivered: nothing to cancel
	}}
	needs := schematest.Needs(c)
	needs.Lock = true
	fixture.Change(t, o.Engine, needs, func(*commerce.Rows, commerce.Millis) commerce.Changes { return c })
	order := func(i int) string { return orders[i].ID }
	status, page := o.get("boss", Prefix+"/attention")
	if got, want := listed(page), []string{order(10), order(0), order(9), order(2), order(3), order(6)}; status != http.StatusOK || !slices.Equal(got, want) {
		t.Errorf("%d: got %q, want %q\n%s", status, got, want, page)
	}
	mustHave(t, page, "Two couriers 1", `action="/office/orders/`+order(2)+`/confirm"`, `name="back" value="attention"`, `href="/office/orders/`+order(0)+`/refund"`,
		"-<script>alert", "-/office/orders/"+order(6)+"/cancel", `/attention/refund_due/resolve"`, "-/attention/refund_requested/resolve")
	_, page = o.get("clerk", Prefix+"/attention")
	if got, want := listed(page), []string{order(10), order(0), order(9), order(3), order(6)}; !slices.Equal(got, want) {
		t.Errorf("a clerk: got %q, want %q", got, want)
	}
	mustHave(t, page, "-/attention/refund_due/resolve", "/attention/mail_not_sent/resolve", "-/refund\"")
	_, page = o.get("viewer", Prefix+"/attention?code=mail_not_sent")
	if got, want := listed(page), []string{order(3)}; !slices.Equal(got, want) {
		t.Errorf("one code: got %q, want %q", got, want)
	}
	mustHave(t, page, "-/resolve", "-<form method=\"post\" action=\"/office/orders")
	if status, _ := o.get("viewer", Prefix+"/attention?store="+otherStore); status != http.StatusNotFound {
		t.Errorf("a foreign store: %d", status)
	}
	if status, to := o.post("clerk", ordersPath+"/"+order(3)+"/attention/mail_not_sent/resolve", "since", "4", "back", "attention"); status != http.StatusSeeOther || to != Prefix+"/attention" {
		t.Errorf("resolved: %d, %s", status, to)
	}
}
