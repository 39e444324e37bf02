package e2e_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"purveyor/internal/testkit/check"
	"purveyor/internal/testkit/history"
)

const (
	historyClients = 8
	slotCalls      = 80
	slotCount      = 40
)

// slot is what the clients of a history make slotCalls calls about, so that they meet on it, and
// the parts of a history stay short.
type slot struct {
	shelf, keys thing
	order       *placed // in the next slot, too
}

// thing is what a part of a history is about.
type thing struct {
	name     string
	products []string // ids
}

// placed is an order, and what its clients have learned of it.
type placed struct {
	thing
	reported bool

	mu       sync.Mutex
	id, page string
	status   string // of the latest answer
	payments int
}

// stock makes the products of a history.
func (r *recorder) stock() {
	r.t.Helper()
	const perSlot = 4
	products := make([]map[string]any, slotCount*perSlot)
	for i := range products {
		products[i] = map[string]any{"store_id": "s1", "category_id": "c1", "name": fmt.Sprintf("History %d, product %d", r.seed, i), "price": 2, "available_quantity": history.Start}
	}
	var made struct {
		Results []struct {
			ID string `json:"product_id"`
		} `json:"results"`
	}
	// A cut that is still set may hit this call, so it has a key and is repeated.
	r.members[0].client.eventuallyStatus(patience, 200, post("/v1/products/bulk-upsert", fmt.Sprint("history ", r.seed), map[string]any{"products": products})).decode(r.t, &made)
	r.slots = make([]slot, slotCount)
	for i := range r.slots {
		var ids []string
		for _, p := range made.Results[i*perSlot : (i+1)*perSlot] {
			ids = append(ids, p.ID)
		}
		name := func(what string) string { return fmt.Sprintf("%s %d.%02d", what, r.seed, i) }
		r.slots[i] = slot{shelf: thing{name("shelf"), ids[:2]}, keys: thing{name("keys"), ids[2:3]},
			order: &placed{thing: thing{name("order"), ids[3:]}, reported: i%2 == 0}}
	}
}

// caller is a client, which calls one process after the other.
type caller struct {
	r      *recorder
	id     int
	random *rand.Rand
	calls  int
}

func (r *recorder) newCaller(id int) *caller {
	return &caller{r: r, id: id, random: rand.New(rand.NewPCG(r.seed, uint64(100+id)))}
}

func (c *caller) run(stop <-chan struct{}) {
	for {
		i := c.r.present()
		switch s := c.r.slots[i]; c.random.IntN(10) {
		case 0, 1, 2, 3:
			c.atShelf(s.shelf)
		case 4, 5:
			c.withKey(s.keys)
		default:
			c.withOrder(c.r.slots[max(0, i-c.random.IntN(2))].order)
		}
		select {
		case <-stop:
			return
		case <-time.After(time.Duration(20+c.random.IntN(80)) * time.Millisecond):
		}
	}
}

// name returns a name for a key or an external id, not used before.
func (c *caller) name() string {
	c.calls++
	return fmt.Sprintf("%d-%d-%d", c.r.seed, c.id, c.calls)
}

// atShelf sells, restocks and looks at two products that sell out again and again.
func (c *caller) atShelf(of thing) {
	switch c.random.IntN(6) {
	case 0:
		c.look(of, c.random.IntN(2))
	case 1:
		c.availability(of)
	case 2, 3:
		c.report(of, c.name(), c.name(), []int64{c.random.Int64N(4), c.random.Int64N(4)})
	default:
		c.adjust(of, c.name(), []int64{c.random.Int64N(7) - 2, c.random.Int64N(7) - 2})
	}
}

// withKey uses a few keys again and again, also at two processes at once, with the same body and
// with another one.
func (c *caller) withKey(of thing) {
	if c.random.IntN(4) == 0 {
		c.look(of, 0)
		return
	}
	call := func(c *caller, what int) {
		if what < 2 {
			c.adjust(of, of.name+" a", []int64{int64(3 + what)})
			return
		}
		c.report(of, of.name+" "+strconv.Itoa(what), of.name, []int64{1})
	}
	first := c.random.IntN(4)
	second := first
	if c.random.IntN(3) == 0 {
		second = c.random.IntN(4)
	}
	twin := &caller{r: c.r, id: c.id + historyClients, random: rand.New(rand.NewPCG(c.random.Uint64(), 0))}
	var both sync.WaitGroup
	both.Go(func() { call(twin, second) })
	call(c, first)
	both.Wait()
}

