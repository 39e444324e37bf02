package e2e_test

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"purveyor/internal/testkit/browser"
	"purveyor/internal/testkit/check"
	"purveyor/internal/testkit/office"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// walker is a person at work in the office with a mouse, and counts the clicks.
type walker struct {
	*browser.Visitor
	base    string
	scripts bool
	clicks  int
}

func (w *walker) open(path string) {
	w.T.Helper()
	check.OK(w.T, chromedp.Do(w.Tab, chromedp.Navigate(w.base+path)))
	w.clicks = 0
}

// click presses what changes this page, follow what leads to another one.
func (w *walker) click(selector string) {
	w.T.Helper()
	w.clicks++
	if err := chromedp.Do(w.Tab, chromedp.Click(chromedp.CSS(selector))); err != nil {
		w.T.Fatalf("%s: %v\n%s", selector, err, browser.Ask[string](w.Visitor, "document.body.innerText"))
	}
}

func (w *walker) follow(selector string) {
	w.T.Helper()
	w.clicks++
	if _, err := chromedp.RunResponse(w.Tab, chromedp.Click(chromedp.CSS(selector))); err != nil {
		w.T.Fatalf("%s: %v\n%s", selector, err, browser.Ask[string](w.Visitor, "document.body.innerText"))
	}
}

// fill types into a field.
func (w *walker) fill(selector, text string) {
	w.T.Helper()
	browser.Ask[string](w.Visitor, `document.querySelector('`+selector+`').value = ""`)
	check.OK(w.T, chromedp.Do(w.Tab, chromedp.SendKeys(chromedp.CSS(selector), text)))
}

// enter types into the last field of a form, and sends it by the keyboard.
func (w *walker) enter(selector, text string) {
	w.T.Helper()
	w.fill(selector, text)
	_, err := chromedp.RunResponse(w.Tab, chromedp.KeyEvent(kb.Enter))
	check.OK(w.T, err)
}

// sees waits for what the page shows by itself; without scripts, when it is opened again.
func (w *walker) sees(what, script string) {
	w.T.Helper()
	check.Eventually(w.T, patience, 50*time.Millisecond, what, func() bool {
		if browser.Ask[bool](w.Visitor, script) {
			return true
		}
		if !w.scripts {
			check.OK(w.T, chromedp.Do(w.Tab, chromedp.Reload()))
		}
		return false
	})
}

func (w *walker) took(act string, most int) {
	w.T.Helper()
	if w.T.Logf("%s: %d clicks", act, w.clicks); w.clicks > most {
		w.T.Errorf("%s takes %d clicks, want at most %d", act, w.clicks, most)
	}
	w.clicks = 0
}

func (w *walker) said(want string) {
	w.T.Helper()
	if text := browser.Ask[string](w.Visitor, `document.querySelector("main").innerText`); !strings.Contains(text, want) {
		w.T.Errorf("the page does not say %q:\n%s", want, text)
	}
}

// TestOffice is a day of the merchant's staff in the office, on both engines, with and without
// scripts in the browser.
func TestOffice(t *testing.T) {
	onBoth(t, func(t *testing.T, s *shop) {
		s.operate("import", s.file("stores.json", map[string]any{"stores": []map[string]any{{
			"id": "s1", "name": "First", "address": "1 Ferry Building", "city": "San Francisco", "state": "CA", "zip_code": "94111",
			"phone": "+14155550101", "lat": 37.7955, "lng": -122.3937, "service_delivery_enabled": true}}})).ok(t)
		hooks := newSink(t)
		s.hook(hooks, "/hook")
		_, live := s.serve(allowPrivate, "--sandbox-step", "1h")
		day := officeDay{s: s, hooks: hooks, live: live, test: live.with(s.partner.Keys.Test), orders: 0}
		boss := s.accept(live.base, s.users("create", "--email", "boss@e.example"))
		day.rights()
		chromium := browser.Start(t)
		walks := []bool{false, true}
		if times(1) == 1 { // both on each database in scripts/test full
			walks = []bool{s.postgres != ""}
		}
		for _, scripts := range walks {
			before := []chromedp.Action[chromedp.Void]{chromedp.EmulateViewport(1280, 900)}
			if !scripts {
				before = append(before, browser.NoScripts())
			}
			w := &walker{Visitor: browser.Visit(t, chromium, live.base+"/office/login", before...), base: live.base, scripts: scripts}
			w.fill("#email", "boss@e.example")
			w.enter("#password", office.Password)
			day.pickup(w)
			day.courier(w)
			day.cancel(w)
			day.count(w)
			day.keys(w)
			day.webhook(w)
			if scripts {
				day.failure(w)
				for _, problem := range w.Problems() {
					if !strings.HasPrefix(problem, "Autofocus processing was blocked") { // a hint of the browser: the address names another field
						t.Error(problem)
					}
				}
			}
		}
		if status, page := boss.Get("/office/audit"); status != http.StatusOK || !strings.Contains(page, "boss") {
			t.Errorf("audit: %d\n%s", status, page)
		}
		s.checkFile()
	})
}

