package backoffice

import (
	"context"
	"encoding/csv"
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"purveyor/internal/commerce"
	"purveyor/internal/requestlog"
	"purveyor/internal/testkit/browser"
	"purveyor/internal/testkit/fixture"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
)

const (
	evil       = `=1+1"'></script><img src=https://evil.example/x onerror=alert(1)><b>`
	evilScript = "javascript:alert(1)"
	evilPlace  = "https://evil.example/picture.png"
)

// openEvil opens a matrix in which every text that partners, customers, couriers and processors
// give is evil.
func openEvil(t *testing.T) *matrix {
	t.Helper()
	m := openMatrix(t, "")
	key, product := m.order.Key(), fixture.ProductKey(0)
	refund := commerce.Refund{StoreID: key.StoreID, ID: "ref_1", OrderID: key.OrderID, AmountCents: 100, Reason: evil, Origin: commerce.RefundAsked, State: commerce.RefundFailed, Error: evil, CreatedOn: 1, UpdatedOn: 1}
	raised := commerce.Attention{StoreID: key.StoreID, OrderID: key.OrderID, Code: commerce.AttentionCourierGaveUp, Since: 2, Detail: evil}
	needs := commerce.Needs{Lock: true, Orders: []commerce.OrderKey{key}, Deliveries: []commerce.OrderKey{key}, Payments: []commerce.OrderKey{key}, Refunds: []commerce.RefundKey{refund.Key()},
		Attention: []commerce.AttentionKey{raised.Key()}, Partners: []string{fixture.PartnerID}, Products: []commerce.ProductKey{product}, Stock: []commerce.ProductKey{product}, Sessions: []string{"a"}}
	fixture.Change(t, m.Engine, needs, func(rows *commerce.Rows, at commerce.Millis) commerce.Changes {
		o := m.order
		o.Fulfillment, o.ExternalID, o.CustomerEmail, o.ExternalPaymentID, o.CourierTrackingURL = commerce.ByDelivery, evil, evil, evil, evilScript
		o.PickupInstructions, o.DropoffInstructions, o.CourierDeliveryID = evil, evil, evil
		o.Metadata = commerce.Metadata{"a": evil}
		o.Address = &commerce.DeliveryAddress{Name: evil, Email: evil, Phone: evil, Address: commerce.Address{Line1: evil, Line2: evil, City: evil, State: evil, PostalCode: evil, Country: evil}}
		o.Events++
		o.UpdatedOn = at
		m.order = o
		delivery := commerce.Delivery{StoreID: key.StoreID, OrderID: key.OrderID, Attempt: 1, State: commerce.DeliveryActive, Provider: "uber", ProviderID: evil, TrackingURL: evilScript, Status: commerce.CourierAssigned,
			Courier: commerce.Courier{Name: evil, Phone: evil, Vehicle: evil, ImageURL: evilPlace, At: &commerce.Point{Lat: 42.66, Lng: -73.75}}, Error: evil, CreatedOn: 1, UpdatedOn: at, SeenOn: 1}
		payment := commerce.Payment{StoreID: key.StoreID, OrderID: key.OrderID, Processor: "sandbox", State: commerce.PaymentPaid, CheckoutURL: evilScript, PaymentID: evil, Error: evil, CapturedCents: 1000, CreatedOn: 1, UpdatedOn: at}
		partner, _ := rows.Partners.Get(fixture.PartnerID)
		partner.Name, partner.CallbackURL = evil, evilPlace+"?"+url.QueryEscape(evil)
		goods, _ := rows.Products.Get(product)
		goods.Description, goods.SKU, goods.FeaturedImage, goods.Images, goods.Source = evil, evil, evilPlace, []string{evilPlace, evilScript}, commerce.SourcePartner
		stock, _ := rows.Stock.Get(product)
		stock.Name = evil
		return commerce.Changes{Orders: []commerce.Order{o}, Deliveries: []commerce.Delivery{delivery}, Payments: []commerce.Payment{payment}, Refunds: []commerce.Refund{refund}, Attention: []commerce.Attention{raised},
			Partners: []commerce.Partner{partner}, Products: []commerce.Product{goods}, Stock: []commerce.Stock{stock},
			Timeline: []commerce.TimelineEvent{{StoreID: key.StoreID, OrderID: key.OrderID, Seq: o.Events, Kind: commerce.TimelineNote, Message: evil, CreatedOn: at, Actor: "partner:" + fixture.PartnerID + "/key_1_live"}},
			Attempts: []commerce.WebhookAttempt{{PartnerID: fixture.PartnerID, EventID: m.values["events/{eid}"], URL: evilPlace, At: at, Status: 500, Error: evil, Answer: evil}},
			Outbox:   []commerce.UnsentMessage{{ID: "out_2", Kind: commerce.UnsentMail, To: evil, Subject: evil, Text: evil, HTML: evil, Reason: commerce.UnsentTestMode, OrderID: key.OrderID, CreatedOn: 2}},
			Sessions: []commerce.Session{{ID: "a", UserID: m.person.ID, Agent: evil, Address: evil, CreatedOn: at, SeenOn: at, ExpiresOn: at + 1_000_000_000}}}
	})
	m.values["outbox/{id}"] = "out_2"
	m.values["requests/{rid}"] = m.logged(requestlog.Call{Method: evil, Target: "/v1/" + evil, Operation: evil, Status: 400, Code: evil, StoreID: evil, OrderID: m.order.ID, Address: evil, TraceID: evil,
		RequestHeaders: http.Header{"User-Agent": {evil}, "Accept": {evil}, "Content-Type": {"application/json"}}, ResponseHeaders: http.Header{"Content-Type": {"application/json"}},
		RequestBody: requestlog.Body{Text: []byte(`{"sku":` + strconv.Quote(evil) + `}`)}, ResponseBody: requestlog.Body{Text: []byte(`{"error":` + strconv.Quote(evil) + `}`)}})
	return m
}

