package backoffice

import (
	"context"
	"fmt"
	"net/http"
	"regexp"
	"strings"
	"testing"
	"time"

	"purveyor/internal/commerce"
	"purveyor/internal/env"
	"purveyor/internal/testkit/browser"
	"purveyor/internal/testkit/fixture"

	"github.com/chromedp/chromedp"
)

// stand makes a new order stand on the board.
func (o *office) stand(status commerce.OrderStatus, by commerce.Fulfillment, change ...func(*commerce.Order)) commerce.Order {
	o.t.Helper()
	report := o.Report(0, 1)
	if report.Fulfillment = by; by == commerce.ByDelivery {
		report.Address = &commerce.DeliveryAddress{Name: "Ann"}
	}
	sold := fixture.Do(o.Shop, report)
	return o.move(sold, func(o *commerce.Order) {
		o.Status = status
		for _, c := range change {
			c(o)
		}
	})
}

// move changes a stored order.
func (o *office) move(order commerce.Order, change func(*commerce.Order)) (now commerce.Order) {
	o.t.Helper()
	fixture.Change(o.t, o.Engine, commerce.Needs{Orders: []commerce.OrderKey{order.Key()}}, func(rows *commerce.Rows, at commerce.Millis) commerce.Changes {
		now = order
		change(&now)
		now.UpdatedOn = max(at, now.UpdatedOn+1)
		return commerce.Changes{Orders: []commerce.Order{now}}
	})
	return now
}

// TestBoardPage: each order stands in the column of its status, the oldest on top, with the
// acts that are possible and that the user may do.
func TestBoardPage(t *testing.T) {
	o := openOffice(t)
	paid, delivery := o.stand(commerce.Paid, commerce.ByPickup), o.stand(commerce.Paid, commerce.ByDelivery)
	making := o.stand(commerce.Processed, commerce.ByPickup, func(o *commerce.Order) { o.Confirmed = true })
	ready := o.stand(commerce.ReadyForPickup, commerce.ByPickup)
	way := o.stand(commerce.OutForDelivery, commerce.ByDelivery)
	gone := o.stand(commerce.PickedUp, commerce.ByPickup)
	status, page := o.get("clerk", "/office/board")
	if status != http.StatusOK {
		t.Fatal(status, page)
	}
	for id, want := range map[string][]commerce.Order{"new": {paid, delivery}, "make": {making}, "ready": {ready}, "way": {way}} {
		_, column, _ := strings.Cut(page, `<ol class="cards" id="col-`+id+`">`)
		column, _, _ = strings.Cut(column, "</ol>")
		if n := strings.Count(column, "<li class=\"card"); n != len(want) {
			t.Errorf("%s has %d cards:\n%s", id, n, column)
		}
		at := 0
		for _, order := range want {
			next := strings.Index(column, `id="o-`+order.ID+`"`)
			if next < at {
				t.Errorf("%s: %s is not in its place:\n%s", id, order.ID, column)
			}
			at = next
		}
		if !strings.Contains(page, fmt.Sprintf(`<b id="n-%s">%d</b>`, id, len(want))) {
			t.Errorf("the count of %s is wrong", id)
		}
	}
	acts := []string{paid.ID + `/confirm"><input type="hidden" name="back"`, making.ID + `/ready" data-undo`,
		ready.ID + `/picked-up" data-undo`, `href="/office/orders/` + delivery.ID + `/confirm" data-ask`}
	for _, want := range acts {
		if !strings.Contains(page, want) {
			t.Errorf("the page lacks %q", want)
		}
	}
	if strings.Contains(page, gone.ID) || strings.Contains(page, way.ID+"/picked-up") || strings.Contains(page, paid.ID+"/ready") {
		t.Errorf("the page has too much:\n%s", page)
	}
	_, page = o.get("viewer", "/office/board")
	for _, a := range acts {
		if strings.Contains(page, a) || !strings.Contains(page, paid.ID) {
			t.Errorf("a viewer is offered %q", a)
		}
	}
	if _, page = o.get("elsewhere", "/office/board"); strings.Contains(page, paid.ID) {
		t.Error("the board of another store has the order")
	}
	if _, page = o.get("clerk", "/office/board?partner=prt_other"); strings.Contains(page, paid.ID) {
		t.Error("the board of another partner has the order")
	}
}

