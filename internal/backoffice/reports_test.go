package backoffice

import (
	"encoding/csv"
	"fmt"
	"html"
	"net/http"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"purveyor/internal/command"
	"purveyor/internal/commerce"
	"purveyor/internal/env"
	"purveyor/internal/testkit/fixture"
)

// orderAt makes a report of an order that was made at a time, in a store with that number.
func (o *office) orderAt(at time.Time, no int64, store string, mode commerce.Mode, quantity int64) commerce.Order {
	o.t.Helper()
	report := o.Report(0, quantity)
	report.OrderID = commerce.NewOrderID(no, commerce.MillisOf(at), env.Env{}.Entropy())
	report.ExternalID += at.String()
	report.Actor = fixture.Actor(mode)
	report.StoreID = store
	if store != fixture.StoreID {
		report.Lines = []commerce.OrderLine{{ProductID: "prd_other", Quantity: quantity, PriceCents: fixture.Price}}
	}
	return fixture.Do(o.Shop, report)
}

// otherStore makes a second store, in another time zone, with a product.
func (o *office) otherStore() {
	fixture.Do(o.Shop, command.ImportCatalog{
		Stores:   []command.ImportStore{{ID: "sto_other", Name: "=Other <b>"}},
		Products: []command.ImportProduct{{ID: "prd_other", Name: "Rye", StoreID: "sto_other", PriceCents: new(fixture.Price), Quantity: new(int64(1000))}}})
	needs := commerce.Needs{Lock: true, Stores: []string{"sto_other"}}
	fixture.Change(o.t, o.Engine, needs, func(rows *commerce.Rows, _ commerce.Millis) commerce.Changes {
		s, _ := rows.Stores.Get("sto_other")
		s.TimeZone = "America/New_York"
		return commerce.Changes{Stores: []commerce.Store{s}}
	})
}

// sums makes the sums of all hours that are over.
func (o *office) sums() {
	o.t.Helper()
	if err := o.uses.MakeSums(o.t.Context()); err != nil {
		o.t.Fatal(err)
	}
}

// cells reads a CSV file.
func cells(t *testing.T, body string) [][]string {
	t.Helper()
	rows, err := csv.NewReader(strings.NewReader(body)).ReadAll()
	if err != nil {
		t.Fatalf("%v:\n%s", err, body)
	}
	return rows
}

// column is a column of a CSV file by its name.
func column(rows [][]string, name string) (list []string) {
	for i, title := range rows[0] {
		if title == name {
			for _, row := range rows[1:] {
				list = append(list, row[i])
			}
		}
	}
	return list
}

