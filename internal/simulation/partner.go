package simulation

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"time"

	"purveyor/internal/commerce"
	"purveyor/internal/outside/webhook"

	"github.com/go-json-experiment/json/jsontext"
)

// partner is the system of a partner: it calls the API for its customers, follows the
// feeds, and takes webhooks.
type partner struct {
	w       *world
	n       int
	id, url string
	// suspended: its calls may be refused; until is when this was last so. From shut on, they
	// have to be; zero: they have not.
	suspended   bool
	until, shut time.Time

	sick    int // what its endpoint answers to webhooks, or hangs; 0: it takes them
	secrets secrets
	keys    map[commerce.Mode]*keys
	former  string    // the id of the key that was replaced last
	turning int       // keys that are about to end: calls with them may be refused
	turned  time.Time // when this was last so
	minutes map[commerce.Mode]*minute
	limit   int               // calls in a minute
	orders  map[string]string // what the list of orders has told
	changed commerce.Millis   // of the last one in it
	answers []answered
	asks    int               // that have no final answer yet
	heard   map[string]string // the bodies of webhooks, by event
	read    map[string]string // what the feed of events has told, by event
	newest  string            // event in the feed
	cursor  string            // of the feed of events
	page    int               // how many rows of a feed it reads at a time
	stock   map[string]int64  // what the feed of products has told
	since   commerce.Millis
}

func newPartner(w *world, n int, name string) *partner {
	return &partner{w: w, n: n, id: "ptn_" + name, url: "https://" + name + ".example/hook", limit: limit, orders: map[string]string{}, keys: newKeys("ptn_" + name), minutes: map[commerce.Mode]*minute{}, heard: map[string]string{}, read: map[string]string{}, stock: map[string]int64{}}
}

func (w *world) partnerAt(url string) *partner {
	for _, p := range w.partners {
		if p.url == url {
			return p
		}
	}
	w.broke("a webhook goes to %s, which is nobody's", url)
	return w.partners[0]
}

// answered is a call under an idempotency key, with its first answer.
type answered struct {
	request
	status int
	answer string
}

// request is a call of the API.
type request struct {
	mode              commerce.Mode
	method, path, key string
	body              string
	about             string // the name of its story, or empty
	repeated          bool   // another call has had the answer, which is compared with this one
	givesUp           bool   // after a first answer that says that nothing was changed
}

// again reports whether a call has no final answer, so that its caller repeats it.
func (p *partner) again(status int, answer string) bool {
	switch {
	case status/100 == 2:
		return false
	case status == http.StatusUnauthorized:
		return p.suspended || p.w.env.Since(p.until) < time.Minute || p.turning > 0 || p.w.env.Since(p.turned) < time.Minute
	case strings.Contains(answer, `"code":"payment_processor_error"`): // a repeat is a new refund
		return false
	case status == 0, status == http.StatusTooManyRequests, status >= http.StatusInternalServerError:
		return true
	}
	return strings.Contains(answer, `"code":"in_progress"`)
}

// call makes a request, of any process, until it has a final answer. The partner asks
// again when a process dies, or does not answer within 30 s.
func (p *partner) call(r request) (status int, answer string) {
	pause, x := time.Second, p.ask(r)
	p.asks++
	defer func() {
		p.asks--
		x.close()
	}()
	for x.tries = 1; x.tries <= mostTries; x.tries++ {
		if status, answer = p.try(r); !p.again(status, answer) {
			x.status, x.answer = status, answer
			x.judge()
			return status, answer
		}
		if r.givesUp && x.tries == 1 && changedNothing(status, answer) {
			return status, answer
		}
		p.w.sleep(p.w.between(pause/2, pause))
		pause = min(2*pause, time.Minute)
	}
	p.w.broke("%s: %s %s is never answered, but with %d %s", p.id, r.method, r.path, status, answer)
	return status, answer
}

// changedNothing reports whether an answer says that the call had no effect.
func changedNothing(status int, answer string) bool {
	return status == http.StatusInternalServerError && strings.Contains(answer, `"code":"unavailable"`)
}