// TestCardsGoByStatus: what is pressed on a card is done although something was noted about the
// order since the card was made, and refused if the order has moved on.
func TestCardsGoByStatus(t *testing.T) {
	o := openOffice(t)
	cases := []struct {
		act              string
		from, to         commerce.OrderStatus
		noted, cancelled commerce.Order
	}{{act: doConfirm, from: commerce.Paid, to: commerce.Processed}, {act: doReady, from: commerce.Processed, to: commerce.ReadyForPickup}, {act: doPickedUp, from: commerce.ReadyForPickup, to: commerce.PickedUp}}
	for i, c := range cases {
		cases[i].noted, cases[i].cancelled = o.stand(c.from, commerce.ByPickup), o.stand(c.from, commerce.ByPickup)
	}
	_, page := o.get("clerk", "/office/board")
	for _, c := range cases {
		press := func(order commerce.Order) (int, string) {
			_, form, _ := strings.Cut(page, order.ID+"/"+c.act+`"`)
			form, _, _ = strings.Cut(form, "</form>")
			var fields []string
			for _, field := range regexp.MustCompile(`name="(\w+)" value="([^"]*)"`).FindAllStringSubmatch(form, -1) {
				fields = append(fields, field[1], field[2])
			}
			return o.post("clerk", "/office/orders/"+order.ID+"/"+c.act, fields...)
		}
		o.move(c.noted, func(o *commerce.Order) { o.UpdatedOn++ })
		o.move(c.cancelled, func(o *commerce.Order) { o.Status = commerce.Cancelled; o.UpdatedOn++ })
		if status, to := press(c.noted); status != http.StatusSeeOther || to != "/office/board" || o.Order(c.noted.Key()).Status != c.to {
			t.Errorf("%s after a note: %d %s, %s", c.act, status, to, o.Order(c.noted.Key()).Status)
		}
		if status, _ := press(c.cancelled); status != http.StatusConflict || o.Order(c.cancelled.Key()).Status != commerce.Cancelled {
			t.Errorf("%s after a cancellation: %d, %s", c.act, status, o.Order(c.cancelled.Key()).Status)
		}
	}
}

// TestRecall: what was finished last stands on top, of the user's stores alone.
func TestRecall(t *testing.T) {
	o := openOffice(t)
	if status, page := o.get("clerk", "/office/board/recall"); status != 200 || !strings.Contains(page, "No orders are finished yet") {
		t.Errorf("%d\n%s", status, page)
	}
	first := o.stand(commerce.PickedUp, commerce.ByPickup)
	second := o.stand(commerce.Cancelled, commerce.ByPickup)
	open := o.stand(commerce.Paid, commerce.ByPickup)
	first = o.move(first, func(o *commerce.Order) { o.UpdatedOn = second.UpdatedOn + 10 })
	_, page := o.get("clerk", "/office/board/recall")
	a, b := strings.Index(page, "/orders/"+first.ID+`"`), strings.Index(page, "/orders/"+second.ID+`"`)
	if a < 0 || b < a || strings.Contains(page, open.ID) {
		t.Errorf("at %d and %d:\n%s", a, b, page)
	}
	if _, page = o.get("elsewhere", "/office/board/recall"); strings.Contains(page, first.ID) {
		t.Error("the recall of another store has the order")
	}
}