// officeDay is what the walks share.
type officeDay struct {
	s          *shop
	hooks      *sink
	live, test *client
	orders     int
}

// reported makes an order that the partner was paid for, of the test key.
func (d *officeDay) reported(fulfillment string) string {
	d.orders++
	external := fmt.Sprint("W-", d.orders)
	body := map[string]any{"external_order_id": external, "store_id": "s1", "fulfillment_type": fulfillment, "items": []map[string]any{{"product_id": "p1", "quantity": 1, "price": 100}}}
	if fulfillment == "delivery" {
		body["delivery_address"] = doorstep
	}
	return d.test.must(201, post("/v1/orders/report", "report "+external, body)).orderID(d.s.t)
}

// status waits until the order stands so, as its partner sees it.
func (d *officeDay) status(orderID, want string) {
	d.s.t.Helper()
	check.Eventually(d.s.t, patience, pollPause, want, func() bool { return d.test.order("/v1/orders/"+orderID).Status == want })
}

// pickup: an order that a customer has paid appears on the board, is worked there, and a part of
// its money goes back.
func (d *officeDay) pickup(w *walker) {
	t := d.s.t
	w.open("/office/board")
	d.orders++
	p := &purchase{}
	p.checkedOut(t, d.test.must(201, post("/v1/checkout/session", fmt.Sprint("walk ", d.orders), map[string]any{"store_id": "s1", "fulfillment_type": "pickup", "customer_email": "ann@e.example",
		"success_url": "https://shop.example/ok", "cancel_url": "https://shop.example/no", "items": []map[string]any{{"product_id": "p5", "quantity": 2}}})))
	if a, err := d.test.click(request{method: "POST", path: p.page}); err != nil || a.status != http.StatusSeeOther {
		t.Fatalf("%d, %v: %s", a.status, err, a.body)
	}
	card := "#o-" + p.orderID
	at := func(column string) string { return `!!document.querySelector("#col-` + column + ` > ` + card + `")` }
	press := func(act string) {
		if selector := card + ` form[action$="/` + act + `"] button`; w.scripts {
			w.click(selector)
			if act != "confirm" {
				w.sees("the act to wait for its undo", `!!document.querySelector("`+card+`.held")`)
			}
		} else {
			w.follow(selector)
		}
	}
	w.sees("the order on the board", at("new"))
	press("confirm")
	w.took("confirm", 1)
	w.sees("the confirmed order", at("make"))
	press("ready")
	w.took("ready", 1)
	w.open("/office/orders") // an act that can be undone is done when the page is left
	d.status(p.orderID, "ready_for_pickup")
	w.open("/office/board")
	w.sees("the order that is ready", at("ready"))
	press("picked-up")
	w.took("picked up", 1)
	w.open("/office/orders")
	d.status(p.orderID, "picked_up")

	w.open("/office/orders?q=" + p.orderID)
	w.follow(`.list a[href$="` + p.orderID + `"]`)
	w.follow(`main a[href$="/refund"]`)
	w.fill("#amount", "4.50")
	w.fill("#reason", "requested_by_customer")
	w.follow("main form.fields button")
	w.took("refund a part", 4)
	w.said("$4.50 is")
	check.Eventually(t, patience, pollPause, "the refund", func() bool {
		return d.s.count("SELECT CAST(refunded_cents AS TEXT) FROM orders WHERE id = '"+p.orderID+"'") == "450"
	})
	w.open("/office/orders/" + p.orderID)
	w.said("Still refundable")
}