// withOrder leads an order on, or does something else to it.
func (c *caller) withOrder(o *placed) {
	o.mu.Lock()
	id, page, status := o.id, o.page, o.status
	if o.payments == 3 {
		page = ""
	}
	o.mu.Unlock()
	kind := c.random.IntN(20)
	switch {
	case kind == 0:
		c.look(o.thing, 0)
	case kind < 4:
		c.read(o, id)
	case id == "" || kind == 4:
		c.place(o)
	case kind == 5:
		c.cancel(o, id)
	case page != "" && (status == "pending_payment" || kind == 6 || status == "cancelled" && kind < 12): // also too late
		c.pay(o, page)
	case kind < 10:
		c.advance(o, id, []string{"confirm", "ready", "picked-up"}[c.random.IntN(3)])
	default:
		next := map[string]string{"paid": "confirm", "processed": "ready", "ready_for_pickup": "picked-up"}
		if step, ok := next[status]; ok {
			c.advance(o, id, step)
		} else {
			c.read(o, id)
		}
	}
}

func (c *caller) look(of thing, i int) history.Op {
	return c.call(of, history.Op{Do: "look"}, get("/v1/products/"+of.products[i]))
}

// availability looks at all products at once. It is as a look at each: that one answer is one
// moment is not promised.
func (c *caller) availability(of thing) {
	var items []map[string]any
	for _, p := range of.products {
		items = append(items, map[string]any{"product_id": p, "quantity": 1})
	}
	op := c.send(of, history.Op{Do: "look"}, post("/v1/products/availability", "", map[string]any{"items": items}))
	if op.Have == nil {
		c.r.enter(op)
	}
	for i, n := range op.Have {
		op.Have = slices.Repeat([]int64{history.Untold}, len(of.products))
		op.Have[i] = n
		c.r.enter(op)
	}
}

func (c *caller) adjust(of thing, key string, deltas []int64) {
	var lines []map[string]any
	for i, d := range deltas {
		lines = append(lines, map[string]any{"product_id": of.products[i], "delta": d})
	}
	c.call(of, history.Op{Do: "adjust", Key: key, Amounts: deltas}, post("/v1/inventory/adjustments", key, map[string]any{"adjustments": lines}))
}

func items(of thing, amounts []int64) (list []map[string]any) {
	for i, n := range amounts {
		if n > 0 {
			list = append(list, map[string]any{"product_id": of.products[i], "quantity": n, "price": 2})
		}
	}
	return list
}

func (c *caller) report(of thing, key, external string, amounts []int64) history.Op {
	if len(items(of, amounts)) == 0 {
		amounts[0] = 1
	}
	return c.call(of, history.Op{Do: "report", Key: key, External: external, Amounts: amounts}, post("/v1/orders/report", key, map[string]any{
		"external_order_id": external, "store_id": "s1", "fulfillment_type": "pickup", "items": items(of, amounts)}))
}

// place makes the order, under one key for all clients.
func (c *caller) place(o *placed) {
	op, amounts := history.Op{}, []int64{2}
	if o.reported {
		op = c.report(o.thing, o.name, o.name, amounts)
	} else {
		op = c.call(o.thing, history.Op{Do: "checkout", Key: o.name, Amounts: amounts}, post("/v1/checkout/session", o.name, map[string]any{
			"store_id": "s1", "fulfillment_type": "pickup", "success_url": "https://shop.example/ok", "cancel_url": "https://shop.example/no",
			"items": items(o.thing, amounts)}))
	}
	if op.Status != 201 {
		return
	}
	var body struct {
		URL string `json:"checkout_url"`
	}
	_ = json.Unmarshal([]byte(op.Body), &body)
	o.mu.Lock()
	defer o.mu.Unlock()
	if page, err := url.Parse(body.URL); err == nil {
		o.page = page.Path
	}
	if o.id == "" {
		o.id, o.status = op.Order, map[bool]string{true: "processed", false: "pending_payment"}[o.reported]
	}
}

