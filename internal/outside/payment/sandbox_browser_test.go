package payment_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"

	"github.com/chromedp/cdproto/accessibility"
	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"purveyor/internal/browsertest"
	"purveyor/internal/outside/payment"
)

// customer is someone with a browser on a payment page.
type customer struct {
	t   *testing.T
	tab context.Context

	mu       sync.Mutex
	requests []string
	problems []string // of the console, refusals of the page's policy among them
}

func newCustomer(t *testing.T, browser context.Context, session payment.Session, before ...chromedp.Action[chromedp.Void]) *customer {
	t.Helper()
	c := &customer{t: t, tab: browsertest.Tab(t, browser)}
	must(t, chromedp.Listen(c.tab, func(event any) {
		c.mu.Lock()
		defer c.mu.Unlock()
		switch e := event.(type) {
		case *network.EventRequestWillBeSent:
			c.requests = append(c.requests, e.Request.URL)
		case *log.EventEntryAdded:
			c.problems = append(c.problems, e.Entry.Text)
		}
	}))
	_, err := chromedp.Call(c.tab, log.Enable, cdp.Empty{})
	must(t, err)
	_, err = chromedp.Call(c.tab, network.Enable, network.EnableParams{})
	must(t, err)
	must(t, chromedp.Do(c.tab, append(before, chromedp.Navigate(session.URL))...))
	return c
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func ask[T any](c *customer, script string) T {
	c.t.Helper()
	v, err := chromedp.Run(c.tab, chromedp.Evaluate[T](script))
	must(c.t, err)
	return v
}

// press does something that leads to another page, and gives its status.
func (c *customer) press(action chromedp.Action[chromedp.Void]) int64 {
	c.t.Helper()
	response, err := chromedp.RunResponse(c.tab, action)
	must(c.t, err)
	return response.Status
}

func button(outcome string) chromedp.Action[chromedp.Void] {
	return chromedp.Click(chromedp.CSS(`button[value="` + outcome + `"]`))
}

// isAt checks the page that the customer sees.
func (c *customer) isAt(want string) {
	c.t.Helper()
	if at := ask[string](c, "location.href"); at != want {
		c.t.Errorf("the customer is at %s, not at %s", at, want)
	}
}

func thanks(s *shop, session payment.Session) string {
	return s.site.URL + "/thanks?session=" + session.ID
}

func TestBrowser(t *testing.T) {
	browser := browsertest.Start(t)
	for _, c := range []struct {
		name string
		test func(t *testing.T, browser context.Context, s *shop, session payment.Session)
	}{
		{"pay", pay},
		{"decline, then pay", declineThenPay},
		{"without scripts", withoutScripts},
		{"cancel", cancel},
		{"keyboard", keyboard},
		{"phone", phone},
		{"framed", framed},
		{"shop that leads on", leadsOn},
		{"expired and unknown", expiredAndUnknown},
		{"long order", longOrder},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := newShop(t)
			c.test(t, browser, s, s.open(t, s.order("ord_1", "jo@example.com")))
		})
	}
}

func pay(t *testing.T, browser context.Context, s *shop, session payment.Session) {
	c := newCustomer(t, browser, session)
	browsertest.Screenshot(t, c.tab, "open")
	c.readable()
	if status := c.press(button("pay")); status != http.StatusOK {
		t.Errorf("status %d", status)
	}
	c.isAt(thanks(s, session))
	c.unharmed(s)
	must(t, chromedp.Do(c.tab, chromedp.Navigate(session.URL)))
	browsertest.Screenshot(t, c.tab, "paid")
	c.readable()
	c.press(chromedp.Click(chromedp.CSS("a.primary")))
	c.isAt(thanks(s, session))
}

func declineThenPay(t *testing.T, browser context.Context, s *shop, session payment.Session) {
	c := newCustomer(t, browser, session)
	if status := c.press(button("decline")); status != http.StatusPaymentRequired {
		t.Errorf("status %d", status)
	}
	c.isAt(session.URL)
	browsertest.Screenshot(t, c.tab, "declined")
	c.readable()
	if alert := ask[string](c, `document.activeElement.getAttribute("role")`); alert != "alert" {
		t.Errorf("after a decline the focus is on role %q, not on the alert", alert)
	}
	c.press(button("pay"))
	c.isAt(thanks(s, session))
}

