package payment_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"purveyor/internal/outside/payment"
	"purveyor/internal/testkit/browser"
	"purveyor/internal/testkit/check"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// customer is a customer with a browser on a payment page.
type customer struct{ *browser.Visitor }

func newCustomer(t *testing.T, chrome context.Context, session payment.Session, before ...chromedp.Action[chromedp.Void]) customer {
	t.Helper()
	return customer{browser.Visit(t, chrome, session.URL, before...)}
}

// press runs an action that loads another page, and returns its status.
func (c customer) press(action chromedp.Action[chromedp.Void]) int64 {
	c.T.Helper()
	response, err := chromedp.RunResponse(c.Tab, action)
	check.OK(c.T, err)
	return response.Status
}

func button(outcome string) chromedp.Action[chromedp.Void] {
	return chromedp.Click(chromedp.CSS(`button[value="` + outcome + `"]`))
}

// isAt checks the page that the customer sees.
func (c customer) isAt(want string) {
	c.T.Helper()
	if at := browser.Ask[string](c.Visitor, "location.href"); at != want {
		c.T.Errorf("the customer is at %s, not at %s", at, want)
	}
}

func thanks(s *checkout, session payment.Session) string {
	return s.site.URL + "/thanks?session=" + session.ID
}

func TestBrowser(t *testing.T) {
	chrome := browser.Start(t)
	for _, c := range []struct {
		name string
		test func(t *testing.T, chrome context.Context, s *checkout, session payment.Session)
	}{
		{"pay", pay},
		{"decline, then pay", declineThenPay},
		{"without scripts", withoutScripts},
		{"cancel", cancel},
		{"keyboard", keyboard},
		{"phone", phone},
		{"dark", dark},
		{"framed", framed},
		{"shop that leads on", leadsOn},
		{"expired and unknown", expiredAndUnknown},
		{"long order", longOrder},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := newCheckout(t)
			c.test(t, chrome, s, s.open(t, s.order("ord_1", "jo@example.com")))
		})
	}
}

func pay(t *testing.T, chrome context.Context, s *checkout, session payment.Session) {
	c := newCustomer(t, chrome, session)
	browser.Screenshot(t, c.Tab, "open")
	c.Readable()
	if status := c.press(button("pay")); status != http.StatusOK {
		t.Errorf("status %d", status)
	}
	c.isAt(thanks(s, session))
	c.unharmed(s)
	check.OK(t, chromedp.Do(c.Tab, chromedp.Navigate(session.URL)))
	browser.Screenshot(t, c.Tab, "paid")
	c.Readable()
	c.press(chromedp.Click(chromedp.CSS("a.primary")))
	c.isAt(thanks(s, session))
}

func declineThenPay(t *testing.T, chrome context.Context, s *checkout, session payment.Session) {
	c := newCustomer(t, chrome, session)
	if status := c.press(button("decline")); status != http.StatusPaymentRequired {
		t.Errorf("status %d", status)
	}
	c.isAt(session.URL)
	browser.Screenshot(t, c.Tab, "declined")
	c.Readable()
	if alert := browser.Ask[string](c.Visitor, `document.activeElement.getAttribute("role")`); alert != "alert" {
		t.Errorf("after a decline the focus is on role %q, not on the alert", alert)
	}
	c.press(button("pay"))
	c.isAt(thanks(s, session))
}

func withoutScripts(t *testing.T, chrome context.Context, s *checkout, session payment.Session) {
	c := newCustomer(t, chrome, session, browser.NoScripts())
	c.press(button("decline"))
	c.press(button("pay"))
	c.isAt(thanks(s, session))
}

func cancel(t *testing.T, chrome context.Context, s *checkout, session payment.Session) {
	c := newCustomer(t, chrome, session)
	c.press(chromedp.Click(chromedp.CSS(".after a")))
	c.isAt(s.site.URL + "/cart?order=ord_1")
	if now := s.read(t, session.ID); now.Status != payment.SessionOpen {
		t.Errorf("the session is %s", now.Status)
	}
}