// mostTries is how often a call is repeated.
const mostTries = 200

// keyed makes a call under an idempotency key, which is repeated at the end.
func (p *partner) keyed(r request) (status int, answer string) {
	status, answer = p.call(r)
	if status < 300 {
		p.answers = append(p.answers, answered{r, status, answer})
	}
	return status, answer
}

// twice makes a call under an idempotency key, and the same at once another time, as impatient
// systems do: something happens once, and both get the same bytes.
func (p *partner) twice(r request) (status int, answer string) {
	var second int
	var same string
	done, twin := make(chan struct{}), r
	twin.repeated = true
	p.w.env.Go(func() {
		second, same = p.call(twin)
		close(done)
	})
	status, answer = p.keyed(r)
	p.w.env.Await(done)
	meanwhile := answered{answer: answer + same}.meanwhile() // one of them came before the outcome was known
	if second != status || status < 300 && same != answer && !meanwhile {
		p.w.broke("%s: %s %s %q was answered %d %s and at once %d %s", p.id, r.method, r.path, r.key, status, answer, second, same)
	}
	return status, answer
}

// try makes a request of one process. Status 0: there was no answer.
func (p *partner) try(r request) (status int, answer string) { return p.tryWith(p.key(r.mode), r) }

func (p *partner) tryWith(key string, r request) (status int, answer string) {
	w := p.w
	sent, err := http.NewRequest(r.method, r.path, strings.NewReader(r.body))
	if err != nil {
		w.broke("%s cannot ask for %s: %v", p.id, r.path, err)
		return 0, ""
	}
	sent.RequestURI, sent.RemoteAddr, sent.Host = r.path, "192.0.2.1:1234", "example.com"
	sent.Header.Set("X-Api-Key", key)
	w.report.Calls++
	trace := fmt.Sprint("call ", w.report.Calls)
	sent.Header.Set("X-Trace-Id", trace)
	if r.key != "" {
		sent.Header.Set("Idempotency-Key", r.key)
	}
	if strings.HasPrefix(r.path, "/sandbox/") {
		sent.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	began, recorded, minute := w.env.Now(), httptest.NewRecorder(), p.minuteOf(r)
	answered, by := w.inside(func(v *server) { v.handler.ServeHTTP(recorded, sent) })
	if answered {
		status, answer = recorded.Code, recorded.Body.String()
	}
	if w.spoil != nil {
		answer = w.spoil(r, by, answer)
	}
	w.sayCall(p.id, r, status, answer, by)
	if status/100 == 2 && !p.shut.IsZero() && began.After(p.shut) && w.env.Since(w.jumped) > time.Minute && !strings.HasPrefix(r.path, "/sandbox/") {
		w.broke("%s is suspended, and %s %s was answered %d %s", p.id, r.method, r.path, status, answer)
	}
	if status >= 500 && strings.Contains(answer, `"code":"internal"`) && !w.parallel() && w.env.Since(w.refusedOn) > time.Minute {
		w.broke("%s: %s %s %q was answered %d %s, and the database had refused nothing", p.id, r.method, r.path, r.key, status, answer)
	}
	if minute.counts(p, began, status, answer); answered {
		p.shape(r, trace, status, answer, recorded.Header())
	}
	w.sim.Tracef("%s: %s %s %q: %d %s", p.id, r.method, r.path, r.key, status, answer)
	return status, answer
}

// hear takes a webhook. Each attempt to deliver an event has the same body.
func (p *partner) hear(r webhook.Request) {
	id, body := r.ID, r.Body
	p.comes(id)
	p.verify(r)
	if before, known := p.heard[id]; known && before != string(body) {
		p.w.broke("%s was sent %s as\n%s\nand as\n%s", p.id, id, before, body)
	}
	p.heard[id] = string(body)
}

// follow reads the feeds now and then.
func (p *partner) follow() {
	for p.w.goesOn(time.Minute, 5*time.Minute) {
		p.catchUp()
	}
}

// catchUp reads the feeds to their ends.
func (p *partner) catchUp() {
	p.page = []int{7, 40, 300}[p.w.lot(3)]
	for p.readEvents() {
	}
	for cursor := "start"; cursor != ""; {
		cursor = p.readProducts(strings.TrimPrefix(cursor, "start"))
	}
	for cursor := "start"; cursor != ""; {
		cursor = p.readOrders(strings.TrimPrefix(cursor, "start"))
	}
}

// readOrders reads a page of the orders that changed since the last one, and returns the cursor
// of the next page.
func (p *partner) readOrders(cursor string) string {
	path := fmt.Sprintf("/v1/orders?limit=%d&updated_since=%d", p.page, p.changed)
	if cursor != "" {
		path += "&cursor=" + cursor
	}
	var page struct {
		Orders []struct {
			UpdatedOn commerce.Millis `json:"updated_on"`
		}
		Next string `json:"next_cursor"`
	}
	p.get(path, &page)
	for _, o := range page.Orders {
		if page.Next == "" {
			p.changed = max(p.changed, o.UpdatedOn)
		}
	}
	return page.Next
}

// readEvents reads a page of the feed of events, and reports whether more may follow.
func (p *partner) readEvents() bool {
	path := fmt.Sprint("/v1/events?limit=", p.page)
	if p.cursor != "" {
		path += "&cursor=" + p.cursor
	}
	var page struct {
		Events []jsontext.Value `json:"events"`
		Next   string           `json:"next_cursor"`
	}
	p.get(path, &page)
	for _, raw := range page.Events {
		var e struct{ ID string }
		if err := decode(raw, &e); err != nil || e.ID <= p.newest {
			p.w.broke("the feed of %s tells %s after %s: %v", p.id, e.ID, p.newest, err)
		}
		if p.newest = e.ID; p.heard[e.ID] == string(raw) { // both are kept until the end
			p.read[e.ID] = p.heard[e.ID]
		} else {
			p.read[e.ID] = string(raw)
		}
	}
	if page.Next != "" {
		p.cursor = page.Next
	}
	return len(page.Events) == p.page
}

// readProducts reads a page of what changed since the last one, and returns the cursor of
// the next page.
func (p *partner) readProducts(cursor string) string {
	path := fmt.Sprintf("/v1/products?active=all&limit=%d&updated_since=%d", p.page, p.since)
	if cursor != "" {
		path += "&cursor=" + cursor
	}
	var page struct {
		Products []struct {
			ID                string          `json:"id"`
			AvailableQuantity int64           `json:"available_quantity"`
			UpdatedOn         commerce.Millis `json:"updated_on"`
		} `json:"products"`
		Next string `json:"next_cursor"`
	}
	p.get(path, &page)
	for _, v := range page.Products {
		p.stock[v.ID] = v.AvailableQuantity
		if page.Next == "" {
			p.since = max(p.since, v.UpdatedOn)
		}
	}
	return page.Next
}

// get reads an answer with the live key.
func (p *partner) get(path string, into any) {
	status, answer := p.call(request{mode: commerce.Live, method: http.MethodGet, path: path})
	if err := decode([]byte(answer), into); err != nil || status != http.StatusOK {
		p.w.broke("%s: GET %s was answered %d %s: %v", p.id, path, status, answer, err)
	}
}

// repeat makes calls under idempotency keys again, up to a thousand of them: nothing
// happens, and the answers are the same bytes.
func (p *partner) repeat() {
	for _, a := range p.answers[max(0, len(p.answers)-1000):] {
		a.repeated = true
		status, answer := p.call(a.request)
		if a.meanwhile() { // what it left open is decided by now
			a.answer = answer
			status, answer = p.call(a.request)
		}
		if status != a.status || answer != a.answer {
			p.w.broke("%s: %s %s %q was answered %d %s and then %d %s", p.id, a.method, a.path, a.key, a.status, a.answer, status, answer)
		}
	}
}

// meanwhile reports whether an answer was one for the meantime, which says more later.
func (a answered) meanwhile() bool {
	return strings.Contains(a.answer, `"created":false`) || strings.Contains(a.answer, `"delivery_cancelled":false`) || strings.Contains(a.answer, `"amount_refunded_cents":0`)
}
