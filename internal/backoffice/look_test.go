package backoffice

import (
	"context"
	"fmt"
	"html/template"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"purveyor/internal/commerce"
	"purveyor/internal/env"
	"purveyor/internal/maps"
	"purveyor/internal/site"
	"purveyor/internal/site/chart"
	"purveyor/internal/testkit/browser"
	"purveyor/internal/web"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
)

// gallery has every part that pages are made of.
const gallery = `{{define "content"}}
<p class="notice">Store saved. <button>Undo</button></p>
<p class="notice danger" role="alert">The order has moved on since this page was made. Nothing was changed.</p>
<div class="tiles"><a class="tile" href="/office/orders"><b>12</b> new orders</a><a class="tile" href="/office/orders"><b>$1,284.50</b> paid today</a>
<a class="tile bad" href="/office/attention"><b>2</b> need attention</a><div class="tile"><b>7 min</b> paid to confirmed</div></div>
<form class="filters" method="get"><input type="search" name="q" aria-label="Search orders" placeholder="Order id, e-mail or phone">
<label>Status <select name="status"><option>Any status</option><option>Paid</option></select></label>
<label>From <input type="date" name="from"></label> <button>Filter</button></form>
<div class="columns"><div>
<section class="panel"><h2>Orders</h2><table class="list"><thead><tr><th>Order</th><th>Status</th><th>Partner</th><th class="num">Total</th><th>Age</th></tr></thead><tbody>
{{range .Content.Statuses}}<tr><td data-word="Order"><a href="/office/orders/x">4F7K</a> <span class="chip test">test</span></td><td data-word="Status">{{status .}}</td><td data-word="Partner">Corner Groceries Marketplace</td><td class="num" data-word="Total">$1,234.50</td><td data-word="Age"><span class="age amber">{{icon "clock"}} 18 min</span></td></tr>
{{end}}</tbody></table><nav class="more" aria-label="More orders"><a href="?after=1">Older</a></nav></section>
<section class="panel"><h2>No stores</h2><p class="empty">No stores yet. A store has its own catalog, stock and opening. <a href="/office/stores/new">Make the first one</a></p></section>
<section class="panel"><h2>Edit</h2><form method="post" class="fields"><p class="field"><label for="a">Name</label><input id="a" name="a" value="Purveyor Downtown"><small class="hint">As customers see it.</small></p>
<p class="field bad"><label for="b">Radius in miles</label><input id="b" name="b" value="minus five"><small class="error">Give a number from 0.1 to 100.</small></p>
<div class="pair"><p class="field"><label for="c">City</label><input id="c" name="c" value="Austin"></p><p class="field"><label for="d">State</label><select id="d" name="d"><option>Texas</option></select></p></div>
<p class="field"><label for="e">Note</label><textarea id="e" name="e">Ring twice.</textarea></p>
<p class="field"><label><input type="checkbox" name="f" checked>Customers may collect orders here</label></p>
<p class="field"><label for="g">Id</label><input id="g" value="downtown" readonly><small>An id never changes.</small></p>
<p class="acts"><button class="main">Save</button> <a class="button" href="/office">Cancel</a> <button class="danger">Switch off</button> <button class="danger filled">Refund $4.50</button> <button disabled>Refund</button> <small>Nothing was paid by card here.</small></p></form></section>
</div><div>
<section class="panel"><h2>Customer</h2><dl class="facts"><dt>Name</dt><dd>Ada Lovelace</dd><dt>E-mail</dt><dd>ada.lovelace.with.a.long.address@example.com</dd><dt>Payment</dt><dd><code>pi_3NqkZ2eZvKYlo2C1abcd</code></dd></dl></section>
<section class="panel"><h2>Chips</h2><p>{{chip "" "timeline"}} {{chip "good" "200"}} {{chip "bad" "failed"}} {{chip "test" "test"}} <kbd>g</kbd> <kbd>b</kbd> <span class="age red">{{icon "clock"}} 34 min</span></p>
<details class="figures" open><summary>Figures</summary><table><thead><tr><th>Day</th><th class="num">Orders</th></tr></thead><tbody><tr><td>Monday</td><td class="num">12</td></tr><tr><td>Tuesday</td><td class="num">9</td></tr></tbody></table></details></section>
<section class="panel"><h2>Where it goes</h2>{{.Content.Map}}</section>
</div></div>
<section class="panel"><h2>Orders by day</h2>{{.Content.Bars}}</section>
<section class="panel"><h2>Stock</h2>{{.Content.Lines}}</section>{{end}}`

type nothing struct{ Reads }

func (nothing) Users(context.Context) ([]commerce.User, error) { return nil, nil }