// TestReportIsTheBooks: the figures of a report are those of the orders of the user's stores,
// on the days of the stores' own clocks. Test orders have figures of their own.
func TestReportIsTheBooks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := openOffice(t)
		o.otherStore()
		day := time.Now().UTC().Truncate(24 * time.Hour)
		o.orderAt(day.Add(time.Hour), 1, fixture.StoreID, commerce.Live, 1)
		cancelled := o.orderAt(day.Add(2*time.Hour), 1, fixture.StoreID, commerce.Live, 2)
		o.orderAt(day.Add(2*time.Hour), 1, fixture.StoreID, commerce.Test, 7)
		o.orderAt(day.Add(27*time.Hour), 1, fixture.StoreID, commerce.Live, 4)
		o.orderAt(day.Add(3*time.Hour), 2, "sto_other", commerce.Live, 8)   // the evening before, there
		o.orderAt(day.Add(25*time.Hour), 2, "sto_other", commerce.Live, 16) // this day, there
		time.Sleep(28 * time.Hour)
		o.sums()
		fixture.Do(o.Shop, command.CancelOrder{Facts: command.FactsOf(cancelled), Actor: fixture.Actor(commerce.Live)})
		time.Sleep(time.Hour)
		o.sums()
		first, second, before := day.Format(time.DateOnly), day.AddDate(0, 0, 1).Format(time.DateOnly), day.AddDate(0, 0, -1).Format(time.DateOnly)
		for _, c := range []struct {
			user, query   string
			orders, sales string // of all lines
		}{
			{"viewer", "from=" + first + "&to=" + second, "2 1", "37.5 50"},
			{"viewer", "from=" + first + "&to=" + first, "2", "37.5"},
			{"viewer", "from=" + first + "&to=" + first + "&by=hour", "0 1 1" + strings.Repeat(" 0", 21), "0 12.5 25" + strings.Repeat(" 0", 21)},
			{"viewer", "from=" + first + "&to=" + second + "&mode=test", "1 0", "87.5 0"},
			{"viewer", "from=" + first + "&to=" + second + "&source=service", "0 0", "0 0"},
			{"elsewhere", "from=" + before + "&to=" + second, "1 1 0", "100 200 0"},
			{"boss", "from=" + before + "&to=" + second, "1 3 1", "100 237.5 50"},
			{"boss", "from=" + before + "&to=" + second + "&store=sto_other", "1 1 0", "100 200 0"},
			{"boss", "from=" + before + "&to=" + second + "&by=store", "2 3", "300 87.5"},
			{"boss", "from=" + before + "&to=" + second + "&by=source", "5", "387.5"},
		} {
			status, body := o.get(c.user, "/office/reports.csv?"+c.query)
			if status != http.StatusOK {
				t.Fatalf("%s: %d\n%s", c.query, status, body)
			}
			rows := cells(t, body)
			if orders, sales := strings.Join(column(rows, "orders"), " "), strings.Join(column(rows, "sales"), " "); orders != c.orders || sales != c.sales {
				t.Errorf("%s, %s: orders %s, sales %s, want %s and %s", c.user, c.query, orders, sales, c.orders, c.sales)
			}
		}
		if _, body := o.get("viewer", "/office/reports.csv?from="+first+"&to="+first); strings.Join(column(cells(t, body), "sales_stopped"), "") != "25" {
			t.Errorf("the order that was cancelled later is missing:\n%s", body)
		}
		_, page := o.get("viewer", "/office/reports?from="+first+"&to="+second)
		for _, want := range []string{"<b>3</b> orders", "<b>1</b> cancelled", "$87.50"} {
			if !strings.Contains(page, want) {
				t.Errorf("the page lacks %q:\n%s", want, page)
			}
		}
	})
}