func withoutScripts(t *testing.T, browser context.Context, s *shop, session payment.Session) {
	c := newCustomer(t, browser, session, chromedp.Func(func(ctx context.Context, _ *chromedp.Target) error {
		_, err := chromedp.Call(ctx, emulation.SetScriptExecutionDisabled, emulation.SetScriptExecutionDisabledParams{Value: true})
		return err
	}))
	c.press(button("decline"))
	c.press(button("pay"))
	c.isAt(thanks(s, session))
}

func cancel(t *testing.T, browser context.Context, s *shop, session payment.Session) {
	c := newCustomer(t, browser, session)
	c.press(chromedp.Click(chromedp.CSS(".after a")))
	c.isAt(s.site.URL + "/cart?order=ord_1")
	if now := s.read(t, session.ID); now.Status != payment.SessionOpen {
		t.Errorf("the session is %s", now.Status)
	}
}

func phone(t *testing.T, browser context.Context, s *shop, session payment.Session) {
	c := newCustomer(t, browser, session, chromedp.EmulateViewport(360, 740, chromedp.EmulateMobile, chromedp.EmulateTouch, chromedp.EmulateScale(2)))
	browsertest.Screenshot(t, c.tab, "phone")
	c.fits(360)
	c.press(button("decline"))
	browsertest.Screenshot(t, c.tab, "phone-declined")
	c.fits(360)
	c.press(button("pay"))
	c.isAt(thanks(s, session))
}

func expiredAndUnknown(t *testing.T, browser context.Context, s *shop, session payment.Session) {
	s.Lapse(t, session)
	c := newCustomer(t, browser, session)
	browsertest.Screenshot(t, c.tab, "expired")
	c.readable()
	c.press(chromedp.Click(chromedp.CSS("a.primary")))
	c.isAt(s.site.URL + "/cart?order=ord_1")
	must(t, chromedp.Do(c.tab, chromedp.Navigate(s.pages.URL+"/sandbox/pay/cs_test_0")))
	browsertest.Screenshot(t, c.tab, "unknown")
	c.readable()
}

// leadsOn has the shop redirect the customer to another origin: browsers hold
// that against the form, too.
func leadsOn(t *testing.T, browser context.Context, s *shop, _ payment.Session) {
	hop := httptest.NewServer(http.RedirectHandler(s.site.URL+"/welcome", http.StatusFound))
	defer hop.Close()
	r := s.order("ord_2", "jo@example.com")
	r.SuccessURL = hop.URL
	c := newCustomer(t, browser, s.open(t, r))
	c.press(button("pay"))
	c.isAt(s.site.URL + "/welcome")
}

// keyboard pays without a mouse, and sees where it is.
func keyboard(t *testing.T, browser context.Context, s *shop, session payment.Session) {
	c := newCustomer(t, browser, session)
	var visited []string
	for range 20 {
		must(t, chromedp.Do(c.tab, chromedp.KeyEvent(kb.Tab)))
		at := ask[string](c, `document.activeElement.id || document.activeElement.value || document.activeElement.textContent`)
		visited = append(visited, at)
		if ask[string](c, `getComputedStyle(document.activeElement).outlineStyle`) != "solid" {
			t.Errorf("nobody sees that the focus is on %s", at)
		}
		if at == "pay" {
			browsertest.Screenshot(t, c.tab, "focus")
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

// framed has another site show the page in a frame, to catch clicks.
func framed(t *testing.T, browser context.Context, _ *shop, session payment.Session) {
	thief := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = fmt.Fprintf(w, `<!doctype html><title>thief</title><iframe src="%s"></iframe>`, session.URL)
	}))
	defer thief.Close()
	c := newCustomer(t, browser, payment.Session{URL: thief.URL})
	c.mu.Lock()
	defer c.mu.Unlock()
	if all := strings.Join(c.problems, "\n"); !strings.Contains(all, "frame-ancestors") {
		t.Errorf("the browser refuses no frame, it says %q", all)
	}
}

