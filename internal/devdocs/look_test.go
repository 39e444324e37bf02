package devdocs

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"purveyor/internal/testkit/browser"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// looked are pages of each sort.
var looked = []string{"/docs", "/docs/start", "/docs/webhooks", "/docs/test-mode", "/docs/portal", "/docs/api", "/docs/api/errors", "/docs/api/orders", "/docs/api/reportOrder", "/docs/api/upsertProduct",
	"/docs/api/listEvents", "/docs/api/streamOrderTracking", "/docs/api/getOrderTimeline", "/docs/events", "/docs/events/order.refunded", "/docs/find?q=stock", "/docs/nothing"}

// TestLook looks at pages on a phone and on a desk, light and dark: nothing scrolls sideways,
// everything can be read, and the policy of the pages forbids nothing that they do.
func TestLook(t *testing.T) {
	chromium := browser.Start(t)
	axe := browser.NewAxe(t)
	server := httptest.NewServer(handler(options(address)))
	t.Cleanup(server.Close)
	for _, theme := range []string{"light", "dark"} {
		scheme := map[string]chromedp.Action[chromedp.Void]{"light": browser.Light(), "dark": browser.Dark()}[theme]
		for _, width := range []int{360, 1280} {
			v := browser.Visit(t, chromium, server.URL+"/docs", size(width), scheme)
			pages := looked
			if theme == "dark" && width == 360 { // the colours are those of the wide pages
				pages = looked[:8]
			}
			for _, path := range pages {
				t.Run(fmt.Sprint(theme, " ", width, " ", path), func(t *testing.T) {
					v.T = t
					if err := chromedp.Do(v.Tab, chromedp.Navigate(server.URL+path)); err != nil {
						t.Fatal(err)
					}
					v.Fits(width)
					for _, bad := range axe.Serious(v, theme == "dark") {
						t.Error(bad)
					}
					browser.Screenshot(t, v.Tab, fmt.Sprintf("docs-%s-%s-%d", strings.NewReplacer("/", "-", "?", "-", "=", "-").Replace(strings.TrimPrefix(path, "/")), theme, width))
				})
			}
			for _, problem := range v.Problems() {
				if !strings.Contains(problem, "404") {
					t.Error(problem)
				}
			}
		}
	}
}

// size makes the window as wide as a screen.
func size(width int) chromedp.Action[chromedp.Void] {
	return chromedp.Func(func(ctx context.Context, _ *chromedp.Target) error {
		_, err := chromedp.Call(ctx, emulation.SetDeviceMetricsOverride, emulation.SetDeviceMetricsOverrideParams{Width: int64(width), Height: 800, DeviceScaleFactor: 1, Mobile: width < 600})
		return err
	})
}

// TestWithoutScript: the menu, the search and the choice of languages work without script, and
// what needs one is not shown.
func TestWithoutScript(t *testing.T) {
	chromium := browser.Start(t)
	server := httptest.NewServer(handler(options(address)))
	t.Cleanup(server.Close)
	v := browser.Visit(t, chromium, server.URL+"/docs/api/reportOrder", size(360), browser.NoScripts())
	run := func(actions ...chromedp.Action[chromedp.Void]) {
		t.Helper()
		if err := chromedp.Do(v.Tab, actions...); err != nil {
			t.Fatal(err)
		}
	}
	seen := func(selector string) bool {
		return browser.Ask[bool](v, `document.querySelector('`+selector+`').checkVisibility()`)
	}
	if seen(".try") || !seen(".samples [data-lang=sh]") || seen(".samples [data-lang=go]") || seen("#menu") {
		t.Error("what is shown at first")
	}
	run(chromedp.Click(`.tablist label:has([value=go])`))
	if seen(".samples [data-lang=sh]") || !seen(".samples [data-lang=go]") {
		t.Error("the language is not chosen")
	}
	run(chromedp.Click(`.menu-button`))
	if !seen("#menu") {
		t.Fatal("the menu does not open")
	}
	browser.Screenshot(t, v.Tab, "docs-menu")
	run(chromedp.SendKeys("#q", "insufficient_stock\r"), chromedp.WaitVisible(".found"))
	if path := browser.Ask[string](v, "location.pathname"); path != "/docs/find" {
		t.Error(path)
	}
	run(chromedp.Click(".found a"), chromedp.WaitVisible("#insufficient_stock"))
}