// showing serves one page of the given template to a user.
func showing(t *testing.T, user commerce.User, page string, content any) *httptest.Server {
	t.Helper()
	office, err := New(nothing{}, nil, Options{Env: env.Env{}, PublicURL: "http://localhost", Identify: func(*http.Request) (commerce.User, error) { return user, nil }})
	if err != nil {
		t.Fatal(err)
	}
	layout, err := pageFiles.ReadFile("pages/layout.html")
	if err != nil {
		t.Fatal(err)
	}
	before := pages
	pages = site.NewPages(fstest.MapFS{"pages/layout.html": {Data: layout}, "pages/test.html": {Data: []byte(page)}}, words)
	t.Cleanup(func() { pages = before })
	office.routes = append(slices.Clone(looks), route{method: get, path: Prefix + "/orders", word: "Orders", icon: "receipt", handle: func(v *visit) error { return v.page("test", "Orders of today", content) }},
		route{method: get, path: Prefix + "/board", word: "Board", icon: "square-kanban"}, route{method: get, path: Prefix + "/attention", word: "Attention", icon: "triangle-alert"},
		route{method: get, path: Prefix + "/stores", word: "Stores", icon: "store"}, route{method: get, path: Prefix + "/reports", word: "Reports", icon: "chart-column"})
	office.handler = office.mux()
	server := httptest.NewServer(web.Trace(env.Env{}, slog.New(slog.DiscardHandler), office))
	t.Cleanup(server.Close)
	return server
}

// TestParts looks at every part of pages on a phone and on a desk, light and dark: nothing
// scrolls sideways, everything can be read, and the policy of the pages forbids nothing that
// they do.
func TestParts(t *testing.T) {
	chromium := browser.Start(t)
	for _, theme := range []string{"light", "dark"} {
		user := commerce.User{ID: "u", Name: "Ada Lovelace", Grants: []commerce.Grant{{Role: commerce.Owner, StoreID: commerce.AllStores}}, Preferences: commerce.Preferences{Theme: theme}}
		server := showing(t, user, gallery, drawn())
		for _, width := range []int{360, 1280} {
			t.Run(fmt.Sprint(theme, width), func(t *testing.T) {
				v := browser.Visit(t, chromium, server.URL+"/office/orders", size(width))
				v.Fits(width)
				v.Readable()
				for _, problem := range v.Problems() {
					t.Error(problem)
				}
				browser.Screenshot(t, v.Tab, fmt.Sprintf("parts-%s-%d", theme, width))
			})
		}
	}
}

// drawings are the content of the gallery.
type drawings struct {
	Statuses         []commerce.OrderStatus
	Map, Bars, Lines template.HTML
}

func drawn() drawings {
	days := []string{"1 Nov", "2 Nov", "3 Nov", "4 Nov", "5 Nov", "6 Nov", "7 Nov", "8 Nov", "9 Nov", "10 Nov", "11 Nov", "12 Nov", "13 Nov", "14 Nov"}
	paid := chart.Series{Name: "Paid", Values: []float64{31, 40, 28, 19, 44, 61, 72, 30, 33, 35, 48, 52, 80, 91}}
	refunded := chart.Series{Name: "Refunded", Values: []float64{1, 0, 3, 0, 0, 4, 2, 0, 1, 0, 0, 7, 1, 2}}
	miles := 5.0
	return drawings{Statuses: commerce.Statuses,
		Map: maps.Map{Title: "Where the order goes", Store: &commerce.Point{Lat: 30.2672, Lng: -97.7431}, RadiusMiles: &miles,
			Door: &commerce.Place{Point: commerce.Point{Lat: 30.31, Lng: -97.70}, RadiusMiles: 0.4}, Courier: &commerce.Point{Lat: 30.285, Lng: -97.725}}.SVG(),
		Bars:  chart.Chart{Title: "Orders by day", Along: "Day", Labels: days, Series: []chart.Series{paid, refunded}}.Bars(),
		Lines: chart.Chart{Title: "Stock by day", Along: "Day", Labels: days, Series: []chart.Series{paid, refunded}}.Lines()}
}

// size makes the window as wide as a screen.
func size(width int) chromedp.Action[chromedp.Void] {
	return chromedp.Func(func(ctx context.Context, _ *chromedp.Target) error {
		_, err := chromedp.Call(ctx, emulation.SetDeviceMetricsOverride, emulation.SetDeviceMetricsOverrideParams{Width: int64(width), Height: 800, DeviceScaleFactor: 1, Mobile: width < 600})
		return err
	})
}

// TestPagesAreTemplates makes the template of each page, which is else made at its first visit.
func TestPagesAreTemplates(t *testing.T) {
	files, err := pageFiles.ReadDir("pages")
	if err != nil || len(files) < 5 {
		t.Fatal(files, err)
	}
	for _, f := range files {
		name := strings.TrimSuffix(f.Name(), ".html")
		if shared := name == "layout" || name == "parts"; !shared && pages.Page(name).Lookup("content") == nil {
			t.Errorf("%s defines no content", f.Name())
		}
	}
}