// courier: an order is found by the phone of its customer, and its courier, standing still, is
// replaced.
func (d *officeDay) courier(w *walker) {
	id := d.reported("delivery")
	w.open("/office/board")
	w.follow(`nav.side a[href="/office/orders"]`)
	w.click("main input[type=search]")
	w.enter("main input[type=search]", "+14155550134")
	w.took("find an order by phone", 2)
	w.follow(`.list a[href$="` + id + `"]`)
	w.clicks = 0
	w.follow(`main a[href$="/dispatch"]`)
	w.fill("#reason", "late")
	w.follow("main form.fields button")
	w.took("replace a courier", 2)
	check.Eventually(d.s.t, patience, pollPause, "another courier", func() bool {
		return d.s.count("SELECT CAST(attempt AS TEXT) FROM deliveries WHERE order_id = '"+id+"'") == "2"
	})
}

func (d *officeDay) cancel(w *walker) {
	id := d.reported("pickup")
	w.open("/office/board")
	w.sees("the order", `!!document.querySelector("#o-`+id+`")`)
	w.follow("#o-" + id + " a.number")
	w.follow(`main a[href$="/cancel"]`)
	w.fill("#reason", "sold out")
	w.follow("main form.fields button")
	w.took("cancel", 3)
	d.status(id, "cancelled")
}

func (d *officeDay) count(w *walker) {
	w.open("/office/board")
	w.follow(`nav.side a[href="/office/products"]`)
	w.follow(`a[href$="/p3#count"]`)
	w.fill("#counted", "77")
	w.fill("#count-reason", "Shelf")
	w.follow("#count button")
	w.took("count stock", 3)
	if got := d.live.product("p3").Quantity; got != 77 {
		d.s.t.Errorf("%d in stock", got)
	}
}

// keys: a key is issued, works, and ends when it is revoked.
func (d *officeDay) keys(w *walker) {
	w.open("/office/board")
	w.follow(`nav.side a[href="/office/partners"]`)
	w.follow(`.list a[href$="` + d.s.partner.PartnerID + `"]`)
	w.follow(`main a[href$="/keys"]`)
	w.follow("main form button")
	w.took("issue a key", 4)
	key := browser.Ask[string](w.Visitor, `document.querySelector("main pre").textContent`)
	d.live.with(key).eventuallyStatus(patience, 200, get("/v1/stores"))
	w.follow("main .acts a.main")
	w.follow(`main a[href$="/revoke"]`)
	w.follow("main form button")
	d.live.with(key).eventuallyStatus(patience, 401, get("/v1/stores"))
}

// toEvent opens the page of an event from the board.
func (d *officeDay) toEvent(w *walker, event string) {
	w.open("/office/board")
	w.follow(`nav.side a[href="/office/partners"]`)
	w.follow(`.list a[href$="` + d.s.partner.PartnerID + `"]`)
	w.follow(`main a[href$="/events/` + event + `"]`)
}

// webhook: staff send a webhook again that the partner has lost.
func (d *officeDay) webhook(w *walker) {
	id := d.reported("pickup")
	sent := func() (list []received) {
		for _, r := range d.hooks.at("/hook") {
			if r.event.OrderID == id {
				list = append(list, r)
			}
		}
		return list
	}
	check.Eventually(d.s.t, patience, pollPause, "the webhook", func() bool { return len(sent()) > 0 })
	d.toEvent(w, sent()[0].event.ID)
	check.Eventually(d.s.t, patience, 50*time.Millisecond, "the event to be delivered", func() bool {
		check.OK(d.s.t, chromedp.Do(w.Tab, chromedp.Reload()))
		return browser.Ask[bool](w.Visitor, `!!document.querySelector("main form[action$='/resend'] button")`)
	})
	before := len(sent())
	w.follow(`main form[action$="/resend"] button`)
	check.Eventually(d.s.t, patience, pollPause, "the webhook again", func() bool { return len(sent()) > before })
	if again := sent(); again[before].body != again[0].body {
		d.s.t.Errorf("another body was sent again: %s", again[before].body)
	}
}

