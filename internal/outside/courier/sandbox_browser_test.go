package courier_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"purveyor/internal/commerce"
	"purveyor/internal/outside/courier"
	"purveyor/internal/testkit/browser"
	"purveyor/internal/testkit/check"

	"github.com/chromedp/chromedp"
)

// follower is a customer with a browser on a tracking page.
type follower struct{ *browser.Visitor }

func newFollower(t *testing.T, chrome context.Context, address string, before ...chromedp.Action[chromedp.Void]) follower {
	t.Helper()
	return follower{browser.Visit(t, chrome, address, before...)}
}

// waits until the script is true on the page, which polls every half second.
func (f follower) waits(script string) {
	f.T.Helper()
	if _, err := chromedp.Run(f.Tab, chromedp.Poll[bool](script)); err != nil {
		f.T.Fatalf("the page never has %s: %v", script, err)
	}
}

// served returns a town whose pages are served.
func served(t *testing.T) *town {
	var x *town
	pages := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { x.sandbox.Handler().ServeHTTP(w, r) }))
	t.Cleanup(pages.Close)
	x = newTown(t, pages.URL)
	x.sandbox.StepEvery = 100 * time.Millisecond
	return x
}

func TestBrowser(t *testing.T) {
	chrome := browser.Start(t)
	for _, c := range []struct {
		name string
		test func(t *testing.T, chrome context.Context, x *town, d courier.Delivery)
	}{
		{"live", live},
		{"without scripts", withoutScripts},
		{"phone", phone},
		{"dark", dark},
		{"unknown", unknown},
	} {
		t.Run(c.name, func(t *testing.T) {
			x := served(t)
			c.test(t, chrome, x, x.create(t, asks("")))
		})
	}
}

const where = `(() => { const b = document.querySelector(".dot").getBoundingClientRect(); return [b.x, b.y] })()`

// live watches a delivery from the start to the door.
func live(t *testing.T, chrome context.Context, x *town, d courier.Delivery) {
	f := newFollower(t, chrome, d.TrackingURL)
	f.waits(`document.querySelector("h1").textContent == "Looking for a courier" && document.querySelector("#who").hidden`)
	f.Readable()
	browser.Screenshot(t, f.Tab, "track-pending")
	x.Move(t, d, commerce.CourierAssigned)
	f.waits(`document.querySelector("h1").textContent.endsWith("is on the way to Harbor Street Market") && document.querySelector("#picture").naturalWidth > 0`)
	atStart := browser.Ask[[]float64](f.Visitor, where)
	x.Move(t, d, commerce.CourierLoaded)
	f.waits(`document.querySelector("h1").textContent.endsWith("has picked up your order")`)
	x.Move(t, d, commerce.CourierEnRoute)
	x.step(t, d.ID)
	x.step(t, d.ID)
	f.waits(`document.querySelector(".progress [aria-current]").textContent == "On the way" && document.getAnimations().length == 0`)
	underWay := browser.Ask[[]float64](f.Visitor, where)
	browser.Screenshot(t, f.Tab, "track-under-way")
	f.Readable()
	x.Move(t, d, commerce.CourierDone)
	f.waits(`document.querySelector("h1").textContent == "Delivered" && document.title.startsWith("Delivered") && document.getAnimations().length == 0`)
	atDoor := browser.Ask[[]float64](f.Visitor, where)
	browser.Screenshot(t, f.Tab, "track-delivered")
	f.Readable()
	if far(atStart, underWay) < 10 || far(underWay, atDoor) < 10 {
		t.Errorf("the courier moves from %v by %v to %v", atStart, underWay, atDoor)
	}
	if done := browser.Ask[int](f.Visitor, `document.querySelectorAll(".progress .done").length`); done != 4 {
		t.Errorf("%d of 4 are done", done)
	}
	check.OK(t, chromedp.Do(f.Tab, chromedp.Reload()))
	if again := browser.Ask[[]float64](f.Visitor, where); far(again, atDoor) > 1 {
		t.Errorf("loaded again the courier is at %v, not at %v", again, atDoor)
	}
	f.unharmed(strings.TrimSuffix(d.TrackingURL, "/sandbox/track/"+d.ID))
}

func far(a, b []float64) float64 { return max(a[0]-b[0], b[0]-a[0], a[1]-b[1], b[1]-a[1]) }

// withoutScripts reloads the page in a browser without scripts.
func withoutScripts(t *testing.T, chrome context.Context, x *town, d courier.Delivery) {
	x.Move(t, d, commerce.CourierEnRoute)
	f := newFollower(t, chrome, d.TrackingURL, browser.NoScripts())
	if heading := browser.Ask[string](f.Visitor, `document.querySelector("h1").textContent`); !strings.HasSuffix(heading, "is on the way to you") {
		t.Errorf("the page says %q", heading)
	}
	if every := browser.Ask[string](f.Visitor, `document.querySelector("noscript meta").content`); every != "5" {
		t.Errorf("it is loaded anew every %q", every)
	}
}