// longOrder is of many lines, and of words that do not fit.
func longOrder(t *testing.T, browser context.Context, s *shop, _ payment.Session) {
	r := s.order("ord_2", "")
	r.StoreName = strings.Repeat("Llanfairpwll", 8)
	for i := range 60 {
		r.Lines = append(r.Lines, payment.Line{Name: fmt.Sprintf("Item %d %s", i, strings.Repeat("x", 80)), PriceCents: 123_456_789, Quantity: 1_000})
		r.TotalCents += 123_456_789_000
	}
	c := newCustomer(t, browser, s.open(t, r), chromedp.EmulateViewport(320, 640, chromedp.EmulateMobile))
	browsertest.Screenshot(t, c.tab, "long-phone")
	c.fits(320)
	if button := ask[float64](c, `document.querySelector("[value=pay]").getBoundingClientRect().top`); button > 3000 {
		t.Errorf("the Pay button is %v pixels down", button)
	}
	must(t, chromedp.Do(c.tab, chromedp.Click(chromedp.CSS("summary")), chromedp.EmulateViewport(1200, 800)))
	browsertest.Screenshot(t, c.tab, "long")
	c.fits(1200)
	// Without an address the page asks, and Pay waits for it.
	must(t, chromedp.Do(c.tab, button("pay")))
	if !ask[bool](c, `document.activeElement.id == "email" && !document.activeElement.validity.valid`) {
		t.Error("Pay does not ask for the e-mail address")
	}
	must(t, chromedp.Do(c.tab, chromedp.SendKeys(chromedp.CSS("#email"), "jo+decline@example.com")))
	if status := c.press(button("pay")); status != http.StatusPaymentRequired {
		t.Errorf("the typed address does not decline: status %d", status)
	}
}

// fits checks that nothing is beside the screen.
func (c *customer) fits(width int) {
	c.t.Helper()
	if wide := ask[int](c, "document.documentElement.scrollWidth"); wide > width {
		c.t.Errorf("the page is %d pixels wide, the screen %d", wide, width)
	}
}

// unharmed checks that the browser has refused nothing of the page, and asked
// nobody but the sandbox and the shop.
func (c *customer) unharmed(s *shop) {
	c.t.Helper()
	c.mu.Lock()
	defer c.mu.Unlock()
	pictures := 0
	for _, request := range c.requests {
		u, err := url.Parse(request)
		must(c.t, err)
		if origin := u.Scheme + "://" + u.Host; origin != s.pages.URL && origin != s.site.URL {
			c.t.Errorf("the page asks for %s", request)
		}
		if u.Path == "/image.svg" {
			pictures++
		}
	}
	if pictures == 0 {
		c.t.Error("no picture was asked for")
	}
	for _, problem := range c.problems {
		if !strings.Contains(problem, "404") { // the shop has no favicon
			c.t.Errorf("the browser says: %s", problem)
		}
	}
}

// contrast gives the texts whose colour is too near to what is behind them
// (WCAG 2, level AA, text of any size).
const contrast = `(() => {
	const channels = c => c.match(/[\d.]+/g).map(Number);
	const light = ([r, g, b]) => [r, g, b].map(v => v / 255).map(v => v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4)
		.reduce((sum, v, i) => sum + v * [0.2126, 0.7152, 0.0722][i], 0);
	const behind = e => { for (; e; e = e.parentElement) { const c = channels(getComputedStyle(e).backgroundColor); if (c.length == 3 || c[3] == 1) return c; } return [255, 255, 255]; };
	const bad = [];
	for (const e of document.body.querySelectorAll("*")) {
		const text = e.matches("input") ? e.value : [...e.childNodes].filter(n => n.nodeType == 3).map(n => n.data).join("").trim();
		if (!text) continue;
		const a = light(channels(getComputedStyle(e).color)), b = light(behind(e));
		const ratio = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
		if (ratio < 4.5) bad.push(text + " " + ratio.toFixed(2));
	}
	return bad;
})()`

// readable checks what people who cannot see well, or not at all, need.
func (c *customer) readable() {
	c.t.Helper()
	for _, bad := range ask[[]string](c, contrast) {
		c.t.Errorf("hard to read: %s", bad)
	}
	if lang := ask[string](c, "document.documentElement.lang"); lang != "en" {
		c.t.Errorf("the language is %q", lang)
	}
	if headings := ask[int](c, `document.querySelectorAll("h1").length`); headings != 1 {
		c.t.Errorf("%d headings of the first level", headings)
	}
	tree, err := chromedp.Call(c.tab, accessibility.GetFullAXTree, accessibility.GetFullAXTreeParams{})
	must(c.t, err)
	named := 0
	for _, node := range tree.Nodes {
		if node.Ignored || node.Role == nil {
			continue
		}
		switch role := string(node.Role.Value); role {
		case `"button"`, `"textbox"`, `"link"`, `"heading"`, `"group"`, `"region"`, `"RootWebArea"`:
			named++
			if node.Name == nil || len(node.Name.Value) <= 2 {
				c.t.Errorf("a %s has no name", role)
			}
		}
	}
	if named < 2 {
		c.t.Errorf("%d things have names", named)
	}
}