func phone(t *testing.T, chrome context.Context, s *checkout, session payment.Session) {
	c := newCustomer(t, chrome, session, chromedp.EmulateViewport(360, 740, chromedp.EmulateMobile, chromedp.EmulateTouch, chromedp.EmulateScale(2)))
	browser.Screenshot(t, c.Tab, "phone")
	c.Fits(360)
	c.press(button("decline"))
	browser.Screenshot(t, c.Tab, "phone-declined")
	c.Fits(360)
	c.press(button("pay"))
	c.isAt(thanks(s, session))
}

// dark pays for a delivery in a dark theme on a phone, after a declined card.
func dark(t *testing.T, chrome context.Context, s *checkout, _ payment.Session) {
	r := s.order("ord_dark", "")
	r.Lines[0].Name = strings.Repeat("A very long name of goods ", 20)
	r.DeliverTo = []string{"Jo Doe", "3180 18th St", "San Francisco, CA 94110"}
	session := s.open(t, r)
	c := newCustomer(t, chrome, session, browser.Dark(), chromedp.EmulateViewport(360, 740, chromedp.EmulateMobile, chromedp.EmulateTouch, chromedp.EmulateScale(2)))
	c.press(button("decline"))
	browser.Screenshot(t, c.Tab, "pay-dark")
	c.Fits(360)
	c.Readable()
	if to := browser.Ask[string](c.Visitor, `document.querySelector(".to").innerText`); to != "Deliver to\nJo Doe\n3180 18th St\nSan Francisco, CA 94110" {
		t.Errorf("it is delivered to %q", to)
	}
	cut := `(() => { const n = document.querySelector(".name"); return n.scrollHeight > n.clientHeight + 1 })()`
	if browser.Ask[bool](c.Visitor, cut) {
		t.Error("the name is cut")
	}
}

func expiredAndUnknown(t *testing.T, chrome context.Context, s *checkout, session payment.Session) {
	s.Lapse(t, session)
	c := newCustomer(t, chrome, session)
	browser.Screenshot(t, c.Tab, "expired")
	c.Readable()
	c.press(chromedp.Click(chromedp.CSS("a.primary")))
	c.isAt(s.site.URL + "/cart?order=ord_1")
	check.OK(t, chromedp.Do(c.Tab, chromedp.Navigate(s.pages.URL+"/sandbox/pay/cs_test_0")))
	browser.Screenshot(t, c.Tab, "unknown")
	c.Readable()
}

// leadsOn has the shop redirect the customer to another origin. Browsers apply the
// form's policy to that redirect, too.
func leadsOn(t *testing.T, chrome context.Context, s *checkout, _ payment.Session) {
	hop := httptest.NewServer(http.RedirectHandler(s.site.URL+"/welcome", http.StatusFound))
	defer hop.Close()
	r := s.order("ord_2", "jo@example.com")
	r.SuccessURL = hop.URL
	c := newCustomer(t, chrome, s.open(t, r))
	c.press(button("pay"))
	c.isAt(s.site.URL + "/welcome")
}

// TestLook: axe finds nothing on a phone or on a desk, light or dark.
func TestLook(t *testing.T) {
	chrome, axe := browser.Start(t), browser.NewAxe(t)
	s := newCheckout(t)
	r := s.order("ord_1", "")
	r.DeliverTo = []string{"Jo Doe", "3180 18th St", "San Francisco, CA 94110"}
	open, paid := s.open(t, r), s.open(t, s.order("ord_2", "jo@example.com"))
	newCustomer(t, chrome, paid).press(button("pay"))
	for theme, scheme := range map[string]chromedp.Action[chromedp.Void]{"light": browser.Light(), "dark": browser.Dark()} {
		for _, width := range []int64{360, 1280} {
			for name, session := range map[string]payment.Session{"open": open, "paid": paid, "none": {URL: s.pages.URL + "/sandbox/pay/cs_test_0"}} {
				t.Run(fmt.Sprint(theme, " ", width, " ", name), func(t *testing.T) {
					c := newCustomer(t, chrome, session, scheme, chromedp.EmulateViewport(width, 800))
					c.Fits(int(width))
					for _, bad := range axe.All(c.Visitor, theme == "dark") {
						t.Error(bad)
					}
					browser.Screenshot(t, c.Tab, fmt.Sprint("pay-", name, "-", theme, "-", width))
				})
			}
		}
	}
}