// pages are the paths of all pages, and of some of them with a query.
func (m *matrix) pages() (list []string) {
	for _, r := range table() {
		if r.method == get {
			list = append(list, m.at(r))
		}
	}
	return append(list, Prefix+"/orders?q="+url.QueryEscape(evil), Prefix+"/orders?status=open&min="+url.QueryEscape(evil), Prefix+"/attention?code="+url.QueryEscape(evil),
		Prefix+"/login?next="+url.QueryEscape(evilScript), Prefix+"/orders/"+url.PathEscape(evil), Prefix+"/board?partner="+url.QueryEscape(evil)+"&column="+url.QueryEscape(evil))
}

// dangerous matches what a text must not become: an element, a picture from elsewhere, a script
// behind a link.
var dangerous = regexp.MustCompile(`(?i)<img src=https://evil|</script><img|(?:src|srcset|poster|data|action|xlink:href)\s*=\s*["']https?://evil|url\(["']?https?://evil|(?:href|src|action)\s*=\s*["']\s*javascript:`)

// TestTextsStayTexts: what partners, customers and couriers write stays a text on every page, in
// every file and in every part of the board.
func TestTextsStayTexts(t *testing.T) {
	t.Parallel()
	m := openEvil(t)
	met := map[string]bool{}
	for _, path := range m.pages() {
		_, body := m.try("boss", route{method: get, path: path})
		file := strings.HasSuffix(path, ".csv") || strings.HasSuffix(path, "/export")
		if bad := dangerous.FindString(body); bad != "" && !file {
			t.Errorf("%s has %q", path, bad)
		}
		met[path] = strings.Contains(body, "&lt;img src=https://evil") || strings.Contains(body, "<img src=https://evil")
		if file {
			rows, err := csv.NewReader(strings.NewReader(strings.TrimPrefix(body, "\ufeff"))).ReadAll()
			if err != nil {
				t.Errorf("%s: %v\n%s", path, err, body)
			}
			for _, cell := range slices.Concat(rows...) {
				if cell != "" && strings.ContainsRune("=+-@\t\r", rune(cell[0])) && !regexp.MustCompile(`^-?[\d.]+$`).MatchString(cell) {
					t.Errorf("%s has a formula: %s", path, cell)
				}
			}
		}
	}
	order := Prefix + "/orders/" + m.order.ID
	for _, path := range []string{order, order + "/slip", order + "/cancel", Prefix + "/board", Prefix + "/orders", Prefix + "/attention", productsPath, productPath("prd_0"), productPath("prd_0") + "/edit", Prefix + "/outbox", Prefix + "/outbox/out_2", Prefix + "/people/" + m.person.ID, partnerAt + "/requests", partnerAt + "/requests/" + m.values["requests/{rid}"]} {
		if !met[path] {
			t.Errorf("%s does not show the texts, so this test says nothing of it", path)
		}
	}
}

// read opens a page as a user.
func (m *matrix) read(user, path string) (*httptest.ResponseRecorder, context.CancelFunc) {
	ctx, cancel := context.WithCancel(m.t.Context())
	w := httptest.NewRecorder()
	req := httptest.NewRequestWithContext(ctx, get, "http://shop.example"+path, nil)
	req.Header.Set(userHeader, user)
	m.handler.ServeHTTP(&firstPart{w, cancel}, req)
	return w, cancel
}

