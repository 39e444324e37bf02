package backoffice

import (
	"net/http"
	"strings"
	"testing"

	"purveyor/internal/commerce"
	"purveyor/internal/testkit/fixture"
)

// TestNewOrder: a manager sells at the store. The page prices the order first, keeps what was
// typed when something is missing, and a double click makes one order.
func TestNewOrder(t *testing.T) {
	o := openOffice(t)
	const path = "/office/orders/new"
	status, page := o.get("manager", path)
	if status != http.StatusOK || !strings.Contains(page, "Rye") {
		t.Fatalf("%d\n%s", status, page)
	}
	product := fixture.ProductID(0)
	form := func(with ...string) []string {
		return append([]string{"store", fixture.StoreID, "key", hidden(t, page, "key"), "fulfillment", "pickup", "pay", "store", "name", "Ann <b>"}, with...)
	}
	for _, c := range []struct{ want, name, value string }{
		{"Please choose what is sold", "x", ""}, {"Pieces must be a whole number", "pieces." + product, "1.5"}, {"Pieces must be a whole number", "pieces." + product, "-1"},
		{"requested 101, available 100", "pieces." + product, "101"},
	} {
		status, page := o.post("manager", path, form(c.name, c.value)...)
		if status < 400 || status > 409 || !strings.Contains(page, c.want) || !strings.Contains(page, `value="Ann &lt;b&gt;"`) {
			t.Errorf("%s: %d\n%s", c.want, status, page)
		}
	}
	status, page2 := o.post("manager", path, form("pieces."+product, "2", "step", "price")...)
	if status != http.StatusOK || !strings.Contains(page2, "$25.00") || !strings.Contains(page2, `value="2"`) {
		t.Errorf("%d\n%s", status, page2)
	}
	if s := o.Stock(0); s.Quantity != 100 {
		t.Errorf("pricing took %d pieces", 100-s.Quantity)
	}
	dearer := append(form("pieces."+product, "2", "step", "make"), "expected", "2400")
	if status, page := o.post("manager", path, dearer...); status != http.StatusConflict || !strings.Contains(page, "costs $25.00 by now, not $24.00") || hidden(t, page, "expected") != "2500" {
		t.Errorf("another price than was shown: %d\n%s", status, page)
	}
	var made string
	for range 2 {
		status, to := o.post("manager", path, form("pieces."+product, "2", "step", "make", "expected", hidden(t, page2, "expected"))...)
		if status != http.StatusSeeOther || made != "" && to != made {
			t.Fatalf("%d, %s after %s", status, to, made)
		}
		made = to
	}
	order := o.Order(commerce.OrderKey{StoreID: fixture.StoreID, OrderID: strings.TrimPrefix(made, "/office/orders/")})
	if s := o.Stock(0); s.Quantity != 98 || order.Source != commerce.SourceService || order.TotalCents != 2500 || order.Status != commerce.Processed {
		t.Errorf("%d left; %+v", s.Quantity, order)
	}
	if _, page := o.get("clerk", made); !strings.Contains(page, "Taken by staff") || !strings.Contains(page, "Paid at the store") || !strings.Contains(page, "The manager") {
		t.Errorf("%s", page)
	}
	for user, want := range map[string]int{"clerk": http.StatusForbidden, "elsewhere": http.StatusNotFound} {
		if status, _ := o.post(user, path, form("pieces."+product, "1")...); status != want {
			t.Errorf("%s: %d", user, status)
		}
	}
	if status, page := o.get("", "/office/thanks"); status != http.StatusOK || !strings.Contains(page, "Your payment is being checked") {
		t.Errorf("%d\n%s", status, page)
	}
}
