package backoffice

import (
	"testing"

	"purveyor/internal/commerce"
	"purveyor/internal/testkit/browser"
	kit "purveyor/internal/testkit/office"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// TestKeyboardAlone walks without a mouse: a person signs in, goes to the board, opens an order,
// confirms it, and goes back to the board, where it stands in the next column.
func TestKeyboardAlone(t *testing.T) {
	t.Parallel()
	d := openDoor(t)
	d.user(t, "ann@e.example", all)
	o := &office{t: t, Shop: d.Shop}
	order := o.stand(commerce.Paid, commerce.ByPickup)
	v := browser.Visit(t, browser.Start(t), d.server.URL+"/office/board", size(1280))
	press := func(keys ...string) {
		t.Helper()
		for _, key := range keys {
			if err := chromedp.Do(v.Tab, chromedp.KeyEvent(key)); err != nil {
				t.Fatal(err)
			}
		}
	}
	enter := func() { // leads to another page
		t.Helper()
		if _, err := chromedp.RunResponse(v.Tab, chromedp.KeyEvent(kb.Enter)); err != nil {
			t.Fatal(err)
		}
	}
	// tab presses Tab until the focus is on what is looked for; what has it must show so.
	tab := func(selector string) {
		t.Helper()
		for range 60 {
			press(kb.Tab)
			if ring := browser.Ask[string](v, `(e => e.matches("body") ? "" : getComputedStyle(e).outlineStyle)(document.activeElement)`); ring == "none" {
				t.Errorf("the focus does not show on %s", browser.Ask[string](v, "document.activeElement.outerHTML"))
			}
			if browser.Ask[bool](v, `document.activeElement.matches('`+selector+`')`) {
				return
			}
		}
		t.Fatalf("Tab does not lead to %s", selector)
	}
	press("ann@e.example")
	tab("#password")
	press(kit.Password)
	enter()
	card := "#o-" + order.ID
	eventually(v, `!!document.querySelector("`+card+`")`)
	tab(".skip")
	press(kb.Enter) // over the menu
	tab(card + " a.number")
	enter()
	eventually(v, `location.pathname.endsWith("`+order.ID+`") && !!document.querySelector("main form[action$='/confirm'] button")`)
	tab(`main form[action$="/confirm"] button`)
	enter()
	eventually(v, `document.querySelector("#said")?.textContent.includes("is confirmed")`)
	press("g")
	if _, err := chromedp.RunResponse(v.Tab, chromedp.KeyEvent("b")); err != nil {
		t.Fatal(err)
	}
	eventually(v, `!!document.querySelector("#col-make > `+card+`")`)
	if got := o.Order(order.Key()); got.Status != commerce.Processed {
		t.Errorf("%s", got.Status)
	}
}