// pay is what the customer does. The service learns of it some time later, so that its outcome
// stays open, and with it the one of the refund that follows if the order is cancelled.
func (c *caller) pay(o *placed, page string) {
	o.mu.Lock()
	o.payments++
	o.mu.Unlock()
	op := history.Op{Do: "pay", Of: o.name, Client: c.id, Call: c.r.now()}
	i, m := c.process()
	op.Process = i
	_, _ = m.client.with(m.shop.partner.Keys.Test).click(request{method: "POST", path: page})
	op.Return = c.r.now()
	c.r.enter(op)
	op.Do = "refund"
	c.r.enter(op)
}

func (c *caller) read(o *placed, id string) history.Op {
	op := history.Op{Do: "read"}
	path := "/v1/orders/" + id
	switch kind := c.random.IntN(3); {
	case o.reported && (id == "" || kind == 0):
		op.External, path = o.name, "/v1/orders/by-external/"+url.PathEscape(o.name)
	case id == "":
		return c.look(o.thing, 0)
	case kind == 1:
		path += "/ping"
	}
	return c.learned(o, c.call(o.thing, op, get(path)))
}

func (c *caller) advance(o *placed, id, step string) {
	path := map[string]string{"confirm": "/confirm", "ready": "/ready-for-pickup", "picked-up": "/picked-up"}[step]
	c.learned(o, c.call(o.thing, history.Op{Do: step}, post("/v1/orders/"+id+path, "", nil)))
}

func (c *caller) cancel(o *placed, id string) {
	key := fmt.Sprintf("%s %d", o.name, c.random.IntN(2))
	c.learned(o, c.call(o.thing, history.Op{Do: "cancel", Key: key}, post("/v1/orders/"+id+"/cancel", key, map[string]any{})))
}

func (c *caller) learned(o *placed, op history.Op) history.Op {
	if op.State != "" {
		o.mu.Lock()
		defer o.mu.Unlock()
		o.status = op.State
	}
	return op
}

// call makes a call, and most times repeats it under its key, at any process, if its outcome is
// unknown. It returns the latest attempt.
func (c *caller) call(of thing, op history.Op, r request) history.Op {
	for tries := 1; ; tries++ {
		done := c.send(of, op, r)
		c.r.enter(done)
		if !done.Open() || op.Key == "" || tries == 3 || c.random.IntN(4) == 0 {
			return done
		}
		time.Sleep(time.Duration(c.random.IntN(100)) * time.Millisecond) // as partners do
	}
}

func (r *recorder) enter(op history.Op) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.ops = append(r.ops, op)
}

// process draws a process to call.
func (c *caller) process() (i int, m *recorded) {
	for i, m = c.r.any(c.random); m.down.Load(); {
		i, m = c.r.any(c.random)
	}
	return i, m
}

// send makes one attempt.
func (c *caller) send(of thing, op history.Op, req request) history.Op {
	i, m := c.process()
	client := m.client
	if strings.HasPrefix(of.name, "order") {
		client = client.with(m.shop.partner.Keys.Test) // the sandbox takes the payments
	}
	op.Of, op.Client, op.Process, op.Call = of.name, c.id, i, c.r.now()
	a, err := client.send(req)
	if op.Return = c.r.now(); err == nil {
		op.Answer = told(a, of, op.Key != "")
	}
	return op
}

// lookAtAll looks at everything that was called about, once all processes serve and no call is
// under way.
func (r *recorder) lookAtAll() {
	r.t.Helper()
	c := r.newCaller(2 * historyClients)
	until := func(look func() history.Op) {
		check.Eventually(r.t, patience, pollPause, "an answer", func() bool {
			op := look()
			return !op.Open() && op.Code != "unavailable" // whether it may be 404 is up to the history
		})
	}
	for _, s := range r.slots[:r.present()+1] {
		for _, of := range []thing{s.shelf, s.keys, s.order.thing} {
			for i := range of.products {
				until(func() history.Op { return c.look(of, i) })
			}
		}
		if s.order.id != "" {
			until(func() history.Op { return c.read(s.order, s.order.id) })
		}
	}
}