// TestAges: amber at the minutes of the store, red at twice; the text is exact below an hour.
func TestAges(t *testing.T) {
	for _, c := range []struct {
		minutes int64
		want    string
	}{
		{0, `class="age" data-paid="1000" data-late="15">0 min<`}, {14, `"age" data-paid="1000" data-late="15">14 min<`}, {15, `"age amber"`}, {29, `"age amber"`},
		{30, `"age red"`}, {59, `>59 min<`}, {60, `>1 h 0 min<`}, {1439, `>23 h 59 min<`}, {1440, `>1 d<`}, {-5, `>0 min<`},
	} {
		if got := string(ageOf(1000, commerce.Millis(1000+c.minutes*60_000+59_999), 15)); c.minutes >= 0 && !strings.Contains(got, c.want) {
			t.Errorf("%d: %s", c.minutes, got)
		}
	}
}

// views makes a hub over the office's storage with a view of all stores.
func (o *office) hub(f boardFilter) (*boardHub, *boardView) {
	h := newBoardHub(env.Env{}, withUsers{o.Reader, o.users})
	v, err := h.open(context.Background(), f)
	if err != nil {
		o.t.Fatal(err)
	}
	return h, v
}

// look brings the views of a hub up to date.
func (o *office) look(h *boardHub) {
	if err := h.look(); err != nil {
		o.t.Fatal(err)
	}
}

// TestBoardChanges: a look tells a board of each card that comes, goes or changes, and of
// nothing else.
func TestBoardChanges(t *testing.T) {
	o := openOffice(t)
	first, last := o.stand(commerce.Paid, commerce.ByPickup), o.stand(commerce.Paid, commerce.ByPickup)
	h, v := o.hub(boardFilter{ActsAll: true})
	if got := v.after(v.position(), 0); len(got) != 0 {
		t.Fatalf("the newest position has messages after it: %q", got)
	}
	begin := v.position()
	o.look(h)
	if v.position() != begin {
		t.Errorf("a look without a change: %q", v.messages)
	}
	first = o.move(first, func(o *commerce.Order) { o.RefundedCents = 1 })
	if o.look(h); v.position() != begin {
		t.Errorf("a change of what is not on the card: %q", v.messages)
	}
	steps := []struct {
		name   string
		change func()
		want   []string
		not    []string
	}{
		{"a new order comes below the others", func() { o.stand(commerce.Paid, commerce.ByPickup) },
			[]string{`hx-target="#o-` + last.ID + `" hx-swap="afterend"><li class="card"`, `"#n-new" hx-swap="innerHTML">3<`}, []string{"outerMorph", "col-make", "gone"}},
		{"a change of a card", func() { first = o.move(first, func(o *commerce.Order) { o.Mode = commerce.Test }) },
			[]string{`hx-target="#o-` + first.ID + `" hx-swap="outerMorph"><li class="card testing"`}, []string{"gone", "afterend", "#n-new"}},
		{"an order moves to an empty column", func() {
			last = o.move(last, func(o *commerce.Order) { o.Status, o.Confirmed = commerce.Processed, true })
		},
			[]string{`hx-target="#o-` + last.ID + `" hx-swap="outerHTML"><li class="gone" data-was="o-` + last.ID + `">`, `hx-target="#col-make" hx-swap="afterbegin"><li class="card" id="o-` + last.ID, `"#n-new" hx-swap="innerHTML">2<`, `"#n-make" hx-swap="innerHTML">1<`}, []string{"outerMorph"}},
		{"an older one is put above it", func() { o.move(first, func(o *commerce.Order) { o.Status, o.Confirmed = commerce.Processed, true }) },
			[]string{`hx-target="#col-make" hx-swap="afterbegin"><li class="card testing" id="o-` + first.ID}, nil},
		{"a finished order goes", func() { o.move(last, func(o *commerce.Order) { o.Status = commerce.PickedUp }) },
			[]string{`<li class="gone" data-was="o-` + last.ID}, []string{`<li class="card`}},
	}
	for _, s := range steps {
		at := v.position()
		s.change()
		o.look(h)
		got := strings.Join(v.after(at, 0), "\n")
		for _, want := range s.want {
			if !strings.Contains(got, want) {
				t.Errorf("%s: lacks %q:\n%s", s.name, want, got)
			}
		}
		for _, not := range s.not {
			if strings.Contains(got, not) {
				t.Errorf("%s: has %q:\n%s", s.name, not, got)
			}
		}
		if gone, card := strings.Index(got, `class="gone"`), strings.Index(got, `class="card"`); gone >= 0 && card >= 0 && card < gone {
			t.Errorf("%s: two cards would have one id for a while", s.name)
		}
	}
	if n := len(v.after(begin, 0)); n != len(steps) {
		t.Errorf("a board that was away for all of it catches up with %d messages", n)
	}
	for _, unknown := range []string{"", "other-1", v.name + "-99", v.name + "--1", v.name + "-x"} {
		if got := v.after(unknown, 0); len(got) != 1 || strings.Count(got[0], "innerMorph") != len(boardColumns) || !strings.Contains(got[0], first.ID) {
			t.Errorf("after %q: %d messages", unknown, len(got))
		}
	}
}

