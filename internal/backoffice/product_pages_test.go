package backoffice

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"purveyor/internal/command"
	"purveyor/internal/commerce"
	"purveyor/internal/testkit/browser"
	"purveyor/internal/testkit/fixture"

	"github.com/chromedp/chromedp"
)

// serving serves the office to a browser whose user is signed in.
func (o *office) serving(user string) *httptest.Server {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		r.Header.Set(userHeader, user)
		o.handler.ServeHTTP(w, r)
	}))
	o.t.Cleanup(server.Close)
	return server
}

// TestProductPages looks at the pages of products on a phone and on a desk: nothing scrolls
// sideways, everything can be read, and nothing breaks the policy of the pages.
func TestProductPages(t *testing.T) {
	o := openOffice(t)
	long := strings.Repeat("Extraordinarily", 6)
	catalog := command.ImportCatalog{Stores: []command.ImportStore{{ID: "sto_2", Name: "Two"}}, Products: []command.ImportProduct{{ID: "prd_long", StoreID: fixture.StoreID, Name: long + " " + long,
		SKU: new(long), Description: new(long), CategoryID: new(fixture.CategoryID), PriceCents: new(commerce.MaxCents), Quantity: new(int64(2)), Images: &[]string{"https://pictures.example/1"}}}}
	fixture.Do(o.Shop, catalog)
	for range 3 {
		fixture.Do(o.Shop, o.Report(0, 2))
	}
	o.post("boss", productPath("prd_0")+"/adjust", "delta", "-3", "reason", "Damaged "+long)
	o.holdGoods(15)
	fixture.Do(o.Shop, o.Checkout(0, 2))
	o.broken = "prd_1"
	fitting(t, o.serving("boss").URL, "long", map[string]string{"products": productsPath, "product": productPath("prd_0"), "product-long": productPath("prd_long"), "product-edit": productPath("prd_long") + "/edit",
		"import": productsPath + "/import", "categories": categoriesPath, "stock": stockPath, "stock-check": stockPath + "/check"})
}

// TestCountWithoutScripts: from the list of products a count takes three clicks at most, in a
// browser that runs no script.
func TestCountWithoutScripts(t *testing.T) {
	o := openOffice(t)
	v := browser.Visit(t, browser.Start(t), o.serving("manager").URL+productsPath, browser.NoScripts(), size(360))
	for _, step := range []chromedp.Action[chromedp.Void]{
		chromedp.Click(chromedp.CSS(`a[href$="/prd_0#count"]`)),
		chromedp.Click(chromedp.CSS(`#count button`)),
	} {
		if browser.Ask[bool](v, `document.querySelector("#counted") != null`) {
			if err := chromedp.Do(v.Tab, chromedp.SendKeys(chromedp.CSS("#counted"), "97"), chromedp.SendKeys(chromedp.CSS("#count-reason"), "Shelf")); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := chromedp.RunResponse(v.Tab, step); err != nil {
			t.Fatal(err)
		}
	}
	if said := browser.Ask[string](v, `document.querySelector("[role=status]").textContent`); said != "Counted 97: 3 fewer than recorded" || o.Stock(0).Quantity != 97 {
		t.Errorf("%q, %d in stock", said, o.Stock(0).Quantity)
	}
}
