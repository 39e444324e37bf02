package simulation

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"purveyor/internal/commerce"
	"purveyor/internal/env"
	"purveyor/internal/outside/courier"
	"purveyor/internal/storage"
	"purveyor/internal/storage/storagetest"
	"purveyor/internal/testkit/fixture"
	"purveyor/internal/testkit/sim"
)

// TestMain hides the log of the failures that are provoked here.
func TestMain(m *testing.M) {
	slog.SetDefault(slog.New(slog.DiscardHandler))
	os.Exit(m.Run())
}

// customers at a time, and orders of each.
const (
	customers = 40
	each      = 25
)

// TestOneSeedOneHistory runs a thousand orders with crashes, failing providers,
// lost and late answers, and storage errors twice from one seed, and compares
// every commit, call and answer of both runs. Then nothing may be wrong: stock,
// ledger, deliveries, webhooks, and keys.
func TestOneSeedOneHistory(t *testing.T) {
	orders := each
	if testing.Short() {
		orders = 2
	}
	for _, seed := range seeds() {
		first := make(chan string)
		go func() { first <- run(t, seed, orders) }()
		second := run(t, seed, orders)
		compare(t, <-first, second)
		for _, fault := range []string{" is killed\n", ": unreachable, ", ": answer lost, ", ": late, ", `": 0 ` + "\n", `"code":"in_progress"`} {
			if !testing.Short() && !strings.Contains(second, fault) {
				t.Errorf("nothing in the history of seed %d looks like %q: the test has lost its faults", seed, fault)
			}
		}
	}
}

// seeds are those of the environment variable SEED, which repeats one history, or
// the first.
func seeds() []uint64 {
	if seed, err := strconv.ParseUint(os.Getenv("SEED"), 10, 64); err == nil {
		return []uint64{seed}
	}
	return []uint64{1}
}

// compare shows where two histories part.
func compare(t *testing.T, a, b string) {
	t.Helper()
	if a == b {
		return
	}
	one, two := strings.Split(a, "\n"), strings.Split(b, "\n")
	for i := range min(len(one), len(two)) {
		if one[i] != two[i] {
			t.Fatalf("the histories part at line %d of %d and %d:\n%s\n\n%s", i+1, len(one), len(two),
				strings.Join(one[max(0, i-3):i+1], "\n"), strings.Join(two[max(0, i-3):i+1], "\n"))
		}
	}
	t.Fatalf("one history has %d lines, the other %d", len(one), len(two))
}

// run gives the history of a seed, once everything has come to its end.
func run(t *testing.T, seed uint64, orders int) string {
	t.Helper()
	s := sim.New(seed)
	s.Run(func(e env.Env) {
		w := newWorld(t, s, e)
		w.serve()
		w.serve()
		w.faulty = true
		e.Go(w.crashes)
		var shop, repeat []func()
		for n := range customers {
			c := &customer{w: w, name: fmt.Sprint("customer ", n), orders: orders}
			shop, repeat = append(shop, c.shop), append(repeat, c.repeat)
		}
		e.Together(shop...)
		w.faulty = false
		w.finishJobs()
		e.Together(repeat...)
		w.check()
	})
	return s.Trace()
}

// crashes kills a process now and then, and starts another.
func (w *world) crashes() {
	for w.faulty {
		_ = w.pause(context.Background(), w.env, 20*time.Second)
		w.kill(w.sim.Lots().IntN(len(w.servers)))
		_ = w.pause(context.Background(), w.env, 3*time.Second)
		w.serve()
	}
}

// finishJobs waits until every job is done.
func (w *world) finishJobs() {
	for range 24 * 60 {
		left := 0
		for _, state := range []commerce.JobState{commerce.JobWaiting, commerce.JobParked} {
			list, err := w.reader.Jobs(context.Background(), storage.JobFilter{State: state, Owner: partnerOf(state), Limit: 1})
			if err != nil {
				w.t.Error(err)
			}
			left += len(list)
		}
		if left == 0 {
			return
		}
		_ = w.env.Sleep(context.Background(), time.Minute)
	}
	list, _ := w.reader.Jobs(context.Background(), storage.JobFilter{State: commerce.JobWaiting, Limit: 5})
	w.t.Errorf("after a day there are jobs left: %+v", list)
}

// partnerOf is the owner that parked jobs are looked for by.
func partnerOf(state commerce.JobState) string {
	if state == commerce.JobParked {
		return fixture.PartnerID
	}
	return ""
}

// customer places one order after the other.
type customer struct {
	w        *world
	name     string
	orders   int
	placed   int
	answered []answered
}

func (c *customer) shop() {
	for range c.orders {
		c.placed++
		c.order()
		_ = c.w.pause(context.Background(), c.w.env, 2*time.Second)
	}
}

const door = `{"name": "Ann Lee", "email": "ann@example.com", "phone": "+15185550111", "address": {"line1": "20 Oak St", "city": "Albany", "state": "NY", "postal_code": "12208", "country": "US"}}`