// TestToday: the first page counts what is open in the user's stores, and compares the orders
// of today with those of the same weekday up to the same time.
func TestToday(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := openOffice(t)
		o.otherStore()
		day := time.Now().UTC().Truncate(24 * time.Hour)
		week := day.AddDate(0, 0, 7)
		for hours, quantity := range map[int]int64{1: 1, 9: 2, 13: 4, 7*24 + 2: 8, 7*24 + 9: 16} { // what is made after 10:00 is not compared
			o.orderAt(day.Add(time.Duration(hours)*time.Hour), 1, fixture.StoreID, commerce.Live, quantity)
		}
		o.orderAt(day.Add(7*24*time.Hour+2*time.Hour), 1, fixture.StoreID, commerce.Test, 1)
		o.orderAt(day.Add(7*24*time.Hour+4*time.Hour), 2, "sto_other", commerce.Live, 32) // the evening before, there
		_, empty := o.get("viewer", "/office")
		const held = "until the operator releases them"
		if strings.Contains(empty, held) || !strings.Contains(empty, "The figures of an hour stand here") || !strings.Contains(empty, "Nothing needs you") {
			t.Errorf("the page is not empty:\n%s", empty)
		}
		time.Sleep(time.Until(week.Add(10*time.Hour + 5*time.Minute)))
		o.sums()
		sold := o.orderAt(time.Now(), 1, fixture.StoreID, commerce.Live, 1)
		var c commerce.Changes
		sold.Status, sold.Fulfillment = commerce.Shipped, commerce.ByDelivery
		c.Orders = []commerce.Order{sold}
		c.Deliveries = []commerce.Delivery{{StoreID: sold.StoreID, OrderID: sold.ID, State: commerce.DeliveryActive, Provider: "uber", DropoffETA: commerce.MillisOf(time.Now().Add(-time.Minute)), Courier: commerce.Courier{Name: "<i>Cy"}}}
		c.Attention = []commerce.Attention{{StoreID: sold.StoreID, OrderID: sold.ID, Code: commerce.AttentionProviderRefusesUs, Since: 1}, {StoreID: sold.StoreID, OrderID: sold.ID, Code: commerce.AttentionDisputed, Since: 1}}
		c.Endpoints = []commerce.Endpoint{{PartnerID: fixture.PartnerID, Failures: commerce.FailingAfter, FailingSince: 1}}
		c.NewJobs = []commerce.Job{{Slot: 1, ID: "job_held", Kind: commerce.JobRefund, Mode: commerce.Live, Owner: sold.StoreID, State: commerce.JobHeld}}
		fixture.Change(t, o.Engine, needsOf(c), func(*commerce.Rows, commerce.Millis) commerce.Changes { return c })
		_, page := o.get("manager", "/office")
		for _, want := range []string{
			`href="/office/orders?status=processed"><b>6</b> Processed`, `<b>1</b> Shipped`, "<b>2</b> need attention", "A provider refuses our credentials", held,
			`data-word="Today">2<`, `data-word="A week ago">2<`, `data-word="Today">$300.00<`, `data-word="A week ago">$37.50<`,
			"&lt;i&gt;Cy", "/office/orders/" + sold.ID, `href="/office/partners/ptn_1">P<`, "Payment disputed",
		} {
			if !strings.Contains(page, want) {
				t.Errorf("the page lacks %q:\n%s", want, page)
			}
		}
		if _, page := o.get("viewer", "/office"); strings.Contains(page, "/office/partners/") {
			t.Errorf("a viewer sees partners:\n%s", page)
		}
		_, page = o.get("elsewhere", "/office")
		for _, not := range []string{"Shipped", "need attention", "Cy", "$300.00"} {
			if strings.Contains(page, not) {
				t.Errorf("the user of another store sees %q:\n%s", not, page)
			}
		}
		if _, page := o.get("boss", "/office?store=sto_other"); !strings.Contains(page, "<b>1</b> Processed") || strings.Contains(page, "Shipped") {
			t.Errorf("one store:\n%s", page)
		}
		if status, _ := o.get("manager", "/office?store=sto_other"); status != http.StatusNotFound {
			t.Errorf("a store of others: %d", status)
		}
	})
}

// needsOf names the rows of changes.
func needsOf(c commerce.Changes) commerce.Needs {
	n := commerce.Needs{Lock: true, Orders: []commerce.OrderKey{c.Orders[0].Key()}, Deliveries: []commerce.OrderKey{c.Orders[0].Key()}, Endpoints: []string{fixture.PartnerID}}
	for _, a := range c.Attention {
		n.Attention = append(n.Attention, a.Key())
	}
	return n
}

// TestReportTexts: names of stores stay texts in the page, and are no formulas in CSV files. A
// report of a store of others, a wrong date or too many days are refused.
func TestReportTexts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := openOffice(t)
		o.otherStore()
		o.orderAt(time.Now(), 2, "sto_other", commerce.Live, 1)
		time.Sleep(2 * time.Hour)
		o.sums()
		_, page := o.get("boss", "/office/reports")
		if strings.Contains(page, "Other <b>") || !strings.Contains(page, "=Other &lt;b&gt;") {
			t.Errorf("the name is not a text:\n%s", page)
		}
		_, body := o.get("boss", "/office/reports.csv?by=store&from=1999-12-01&to=2000-02-01")
		if names := column(cells(t, body), "store"); len(names) != 1 || names[0] != "'=Other <b>" {
			t.Errorf("%q", names)
		}
		for query, want := range map[string]int{"": http.StatusOK, "from=2000-01-01&to=1999-01-01": http.StatusBadRequest, "from=x": http.StatusBadRequest,
			"store=sto_other": http.StatusNotFound, "store=sto_none": http.StatusNotFound, "from=1970-01-01&to=9999-01-01": http.StatusBadRequest} {
			if status, page := o.get("viewer", "/office/reports?"+query); status != want {
				t.Errorf("%s: %d, want %d\n%s", query, status, want, page)
			}
		}
		if status, _ := o.get("viewer", "/office/reports.csv?by=x"); status != http.StatusBadRequest {
			t.Errorf("%d", status)
		}
	})
}