// failure: staff see why a webhook failed.
func (d *officeDay) failure(w *walker) {
	d.hooks.answers(always(418))
	before := len(d.hooks.at("/hook"))
	d.reported("pickup")
	failed := d.hooks.waitFor(d.s.t, "/hook", before+1)[before]
	d.toEvent(w, failed.event.ID)
	w.took("see why a webhook failed", 3)
	check.Eventually(d.s.t, patience, 50*time.Millisecond, "the answer of the partner", func() bool {
		check.OK(d.s.t, chromedp.Do(w.Tab, chromedp.Reload()))
		return browser.Ask[bool](w.Visitor, `document.querySelector("main").innerText.includes("418")`)
	})
}

// rights: a clerk cannot refund, and a manager sees the own stores alone.
func (d *officeDay) rights() {
	t := d.s.t
	id := d.reported("pickup")
	order := "/office/orders/" + id
	clerk := d.s.accept(d.live.base, d.s.users("create", "--email", "clerk@e.example", "--role", "clerk", "--store", "s1"))
	if status, page := clerk.Get(order); status != http.StatusOK || strings.Contains(page, order+"/refund") {
		t.Errorf("a clerk sees %d\n%s", status, page)
	}
	if status, page := clerk.Post(order+"/refund", "amount", "1.00", "reason", "mine"); status != http.StatusForbidden || !strings.Contains(page, "write_refunds") || !strings.Contains(page, "boss") {
		t.Errorf("a clerk refunds: %d\n%s", status, page)
	}
	manager := d.s.accept(d.live.base, d.s.users("create", "--email", "manager@e.example", "--role", "manager", "--store", "s2"))
	for path, want := range map[string]int{order: 404, order + "/cancel": 404, "/office/products/p1": 404, "/office/products/q1": 200, "/office/orders?store=s1": 404, "/office/stores/s1": 404, "/office/people": 403} {
		if status, page := manager.Get(path); status != want {
			t.Errorf("%s by the manager of another store: %d, want %d\n%s", path, status, want, page)
		}
	}
	for _, path := range []string{"/office", "/office/board", "/office/orders", "/office/products", "/office/attention", "/office/stores", "/office/stock"} {
		if status, page := manager.Get(path); status != http.StatusOK || strings.Contains(page, id) || strings.Contains(page, "Product 1") || strings.Contains(page, "First") {
			t.Errorf("%s shows another store: %d\n%s", path, status, page)
		}
	}
}

// TestOfficeUploads: forms of 100 MiB are refused before they are read, and take little memory.
func TestOfficeUploads(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	p, c := s.serve()
	boss := s.accept(c.base, s.users("create", "--email", "boss@e.example"))
	before := p.peakMiB()
	at, err := url.Parse(c.base + "/office")
	check.OK(t, err)
	for path, want := range map[string]string{"/office/products/import": " 413 ", "/office/login": " 4", "/office/me": " 4"} {
		conn, err := net.Dial("tcp", at.Host)
		check.OK(t, err)
		cookies := ""
		for _, cookie := range boss.Jar.Cookies(at) {
			cookies += cookie.Name + "=" + cookie.Value + "; "
		}
		fmt.Fprintf(conn, "POST %s HTTP/1.1\r\nHost: %s\r\nCookie: %s\r\nContent-Type: application/x-www-form-urlencoded\r\nContent-Length: %d\r\n\r\n", path, at.Host, cookies, 100<<20)
		go func() {
			part := []byte(strings.Repeat("a=b&", 16<<10))
			for range 1600 {
				if _, err := conn.Write(part); err != nil {
					return // refused
				}
			}
		}()
		line := make([]byte, 16)
		check.OK(t, conn.SetReadDeadline(time.Now().Add(patience)))
		_, err = io.ReadFull(conn, line)
		if err != nil || !strings.Contains(string(line), want) {
			t.Errorf("100 MiB for %s: %q, %v", path, line, err)
		}
		_ = conn.Close()
	}
	if most := 20 * maxRSS() / (150 << 10); p.peakMiB()-before > most {
		t.Errorf("the uploads took %d MiB more", p.peakMiB()-before)
	}
}