// TestBoardRoom: a column has 50 cards, and says how many more there are.
func TestBoardRoom(t *testing.T) {
	o := openOffice(t)
	oldest := o.stand(commerce.Paid, commerce.ByPickup)
	for range boardRoom + 1 {
		o.stand(commerce.Paid, commerce.ByPickup)
	}
	h, v := o.hub(boardFilter{Stores: []string{fixture.StoreID}})
	if got := v.whole(0); strings.Count(got, `<li class="card"`) != boardRoom || !strings.Contains(got, "and 2 more") || !strings.Contains(got, `"#n-new" hx-swap="innerHTML">52<`) {
		t.Errorf("%d cards:\n%s", strings.Count(got, `<li class="card"`), got)
	}
	at := v.position()
	o.move(oldest, func(o *commerce.Order) { o.Status = commerce.Cancelled })
	o.look(h)
	if got := strings.Join(v.after(at, 0), ""); strings.Count(got, `<li class="card"`) != 1 || !strings.Contains(got, "and 1 more") {
		t.Errorf("the next card does not come up:\n%s", got)
	}
}

// TestBoardShares: a card is rendered once for all views that show it alike, and again for
// users with other rights; what nothing shows any more is forgotten.
func TestBoardShares(t *testing.T) {
	o := openOffice(t)
	order := o.stand(commerce.Paid, commerce.ByPickup)
	h, _ := o.hub(boardFilter{ActsAll: true})
	for _, f := range []boardFilter{{ActsAll: true, Partner: order.PartnerID}, {}} {
		if _, err := h.open(context.Background(), f); err != nil {
			t.Fatal(err)
		}
	}
	if len(h.cards) != 2 || len(h.facts) != 1 || len(h.views) != 3 {
		t.Errorf("%d cards, %d facts, %d views", len(h.cards), len(h.facts), len(h.views))
	}
	o.move(order, func(o *commerce.Order) { o.Status = commerce.Cancelled })
	o.look(h)
	if len(h.cards) != 0 || len(h.facts) != 0 {
		t.Errorf("%d cards, %d facts", len(h.cards), len(h.facts))
	}
}

// eventually waits until a script in the page is true.
func eventually(v *browser.Visitor, script string) {
	v.T.Helper()
	if _, err := chromedp.Run(v.Tab, chromedp.Poll[bool](script, chromedp.WithPollingTimeout(20*time.Second))); err != nil {
		v.T.Fatalf("%s: %v", script, err)
	}
}