// TestReportRights: each page of the reports is for the roles of its permission.
func TestReportRights(t *testing.T) {
	o := openOffice(t)
	for _, r := range slices.Concat(todayRoutes, reportRoutes) {
		path := strings.ReplaceAll(r.path, "{id}", "out_1")
		for name, user := range o.users {
			status, page := o.get(name, path)
			if may := user.MaySomewhere(r.may) || r.may == ""; may == (status == http.StatusForbidden) || status == http.StatusInternalServerError {
				t.Errorf("%s by %s: %d\n%s", path, name, status, page)
			}
		}
		if status, _ := o.get("nobody", path); status != http.StatusSeeOther {
			t.Errorf("%s without a session: %d", path, status)
		}
	}
}

// TestAudit: what people did is listed with names and differences, filtered by actor, action,
// store and day, page by page.
func TestAudit(t *testing.T) {
	o := openOffice(t)
	const evil = `=<script>"'`
	var entries []commerce.AuditEntry
	for i := range 130 {
		e := commerce.AuditEntry{Actor: "staff:usr_clerk", Action: "update_partner", Object: "ptn_1", Address: "192.0.2.1",
			Before: []byte(`{"partners":{"ptn_1":{"name":"A"}}}`), After: fmt.Appendf(nil, `{"partners":{"ptn_1":{"name":%q}},"new_events":["webhook.test"]}`, evil)}
		if i%10 == 0 {
			e.Actor, e.Action, e.StoreID = "operator:ann", "rotate_key", fixture.StoreID
		}
		e.CreatedOn = commerce.MillisOf(time.Date(2026, 5, 1+i%20, 12, 0, 0, i*1e6, time.UTC))
		e.ID = commerce.NewID(commerce.PrefixAudit, e.CreatedOn, commerce.Entropy{byte(i)})
		entries = append(entries, e)
	}
	fixture.Change(t, o.Engine, commerce.Needs{}, func(*commerce.Rows, commerce.Millis) commerce.Changes { return commerce.Changes{Audit: entries} })
	for _, c := range []struct {
		query string
		want  int
	}{
		{"", 130}, {"actor=ann", 13}, {"actor=The+Clerk", 117}, {"action=Rotate+key", 13}, {"action=rotate_key&actor=clerk", 0},
		{"store=" + fixture.StoreID, 13}, {"from=2026-05-03&to=2026-05-04", 14}, {"to=2026-05-01", 7}, {"from=2026-06-01", 0},
	} {
		_, body := o.get("boss", "/office/audit.csv?"+c.query)
		if rows := cells(t, body); len(rows)-1 != c.want {
			t.Errorf("%s: %d rows, want %d", c.query, len(rows)-1, c.want)
		}
		listed := 0
		for path := "/office/audit?" + c.query; path != ""; {
			status, page := o.get("boss", path)
			if status != http.StatusOK || strings.Contains(page, "<script>") {
				t.Fatalf("%d\n%s", status, page)
			}
			listed += strings.Count(page, `long" data-word="Changes"`)
			path = nextPage(page, "/office/audit")
		}
		if listed != c.want {
			t.Errorf("%s: %d entries in pages, want %d", c.query, listed, c.want)
		}
	}
	_, page := o.get("boss", "/office/audit?actor=clerk")
	for _, want := range []string{"The clerk", "Partners ptn_1, Name: <del>A</del> → <ins>=&lt;script&gt;", "New events: webhook.test", "192.0.2.1"} {
		if !strings.Contains(page, want) {
			t.Errorf("the page lacks %q:\n%s", want, page)
		}
	}
	if status, _ := o.get("boss", "/office/audit?from=x"); status != http.StatusBadRequest {
		t.Errorf("%d", status)
	}
	if status, _ := o.get("owner", "/office/audit"); status != http.StatusForbidden {
		t.Errorf("the owner of one store sees all: %d", status)
	}
}