// TestForgedForms: no act is done for a form that another site has sent.
func TestForgedForms(t *testing.T) {
	t.Parallel()
	m := openMatrix(t, "")
	before := m.engine.saved.Load()
	for _, r := range table() {
		if r.method != post {
			continue
		}
		for name, value := range map[string]string{"Sec-Fetch-Site": "cross-site", "Origin": "https://evil.example"} {
			form := url.Values{}
			for i := 0; i+1 < len(m.form(r)); i += 2 {
				form.Add(m.form(r)[i], m.form(r)[i+1])
			}
			req := httptest.NewRequest(post, "http://shop.example"+m.at(r), strings.NewReader(form.Encode()))
			req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
			req.Header.Set(name, value)
			if status, page := m.do("boss", req); status != http.StatusForbidden || !strings.Contains(page, "was not sent from a page of the back office") {
				t.Errorf("POST %s from elsewhere (%s): %d\n%s", r.path, name, status, page)
			}
		}
	}
	if m.engine.saved.Load() != before {
		t.Error("something was changed")
	}
}

// TestForeignLines: a file of products that names another store in a line changes nothing there.
func TestForeignLines(t *testing.T) {
	t.Parallel()
	m := openMatrix(t, "")
	before := m.Stock(0)
	_, page := m.upload(theirs, productsPath+"/import", "id,store_id,name,price\n"+fixture.ProductID(0)+","+foreign+",Stolen,0.01\n", "store", "sto_other")
	if strings.Contains(page, "Import all of it") {
		t.Errorf("the import is offered:\n%s", page)
	}
	if strings.Contains(page, ">Rye<") {
		t.Errorf("the product of another store is shown:\n%s", page)
	}
	if m.Stock(0) != before {
		t.Error("the product was changed")
	}
}

// scheme makes the browser prefer a scheme of colours.
func scheme(name string) chromedp.Action[chromedp.Void] {
	return chromedp.Func(func(ctx context.Context, _ *chromedp.Target) error {
		_, err := chromedp.Call(ctx, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: name}}})
		return err
	})
}

// TestAccessible opens every page, with evil texts everywhere, on a phone and on a desk, light and
// dark: axe finds nothing serious, nothing scrolls sideways, no text runs as a script, and
// nothing is loaded from elsewhere.
func TestAccessible(t *testing.T) {
	t.Parallel()
	m := openEvil(t)
	server := m.serving("boss")
	v := browser.Visit(t, browser.Start(t), server.URL+"/office")
	axe := browser.NewAxe(t)
	for _, path := range append(m.pages(), "/office/nothing") {
		w, end := m.read("boss", path)
		end()
		if !strings.HasPrefix(w.Header().Get("Content-Type"), "text/html") || strings.Contains(path, "/stream") {
			continue
		}
		if err := chromedp.Do(v.Tab, size(1280), scheme("light"), chromedp.Navigate(server.URL+path)); err != nil {
			t.Fatal(path, err)
		}
		browser.Ask[bool](v, `document.querySelectorAll("main details").forEach(d => d.open = true), true`)
		for _, width := range []int{1280, 360} {
			for _, colours := range []string{"light", "dark"} {
				if err := chromedp.Do(v.Tab, size(width), scheme(colours)); err != nil {
					t.Fatal(path, err)
				}
				for _, bad := range axe.Serious(v, colours == "dark") {
					t.Errorf("%s, %d pixels, %s: %s", path, width, colours, bad)
				}
			}
			if wide := browser.Ask[int](v, "document.documentElement.scrollWidth"); wide > width {
				t.Errorf("%s is %d pixels wide, the screen %d, because of %s", path, wide, width, browser.Ask[string](v, `[...document.querySelectorAll("main *")].filter(e => e.getBoundingClientRect().right > 361).map(e => e.outerHTML.slice(0, 300)).slice(0, 3).join("\n")`))
			}
		}
	}
	browser.Ask[bool](v, `document.querySelector("main").innerHTML = "<img src='data:,'><button></button>", true`)
	if found := axe.Serious(v, false); len(found) < 2 {
		t.Errorf("axe finds only %q where a picture and a button have no words", found)
	}
	for _, request := range v.Requests() {
		if !strings.HasPrefix(request, server.URL) && !strings.HasPrefix(request, "data:") {
			t.Errorf("a page loads %s", request)
		}
	}
}
