package tracking

import (
	"context"
	"fmt"
	"net/http/httptest"
	"strings"
	"testing"

	"purveyor/internal/commerce"
	"purveyor/internal/service"
	"purveyor/internal/testkit/browser"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
)

// size makes the window as wide as a screen.
func size(width int) chromedp.Action[chromedp.Void] {
	return chromedp.Func(func(ctx context.Context, _ *chromedp.Target) error {
		_, err := chromedp.Call(ctx, emulation.SetDeviceMetricsOverride, emulation.SetDeviceMetricsOverrideParams{Width: int64(width), Height: 800, DeviceScaleFactor: 1, Mobile: width < 600})
		return err
	})
}

// TestLook looks at pages on a phone and on a desk, light and dark: nothing scrolls sideways,
// everything can be read, and the policy of the pages forbids nothing that they do.
func TestLook(t *testing.T) {
	chromium := browser.Start(t)
	axe := browser.NewAxe(t)
	long := followed(commerce.ReadyForPickup, commerce.ByPickup, "")
	long.Order.Mode = commerce.Test
	long.Store.Name = "The Extraordinarily-Long-Named-Delicatessen-And-Provisions-Company of Albany"
	looked := map[string]service.Followed{
		"way":     followed(commerce.OutForDelivery, commerce.ByDelivery, commerce.CourierEnRoute),
		"back":    followed(commerce.OutForDelivery, commerce.ByDelivery, commerce.CourierReturning),
		"ready":   long,
		"gone":    {Gone: true},
		"stopped": followed(commerce.Cancelled, commerce.ByDelivery, ""),
	}
	for _, theme := range []string{"light", "dark"} {
		scheme := map[string]chromedp.Action[chromedp.Void]{"light": browser.Light(), "dark": browser.Dark()}[theme]
		for _, width := range []int{360, 1280} {
			for name, f := range looked {
				t.Run(fmt.Sprint(theme, " ", width, " ", name), func(t *testing.T) {
					server := httptest.NewServer((&desk{f: f}).serve())
					t.Cleanup(server.Close)
					v := browser.Visit(t, chromium, server.URL+addresses.PageOf(looked["way"].Order.ID), size(width), scheme)
					v.Fits(width)
					v.Readable()
					for _, bad := range axe.All(v, theme == "dark") {
						t.Error(bad)
					}
					for _, problem := range v.Problems() {
						if !f.Gone || !strings.Contains(problem, "410") {
							t.Error(problem)
						}
					}
					browser.Screenshot(t, v.Tab, fmt.Sprintf("tracking-%s-%s-%d", name, theme, width))
				})
			}
		}
	}
}

// TestFollow: the page follows its order without a reload, tells of what is new, and stops with
// the order. A store's hostile name runs nothing, also when the script puts it into the page.
func TestFollow(t *testing.T) {
	chromium := browser.Start(t)
	d := &desk{f: followed(commerce.Shipped, commerce.ByDelivery, commerce.CourierAssigned)}
	server := httptest.NewServer(d.serve())
	t.Cleanup(server.Close)
	v := browser.Visit(t, chromium, server.URL+addresses.PageOf(d.f.Order.ID), size(360))
	// A page that is shown again asks at once.
	shownAgain := func() { browser.Ask[bool](v, `document.dispatchEvent(new Event("visibilitychange"))`) }
	waits := func(script string) {
		t.Helper()
		if _, err := chromedp.Run(v.Tab, chromedp.Poll[bool](script)); err != nil {
			t.Fatalf("the page never has %s: %v", script, err)
		}
	}
	browser.Ask[bool](v, `window.here = true`)
	f := followed(commerce.OutForDelivery, commerce.ByDelivery, commerce.CourierLoaded)
	f.Store.Name = `<img src=x onerror="window.attacked = true">`
	d.f = f
	shownAgain()
	waits(`document.querySelector("h1").textContent == "Ana has picked up your order" && document.getElementById("news").textContent == "Ana has picked up your order"`)
	d.f = followed(commerce.Delivered, commerce.ByDelivery, commerce.CourierDone)
	shownAgain()
	waits(`document.querySelector("h1").textContent == "Delivered" && document.title.startsWith("Delivered") && "over" in document.getElementById("state").dataset`)
	before := len(v.Requests())
	shownAgain()
	if browser.Ask[bool](v, "!!window.attacked || !window.here") {
		t.Error("the page was attacked or loaded again")
	}
	if after := len(v.Requests()); after != before {
		t.Errorf("a page that is over asks %s", v.Requests()[before:])
	}
	for _, problem := range v.Problems() {
		t.Error(problem)
	}
}