// nextPage is where the link to the next page of a list leads; empty: it is the last.
func nextPage(page, path string) string {
	_, rest, more := strings.Cut(page, `<nav class="more">`)
	if !more {
		return ""
	}
	_, rest, _ = strings.Cut(rest, `href="`)
	to, _, _ := strings.Cut(rest, `"`)
	return path + html.UnescapeString(to)
}

// TestExamined: a filter that finds little ends after so many rows, and goes on from there.
func TestExamined(t *testing.T) {
	o := openOffice(t)
	var entries []commerce.AuditEntry
	for i := range mostExamined + 10 {
		e := commerce.AuditEntry{ID: commerce.NewID(commerce.PrefixAudit, commerce.Millis(i+1), commerce.Entropy{}), Actor: "staff:usr_clerk", Action: "x", Before: []byte("{}"), After: []byte("{}"), CreatedOn: commerce.Millis(i + 1)}
		if i == 0 {
			e.Actor = "operator:ann"
		}
		entries = append(entries, e)
	}
	fixture.Change(t, o.Engine, commerce.Needs{}, func(*commerce.Rows, commerce.Millis) commerce.Changes { return commerce.Changes{Audit: entries} })
	_, page := o.get("boss", "/office/audit?actor=ann")
	if !strings.Contains(page, "Look further") || strings.Contains(page, "ann in the shell") {
		t.Fatalf("the first page:\n%s", page)
	}
	if _, page = o.get("boss", nextPage(page, "/office/audit")); !strings.Contains(page, "ann in the shell") || strings.Contains(page, "Look further") {
		t.Errorf("the second page:\n%s", page)
	}
}

// TestOutbox: managers see the messages about orders of their stores, as texts.
func TestOutbox(t *testing.T) {
	o := openOffice(t)
	o.otherStore()
	var messages []commerce.UnsentMessage
	for i, order := range []string{commerce.NewOrderID(1, 1, commerce.Entropy{1}), commerce.NewOrderID(2, 1, commerce.Entropy{2}), ""} {
		messages = append(messages, commerce.UnsentMessage{ID: fmt.Sprint("out_", i), Kind: commerce.UnsentMail, To: fmt.Sprintf("c%d@e.example", i), Subject: "<b>Ready",
			Text: "a\n<script>", HTML: "<p>", Reason: commerce.UnsentTestMode, OrderID: order, CreatedOn: commerce.Millis(i + 1)})
	}
	fixture.Change(t, o.Engine, commerce.Needs{}, func(*commerce.Rows, commerce.Millis) commerce.Changes { return commerce.Changes{Outbox: messages} })
	for user, sees := range map[string]string{"manager": "0", "elsewhere": "1", "boss": "012"} {
		status, page := o.get(user, "/office/outbox")
		if status != http.StatusOK || strings.Contains(page, "<b>Ready") {
			t.Errorf("%d\n%s", status, page)
		}
		for i := range messages {
			listed := strings.Contains(page, messages[i].To)
			status, message := o.get(user, "/office/outbox/"+messages[i].ID)
			if may := strings.Contains(sees, fmt.Sprint(i)); listed != may || (status == http.StatusOK) != may || strings.Contains(message, "<script>") {
				t.Errorf("%s, message %d: listed %v, %d\n%s", user, i, listed, status, message)
			}
		}
	}
	if status, _ := o.get("boss", "/office/outbox/out_none"); status != http.StatusNotFound {
		t.Errorf("%d", status)
	}
}