// order is one order from its first call to its end.
func (c *customer) order() {
	lots := c.w.sim.Lots()
	delivery, paidHere, fate := lots.IntN(2) == 0, lots.IntN(2) == 0, lots.IntN(6)
	items := fmt.Sprintf(`"store_id": %q, "items": [{"product_id": %q, "quantity": %d, "price": 925}]`, fixture.StoreID, fixture.ProductID(lots.IntN(products)), 1+lots.IntN(3))
	where := `, "fulfillment_type": "pickup"`
	if delivery {
		where = `, "fulfillment_type": "delivery", "delivery_address": ` + door
	}
	path, body := "/v1/orders/report", fmt.Sprintf(`{"external_order_id": "%s-%d", %s%s}`, c.name, c.placed, items, where)
	if paidHere {
		path = "/v1/checkout/session"
		body = fmt.Sprintf(`{%s%s, "success_url": "https://p.example/s", "cancel_url": "https://p.example/c"}`, strings.Replace(items, `, "price": 925`, "", 1), where)
	}
	made := c.keyed(path, "order", body, http.StatusCreated)
	id, ok := made["order_id"].(string)
	if !ok {
		return // the test has failed
	}
	if paidHere {
		if fate == 0 { // the order is not paid
			if c.placed%2 == 0 { // and otherwise the customer goes away
				c.cancel(id)
			}
			return
		}
		c.pay(fmt.Sprint(made["checkout_url"]))
		c.reaches(id, "paid")
		if fate == 1 {
			c.cancel(id)
			return
		}
		c.call(http.MethodPost, "/v1/orders/"+id+"/confirm", "", "", http.StatusOK)
	}
	switch {
	case delivery:
		c.reaches(id, "delivered")
	default:
		c.call(http.MethodPost, "/v1/orders/"+id+"/ready-for-pickup", "", "", http.StatusOK)
		c.call(http.MethodPost, "/v1/orders/"+id+"/picked-up", "", "", http.StatusOK)
	}
	if fate == 2 && paidHere {
		c.keyed("/v1/orders/"+id+"/refund", "part", `{"amount_cents": 100, "reason": "it was stale"}`, http.StatusOK)
	}
	if fate <= 3 && paidHere && fate >= 2 {
		c.keyed("/v1/orders/"+id+"/refund", "rest", `{"reason": "it was stale"}`, http.StatusOK)
	}
}

func (c *customer) cancel(id string) {
	c.keyed("/v1/orders/"+id+"/cancel", "cancel", `{"reason": "not today", "refund": true}`, http.StatusOK)
}

// answered is a call under an idempotency key, and the order that its answer named.
type answered struct {
	path, key, body string
	status          int
	order           string
}

// keyed makes a call under an idempotency key.
func (c *customer) keyed(path, key, body string, want int) map[string]any {
	key = fmt.Sprintf("%s %d %s", c.name, c.placed, key)
	var read map[string]any
	if err := json.Unmarshal([]byte(c.call(http.MethodPost, path, key, body, want)), &read); err != nil {
		c.w.t.Error(err)
	}
	order, _ := read["order_id"].(string)
	c.answered = append(c.answered, answered{path, key, body, want, order})
	return read
}

// repeat makes all calls again, twice: nothing happens, and the answers are the
// same, about the order that the first answer named.
func (c *customer) repeat() {
	for _, a := range c.answered {
		once, twice := c.call(http.MethodPost, a.path, a.key, a.body, a.status), c.call(http.MethodPost, a.path, a.key, a.body, a.status)
		if once != twice || !strings.Contains(once, `"order_id":"`+a.order+`"`) {
			c.w.t.Errorf("%s %s about order %s was answered\n%s\nand then\n%s", a.path, a.key, a.order, once, twice)
		}
	}
}

// reaches looks at an order until it has a status.
func (c *customer) reaches(id, status string) {
	for range 2000 {
		if strings.Contains(c.call(http.MethodGet, "/v1/orders/"+id, "", "", http.StatusOK), `"status":"`+status+`"`) {
			return
		}
		_ = c.w.env.Sleep(context.Background(), 5*time.Second)
	}
	c.w.t.Errorf("order %s never is %s: %s", id, status, c.call(http.MethodGet, "/v1/orders/"+id, "", "", http.StatusOK))
}

// pay pays on the page of the sandbox.
func (c *customer) pay(url string) {
	c.call(http.MethodPost, strings.TrimPrefix(url, publicURL), "", "outcome=pay", http.StatusSeeOther)
}

// call makes a request, of any process, until it has a final answer. The customer
// asks again when a process dies, or does not answer within 30 s.
func (c *customer) call(method, path, key, body string, want int) string {
	for range 500 {
		status, answer := c.try(method, path, key, body)
		switch {
		case status == want:
			return answer
		case status == 0, status == http.StatusTooManyRequests, status >= http.StatusInternalServerError, strings.Contains(answer, `"code":"in_progress"`):
			_ = c.w.pause(context.Background(), c.w.env, 3*time.Second)
		default:
			c.w.t.Errorf("%s %s %s %s: %d %s", method, path, key, body, status, answer)
			return answer
		}
	}
	c.w.t.Errorf("%s %s is never answered", method, path)
	return ""
}