// TestBoardLive: in a browser, a new order comes to the board by itself, an act moves its
// card, an act that was taken back does nothing, and one that waits is done when the page is
// left.
func TestBoardLive(t *testing.T) {
	o := openOffice(t)
	old := o.stand(commerce.Paid, commerce.ByPickup)
	ready := o.stand(commerce.ReadyForPickup, commerce.ByPickup)
	v := browser.Visit(t, browser.Start(t), o.serving("clerk").URL+"/office/board", size(1280))
	fresh := o.stand(commerce.Paid, commerce.ByPickup)
	eventually(v, `!!document.querySelector("#col-new > #o-`+fresh.ID+`:last-child") && document.title.startsWith("(2) ")`)
	click := func(selector string) { browser.Ask[bool](v, `document.querySelector('`+selector+`').click(), true`) }
	click("#o-" + old.ID + " form button")
	eventually(v, `!!document.querySelector("#col-make > #o-`+old.ID+`") && document.querySelector("#n-new").textContent == "1"`)
	click("#o-" + ready.ID + " form button")
	eventually(v, `!!document.querySelector("#o-`+ready.ID+`.held") && document.querySelector("#held").textContent.includes("is picked up")`)
	click("#held button")
	eventually(v, `!document.querySelector(".held") && !document.querySelector("#held button")`)
	click("#o-" + old.ID + " form button") // Ready
	eventually(v, `!!document.querySelector(".held")`)
	if got := o.Order(old.Key()).Status; got != commerce.Processed {
		t.Errorf("the act was not held back: %s", got)
	}
	if _, err := chromedp.Run(v.Tab, chromedp.Navigate("about:blank")); err != nil {
		t.Fatal(err)
	}
	for range 200 {
		if o.Order(old.Key()).Status == commerce.ReadyForPickup {
			break
		}
		if err := (env.Env{}).Sleep(t.Context(), 50*time.Millisecond); err != nil {
			t.Fatal(err)
		}
	}
	if a, b := o.Order(old.Key()).Status, o.Order(ready.Key()).Status; a != commerce.ReadyForPickup || b != commerce.ReadyForPickup {
		t.Errorf("%s and %s", a, b)
	}
	for _, problem := range v.Problems() {
		t.Error(problem)
	}
}

// TestBoardLost: a board that hears nothing says so with the time of what it shows.
func TestBoardLost(t *testing.T) {
	o := openOffice(t)
	server := o.serving("viewer")
	v := browser.Visit(t, browser.Start(t), server.URL+"/office/board", size(1280))
	eventually(v, `document.querySelector("#lost").hidden && document.querySelector("#board") != null`)
	server.CloseClientConnections()
	if err := server.Listener.Close(); err != nil {
		t.Fatal(err)
	}
	browser.Ask[bool](v, `(() => { const now = Date.now; Date.now = () => now() + 6000; return true })()`)
	eventually(v, `!document.querySelector("#lost").hidden && /^Connection lost, showing \d\d:\d\d:\d\d$/.test(document.querySelector("#lost").textContent)`)
}

// TestBoardLook looks at a full board.
func TestBoardLook(t *testing.T) {
	o := openOffice(t)
	chromium := browser.Start(t)
	ago := func(minutes int64) func(*commerce.Order) {
		return func(o *commerce.Order) { o.CreatedOn -= commerce.Millis(minutes * 60_000) }
	}
	for i := range int64(4) {
		o.stand(commerce.Paid, []commerce.Fulfillment{commerce.ByPickup, commerce.ByDelivery}[i%2], ago(i*7))
		o.stand(commerce.Processed, []commerce.Fulfillment{commerce.ByPickup, commerce.ByDelivery}[i%2], ago(i*12))
	}
	o.stand(commerce.ReadyForPickup, commerce.ByPickup, ago(22))
	o.stand(commerce.Shipped, commerce.ByDelivery, ago(12))
	o.stand(commerce.OutForDelivery, commerce.ByDelivery, ago(44), func(o *commerce.Order) { o.Mode = commerce.Test })
	url := o.serving("boss").URL
	for _, theme := range []string{"light", "dark"} {
		boss := o.users["boss"]
		boss.Preferences.Theme = theme
		o.users["boss"] = boss
		for _, width := range []int{360, 1280} {
			v := browser.Visit(t, chromium, url+"/office/board", size(width))
			eventually(v, `document.querySelectorAll(".card").length == 11`)
			v.Fits(width)
			v.Readable()
			browser.Screenshot(t, v.Tab, fmt.Sprintf("board-%s-%d", theme, width))
			for _, problem := range v.Problems() {
				t.Error(problem)
			}
		}
	}
}