func phone(t *testing.T, chrome context.Context, x *town, d courier.Delivery) {
	x.Move(t, d, commerce.CourierEnRoute)
	f := newFollower(t, chrome, d.TrackingURL, chromedp.EmulateViewport(320, 640, chromedp.EmulateMobile, chromedp.EmulateTouch, chromedp.EmulateScale(2)))
	browser.Screenshot(t, f.Tab, "track-phone")
	f.Fits(320)
	if low := browser.Ask[float64](f.Visitor, `document.querySelector(".map").getBoundingClientRect().bottom`); low > 640 {
		t.Errorf("the map ends %v pixels down", low)
	}
	f.Readable()
}

// dark follows a delivery that goes back, in a dark theme on a phone.
func dark(t *testing.T, chrome context.Context, x *town, _ courier.Delivery) {
	r := asks("sandbox:return")
	r.Ref = commerce.DeliveryRef(order, 2)
	d := x.create(t, r)
	x.Move(t, d, commerce.CourierEnRoute)
	f := newFollower(t, chrome, d.TrackingURL, browser.Dark(), chromedp.EmulateViewport(360, 740, chromedp.EmulateMobile, chromedp.EmulateTouch, chromedp.EmulateScale(2)))
	f.Fits(360)
	f.Readable()
	if hidden := browser.Ask[bool](f.Visitor, `document.querySelector("#next").hidden`); !hidden {
		t.Error("there is advice before it is needed")
	}
	x.Move(t, d, commerce.CourierReturned)
	f.waits(`document.querySelector("h1").textContent == "Your order is back at Harbor Street Market" && document.querySelector("#next a").href == "tel:+14155550101"`)
	browser.Screenshot(t, f.Tab, "track-dark")
	f.Fits(360)
	f.Readable()
	if box := browser.Ask[[]float64](f.Visitor, `(() => { const text = [...document.querySelectorAll(".map text")].at(-1).getBoundingClientRect(), map = document.querySelector(".map").getBoundingClientRect(); return [text.top - map.top, text.left - map.left, map.right - text.right] })()`); min(box[0], box[1], box[2]) < 4 {
		t.Errorf("the label of the door is %v from the edges of the map", box)
	}
	if background := browser.Ask[string](f.Visitor, `getComputedStyle(document.body).backgroundColor`); background != "rgb(17, 20, 24)" {
		t.Errorf("the page is %s", background)
	}
}

// TestLook: axe finds nothing on a phone or on a desk, light or dark.
func TestLook(t *testing.T) {
	chrome, axe := browser.Start(t), browser.NewAxe(t)
	x := served(t)
	r := asks("sandbox:return")
	r.Ref = commerce.DeliveryRef(order, 2)
	d, back := x.create(t, asks("")), x.create(t, r)
	x.Move(t, d, commerce.CourierEnRoute)
	x.Move(t, back, commerce.CourierReturned)
	for theme, scheme := range map[string]chromedp.Action[chromedp.Void]{"light": browser.Light(), "dark": browser.Dark()} {
		for _, width := range []int64{360, 1280} {
			for name, address := range map[string]string{"way": d.TrackingURL, "back": back.TrackingURL, "none": d.TrackingURL + "0"} {
				t.Run(fmt.Sprint(theme, " ", width, " ", name), func(t *testing.T) {
					f := newFollower(t, chrome, address, scheme, chromedp.EmulateViewport(width, 800))
					f.Fits(int(width))
					for _, bad := range axe.All(f.Visitor, theme == "dark") {
						t.Error(bad)
					}
					browser.Screenshot(t, f.Tab, fmt.Sprint("track-", name, "-", theme, "-", width))
				})
			}
		}
	}
}

func unknown(t *testing.T, chrome context.Context, _ *town, d courier.Delivery) {
	f := newFollower(t, chrome, d.TrackingURL+"0")
	browser.Screenshot(t, f.Tab, "track-unknown")
	f.Readable()
}

// unharmed checks that the browser has blocked nothing on the page, and made requests
// to the sandbox only.
func (f follower) unharmed(origin string) {
	f.T.Helper()
	looks := 0
	for _, request := range f.Requests() {
		if !strings.HasPrefix(request, origin+"/") {
			f.T.Errorf("the page asks for %s", request)
		}
		if strings.HasSuffix(request, "/state") {
			looks++
		}
	}
	if looks < 4 {
		f.T.Errorf("the page has looked %d times", looks)
	}
	for _, problem := range f.Problems() {
		if !strings.Contains(problem, "404") { // the page has no favicon
			f.T.Errorf("the browser says: %s", problem)
		}
	}
}