// try makes a request of one process. Status 0: there was no answer.
func (c *customer) try(method, path, key, body string) (status int, answer string) {
	w := c.w
	if len(w.servers) == 0 {
		return 0, ""
	}
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	v := w.servers[w.sim.Lots().IntN(len(w.servers))]
	r := httptest.NewRequestWithContext(ctx, method, path, strings.NewReader(body))
	r.Header.Set("X-Api-Key", testKey)
	if key != "" {
		r.Header.Set("Idempotency-Key", key)
	}
	if strings.HasPrefix(path, "/sandbox/") {
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	recorded, done := httptest.NewRecorder(), make(chan struct{})
	v.process.Go(func() {
		v.handler.ServeHTTP(recorded, r)
		close(done)
	})
	if w.env.Wait(30*time.Second, done, v.process.Died()) == 0 {
		status, answer = recorded.Code, recorded.Body.String()
	}
	w.sim.Tracef("%s: %s %s %q: %d %s", c.name, method, path, key, status, answer)
	return status, answer
}

// check looks for anything that went wrong.
func (w *world) check() {
	ctx, t := context.Background(), w.t
	storagetest.CheckStock(t, w.reader)
	left, held := map[string]int64{}, map[string]int64{}
	for n := range products {
		left[fixture.ProductID(n)] = quantity
	}
	orders, made := w.db.Orders(), w.deliveries()
	if len(orders) == 0 {
		t.Error("nothing was ordered")
	}
	for _, o := range orders {
		for _, l := range o.Lines {
			if o.HeldUntil != 0 {
				held[l.ProductID] += l.Quantity
			}
			if o.HeldUntil != 0 || o.InventoryDeducted {
				left[l.ProductID] -= l.Quantity
			}
		}
		if o.HeldUntil != 0 && o.Status != commerce.Paid && o.Beneath() != commerce.Paid {
			t.Errorf("order %s is %s, and goods are held for it", o.ID, o.Status)
		}
		w.checkMoney(ctx, o)
		want := 0
		if o.Status == "delivered" || o.Fulfillment == commerce.ByDelivery && o.Confirmed && o.Status == commerce.Refunded {
			want = 1
		}
		if made[o.ID] != want {
			t.Errorf("order %s is %s, and %d deliveries were made for it", o.ID, o.Status, made[o.ID])
		}
	}
	for n := range products {
		stock, err := w.reader.Stock(ctx, []string{fixture.ProductID(n)})
		id := fixture.ProductID(n)
		if got := stock[id]; err != nil || got.Quantity != left[id] || got.Held != held[id] {
			t.Errorf("%+v, but %d were neither sold nor held, and %d are held: %v", got, left[id], held[id], err)
		}
	}
	if open := w.db.OpenReplies(); len(open) > 0 {
		t.Errorf("%d keys are open: %+v", len(open), open[0])
	}
	w.checkEvents(ctx)
}

// deliveries counts what the couriers were given to bring, by order.
func (w *world) deliveries() map[string]int {
	made := map[string]int{}
	for _, o := range w.db.SandboxObjects() {
		if !strings.HasPrefix(o.ID, courier.SandboxObjects+"_") {
			continue
		}
		var d struct{ Ref string }
		if err := json.Unmarshal(o.Data, &d); err != nil {
			w.t.Error(err)
		}
		order, _, _ := commerce.ParseDeliveryRef(d.Ref)
		made[order]++
	}
	return made
}

func (w *world) checkMoney(ctx context.Context, o commerce.Order) {
	paid, err := w.reader.Payment(ctx, o.Key())
	if err != nil { // it was paid elsewhere
		return
	}
	account := commerce.Account{Order: o, Payment: paid}
	var errs [3]error
	account.Entries, errs[0] = w.reader.Ledger(ctx, o.Key())
	account.Refunds, errs[1] = w.reader.Refunds(ctx, o.Key())
	account.Attention, errs[2] = w.reader.Attention(ctx, o.Key())
	if faults := account.Faults(); len(faults) > 0 || errs != [3]error{} {
		w.t.Errorf("order %s: %v, %v", o.ID, faults, errs)
	}
}

// checkEvents: the partner took every webhook.
func (w *world) checkEvents(ctx context.Context) {
	page, err := w.reader.EventPage(ctx, storage.EventFilter{PartnerID: fixture.PartnerID, Limit: 1_000_000})
	if err != nil || len(page.Events) == 0 {
		w.t.Errorf("%d events, %v", len(page.Events), err)
	}
	for _, e := range page.Events {
		if !w.delivered[e.ID] {
			w.t.Errorf("the partner never got %s of order %s", e.Kind, e.OrderID)
		}
	}
}
