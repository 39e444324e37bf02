package backoffice

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"purveyor/internal/commerce"
	"purveyor/internal/testkit/browser"
	"purveyor/internal/testkit/fixture"

	"github.com/chromedp/chromedp"
)

// fitting opens pages, with all that is folded away, on a phone and on a desk: nothing scrolls
// sideways, everything can be read, and nothing breaks their policy. kind tells their screenshots
// from others of the same pages.
func fitting(t *testing.T, url, kind string, pages map[string]string) {
	t.Helper()
	chromium := browser.Start(t)
	for _, width := range []int{360, 1280} {
		v := browser.Visit(t, chromium, url+"/office/store", size(width))
		for name, path := range pages {
			if err := chromedp.Do(v.Tab, chromedp.Navigate(url+path)); err != nil {
				t.Fatal(err)
			}
			browser.Ask[bool](v, `document.querySelectorAll("main details").forEach(d => d.open = true), true`)
			t.Log(name, kind, width) // the problems below are of this page
			v.Fits(width)
			v.Readable()
			browser.Screenshot(t, v.Tab, fmt.Sprintf("%s-%s-%d", name, kind, width))
		}
		for _, problem := range v.Problems() {
			t.Error(problem)
		}
	}
}

// TestEveryPage opens each page as an owner, light on a desk and dark on a phone: it fits, it
// can be read, and it does nothing that its policy forbids.
func TestEveryPage(t *testing.T) {
	o := openOffice(t)
	sold := fixture.Do(o.Shop, o.Report(0, 1))
	o.stand(commerce.Paid, commerce.ByDelivery)
	chromium := browser.Start(t)
	url := o.serving("boss").URL
	paths := []string{Prefix + "/orders/" + sold.ID, Prefix + "/orders/" + sold.ID + "/slip", Prefix + "/orders/" + sold.ID + "/cancel", "/office/missing"}
	for _, r := range table() {
		if r.method == get && !strings.Contains(r.path, "{") && !strings.HasSuffix(r.path, ".csv") && !strings.HasSuffix(r.path, "/export") && !strings.HasSuffix(r.path, "/stream") && r.path != Prefix+"/stock/check" {
			paths = append(paths, r.path)
		}
	}
	first, err := o.uses.OfferFirstOwner(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	queries := map[string]string{Prefix + "/welcome": "?token=" + first} // of pages that are nothing without
	for theme, widths := range map[string][]int{"light": {1280}, "dark": {360}} {
		if os.Getenv("PURVEYOR_SCREENSHOTS") != "" { // to be looked at in all ways
			widths = []int{1280, 360}
		}
		boss := o.users["boss"]
		boss.Preferences.Theme = theme
		o.users["boss"] = boss
		v := browser.Visit(t, chromium, url+"/office/store")
		for _, path := range paths {
			name := strings.NewReplacer("/", "-", sold.ID, "id").Replace(strings.TrimPrefix(path, "/"))
			t.Run(theme+" "+name, func(t *testing.T) {
				v.T = t
				for _, width := range widths {
					if _, err := chromedp.Run(v.Tab, size(width)); err != nil {
						t.Fatal(err)
					}
					if _, err := chromedp.Run(v.Tab, chromedp.Navigate(url+path+queries[path])); err != nil {
						t.Fatal(err)
					}
					v.Fits(width)
					browser.Screenshot(t, v.Tab, name+"-"+theme+map[int]string{1280: "-desk", 360: "-phone"}[width])
				}
				v.Readable()
			})
		}
		v.T = t
		for _, problem := range v.Problems() {
			if !strings.Contains(problem, "404") && !strings.HasPrefix(problem, "[DOM]") { // of the missing page; advice about password managers
				t.Error(theme, problem)
			}
		}
	}
}