// TestScript: code is copied, the language is remembered, and a call is sent with the test key
// that is typed. A live key is not taken.
func TestScript(t *testing.T) {
	chromium := browser.Start(t)
	var got []*http.Request
	var bodies []string
	docs := handler(options(address))
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !strings.HasPrefix(r.URL.Path, "/v1/") {
			docs.ServeHTTP(w, r)
			return
		}
		body, _ := io.ReadAll(r.Body)
		got, bodies = append(got, r), append(bodies, string(body))
		w.Header().Set("X-Trace-Id", "trace-1")
		w.WriteHeader(http.StatusConflict)
		_, _ = io.WriteString(w, `{"ok":false,"error":"<b>no</b>"}`)
	}))
	t.Cleanup(server.Close)
	v := browser.Visit(t, chromium, server.URL+"/docs/api/refundOrder", size(1280))
	run := func(actions ...chromedp.Action[chromedp.Void]) {
		t.Helper()
		if err := chromedp.Do(v.Tab, actions...); err != nil {
			t.Fatal(err)
		}
	}
	run(chromedp.Click(".tablist label:has([value=ts])"), chromedp.Navigate(server.URL+"/docs/webhooks"))
	if chosen := browser.Ask[string](v, "document.querySelector('.tablist input:checked').value"); chosen != "ts" {
		t.Errorf("the language is %s", chosen)
	}
	run(chromedp.Navigate(server.URL+"/docs/api/refundOrder"), chromedp.Click(".try summary"),
		chromedp.SendKeys("#try-key", "sk_live_x"), chromedp.Click(".try .main"))
	if valid := browser.Ask[bool](v, "document.querySelector('#try-key').validity.valid"); valid || len(got) > 0 {
		t.Error("a live key is taken")
	}
	browser.Ask[string](v, `document.querySelector("#try-key").value = ""; document.querySelector("#try-order_id").value = "a/b"`)
	run(chromedp.SendKeys("#try-key", "sk_test_x"),
		chromedp.Click(".try .main"), chromedp.WaitVisible(".result pre"))
	if len(got) != 1 || got[0].Method != http.MethodPost || got[0].URL.EscapedPath() != "/v1/orders/a%2Fb/refund" || got[0].Header.Get("X-Api-Key") != "sk_test_x" ||
		got[0].Header.Get("Idempotency-Key") == "" || !strings.Contains(bodies[0], "amount_cents") {
		t.Errorf("%+v, %v", got, bodies)
	}
	if text := browser.Ask[string](v, "document.querySelector('.result').innerText"); !strings.Contains(text, "409 Conflict") || !strings.Contains(text, "trace-1") || !strings.Contains(text, "<b>no</b>") {
		t.Error(text)
	}
	browser.Screenshot(t, v.Tab, "docs-try")
	if kept := browser.Ask[string](v, "JSON.stringify([{...localStorage}, {...sessionStorage}, document.cookie])"); kept != `[{"purveyor-docs-language":"ts"},{},""]` {
		t.Errorf("the page keeps %s", kept)
	}
	run(chromedp.Navigate(server.URL + "/docs/api/refundOrder"))
	if key := browser.Ask[string](v, "document.querySelector('#try-key').value"); key != "" {
		t.Errorf("the page has kept the key %s", key)
	}
	if !browser.Ask[bool](v, "document.querySelectorAll('.code .copy').length == document.querySelectorAll('.code').length") {
		t.Error("not each block of code can be copied")
	}
}

// TestKeyboard: the skip link comes first, and the languages are chosen by arrow keys.
func TestKeyboard(t *testing.T) {
	chromium := browser.Start(t)
	server := httptest.NewServer(handler(options(address)))
	t.Cleanup(server.Close)
	v := browser.Visit(t, chromium, server.URL+"/docs/api/getOrder", size(1280))
	press := func(key string) {
		t.Helper()
		if err := chromedp.Do(v.Tab, chromedp.KeyEvent(key)); err != nil {
			t.Fatal(err)
		}
	}
	press("\t")
	press("\r")
	if at := browser.Ask[string](v, "location.hash + document.activeElement.id"); at != "#contentcontent" {
		t.Error(at)
	}
	for range 12 {
		press("\t")
		if browser.Ask[bool](v, "document.activeElement.matches('.tablist input')") {
			break
		}
	}
	press(kb.ArrowRight)
	if chosen := browser.Ask[string](v, "document.activeElement.value + document.querySelector('.samples [data-lang=go]').checkVisibility()"); chosen != "gotrue" {
		t.Error(chosen)
	}
}

// TestPrint: on paper there is no menu, and each language and each field is shown.
func TestPrint(t *testing.T) {
	chromium := browser.Start(t)
	server := httptest.NewServer(handler(options(address)))
	t.Cleanup(server.Close)
	v := browser.Visit(t, chromium, server.URL+"/docs/api/reportOrder", size(1280), chromedp.Func(func(ctx context.Context, _ *chromedp.Target) error {
		_, err := chromedp.Call(ctx, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Media: "print"})
		return err
	}))
	for selector, want := range map[string]bool{"#menu": false, ".bar": false, ".tablist": false, ".try": false, ".samples [data-lang=sh]": true, ".samples [data-lang=go]": true} {
		if got := browser.Ask[bool](v, `document.querySelector('`+selector+`').checkVisibility()`); got != want {
			t.Errorf("%s is shown: %v", selector, got)
		}
	}
	if height := browser.Ask[float64](v, `document.getElementById("body.items.product_id").getBoundingClientRect().height`); height < 10 {
		t.Error("fields of objects are folded")
	}
	browser.Screenshot(t, v.Tab, "docs-print")
}