// keyboard pays without a mouse, and checks that the focus is visible.
func keyboard(t *testing.T, chrome context.Context, s *checkout, session payment.Session) {
	c := newCustomer(t, chrome, session)
	var visited []string
	for range 20 {
		check.OK(t, chromedp.Do(c.Tab, chromedp.KeyEvent(kb.Tab)))
		at := browser.Ask[string](c.Visitor, `document.activeElement.id || document.activeElement.value || document.activeElement.textContent`)
		visited = append(visited, at)
		if browser.Ask[string](c.Visitor, `getComputedStyle(document.activeElement).outlineStyle`) != "solid" {
			t.Errorf("the focus on %s is not visible", at)
		}
		if at == "pay" {
			browser.Screenshot(t, c.Tab, "focus")
			c.press(chromedp.KeyEvent(kb.Enter))
			c.isAt(thanks(s, session))
			if want := "email number expiry code name pay"; strings.Join(visited, " ") != want {
				t.Errorf("the focus went %v, not %s", visited, want)
			}
			return
		}
	}
	t.Errorf("the Pay button is not reached, but %v", visited)
}

// framed has another site show the page in a frame to catch clicks.
func framed(t *testing.T, chrome context.Context, _ *checkout, session payment.Session) {
	thief := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = fmt.Fprintf(w, `<!doctype html><title>thief</title><iframe src="%s"></iframe>`, session.URL)
	}))
	defer thief.Close()
	c := newCustomer(t, chrome, payment.Session{URL: thief.URL})
	if all := strings.Join(c.Problems(), "\n"); !strings.Contains(all, "frame-ancestors") {
		t.Errorf("the browser refuses no frame, it says %q", all)
	}
}

// longOrder has many lines, and words that do not fit.
func longOrder(t *testing.T, chrome context.Context, s *checkout, _ payment.Session) {
	r := s.order("ord_2", "")
	r.StoreName = strings.Repeat("Llanfairpwll", 8)
	for i := range 60 {
		r.Lines = append(r.Lines, payment.Line{Name: fmt.Sprintf("Item %d %s", i, strings.Repeat("x", 80)), PriceCents: 123_456_789, Quantity: 1_000})
		r.TotalCents += 123_456_789_000
	}
	c := newCustomer(t, chrome, s.open(t, r), chromedp.EmulateViewport(320, 640, chromedp.EmulateMobile))
	browser.Screenshot(t, c.Tab, "long-phone")
	c.Fits(320)
	if button := browser.Ask[float64](c.Visitor, `document.querySelector("[value=pay]").getBoundingClientRect().top`); button > 3000 {
		t.Errorf("the Pay button is %v pixels down", button)
	}
	check.OK(t, chromedp.Do(c.Tab, chromedp.Click(chromedp.CSS("summary")), chromedp.EmulateViewport(1200, 800)))
	browser.Screenshot(t, c.Tab, "long")
	c.Fits(1200)
	// Without an address the page asks for it, and Pay waits.
	check.OK(t, chromedp.Do(c.Tab, button("pay")))
	if !browser.Ask[bool](c.Visitor, `document.activeElement.id == "email" && !document.activeElement.validity.valid`) {
		t.Error("Pay does not ask for the e-mail address")
	}
	check.OK(t, chromedp.Do(c.Tab, chromedp.SendKeys(chromedp.CSS("#email"), "jo+decline@example.com")))
	if status := c.press(button("pay")); status != http.StatusPaymentRequired {
		t.Errorf("the typed address does not decline: status %d", status)
	}
}

// unharmed checks that the browser has blocked nothing on the page, and made requests
// to the sandbox and the shop only.
func (c customer) unharmed(s *checkout) {
	c.T.Helper()
	pictures := 0
	for _, request := range c.Requests() {
		u, err := url.Parse(request)
		check.OK(c.T, err)
		if origin := u.Scheme + "://" + u.Host; origin != s.pages.URL && origin != s.site.URL {
			c.T.Errorf("the page asks for %s", request)
		}
		if u.Path == "/image.svg" {
			pictures++
		}
	}
	if pictures == 0 {
		c.T.Error("no picture was asked for")
	}
	for _, problem := range c.Problems() {
		if !strings.Contains(problem, "404") { // the shop has no favicon
			c.T.Errorf("the browser says: %s", problem)
		}
	}
}
