package scenario

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"purveyor/internal/commerce"
	"purveyor/internal/storage"
)

// hall makes processes load their batches before any of them saves one: each of them
// does not find the rows that another is about to add.
type hall struct {
	mu      sync.Mutex
	missing int // processes that have not loaded; below 1: no process waits
	open    chan struct{}
}

// guest is the engine of one process.
type guest struct {
	storage.Engine
	hall *hall
	came chan struct{} // the hall's channel of the latest meeting
}

func (h *hall) meet(n int) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.missing, h.open = n, make(chan struct{})
}

// enter waits for the others at the first load of a meeting.
func (g *guest) enter() {
	h := g.hall
	h.mu.Lock()
	open := h.open
	if open == nil || g.came == open {
		h.mu.Unlock()
		return
	}
	g.came = open
	if h.missing--; h.missing == 0 {
		close(open)
	}
	h.mu.Unlock()
	<-open
}

// Load implements storage.Engine.
func (g *guest) Load(ctx context.Context, needs ...commerce.Needs) (storage.Batch, error) {
	b, err := g.Engine.Load(ctx, needs...)
	g.enter()
	return b, err
}

// processes are services on one database.
type processes struct {
	worlds []*world
	hall   *hall // nil: the engine loads one batch at a time
}

func startProcesses(t *testing.T, n int, engine string, open openEngine) *processes {
	p := &processes{}
	opened := open
	if engine == "postgres" {
		p.hall = &hall{}
		opened = func(t *testing.T, now func() time.Time) storage.Engine {
			return &guest{Engine: open(t, now), hall: p.hall}
		}
	}
	c := newClock()
	prepare := func(w *world, t *testing.T) {
		w.addPartners(t)
		w.importCatalog(t, "seven")
	}
	for range n {
		p.worlds = append(p.worlds, openWorld(t, c, opened, prepare))
		prepare = func(*world, *testing.T) {}
	}
	return p
}

// race sends two calls to each process, all at once. With meet, no process saves
// before all of them have loaded.
func (p *processes) race(t *testing.T, meet bool, callOf func(i int) call) []*answer {
	t.Helper()
	if meet && p.hall != nil {
		p.hall.meet(len(p.worlds))
	}
	answers, errs := make([]*answer, 2*len(p.worlds)), make([]error, 2*len(p.worlds))
	var wg sync.WaitGroup
	for i := range answers {
		wg.Go(func() { answers[i], errs[i] = p.worlds[i%len(p.worlds)].exchange(callOf(i)) })
	}
	wg.Wait()
	for i, err := range errs {
		if err != nil {
			t.Fatalf("call %d: %v", i, err)
		}
	}
	return answers
}

// counted counts answers by status and code, and replays.
func counted(answers []*answer) map[string]int {
	n := map[string]int{}
	for _, a := range answers {
		what := fmt.Sprint(a.status)
		if a.status >= http.StatusBadRequest {
			what += " " + a.code()
		} else if a.header.Get("Idempotent-Replayed") != "" {
			what += " replayed"
		}
		n[what]++
	}
	return n
}

func expectCounts(t *testing.T, answers []*answer, want map[string]int) {
	t.Helper()
	if got := counted(answers); !maps.Equal(got, want) {
		t.Errorf("answers %v, want %v", got, want)
	}
}

func expectReplays(t *testing.T, answers []*answer, status int) {
	t.Helper()
	expectCounts(t, answers, map[string]int{fmt.Sprint(status): 1, fmt.Sprint(status, " replayed"): len(answers) - 1})
	for _, a := range answers {
		if string(a.body) != string(answers[0].body) {
			t.Errorf("%s and %s", answers[0].body, a.body)
		}
	}
}

// TestProcessesRace checks that calls that reach several processes at once, about
// rows that do not exist yet, get the answers that they would get one after another.
func TestProcessesRace(t *testing.T) {
	for _, e := range engines {
		t.Run(e.name, func(t *testing.T) {
			t.Parallel()
			p := startProcesses(t, 3, e.name, e.database(t))
			for round := range 4 {
				p.raceCustomers(t, round)
				p.raceExternalID(t, round)
				p.raceKey(t, round)
				p.raceUpsert(t, round)
				p.raceSKUs(t, round)
				p.raceSame(t, round)
			}
			p.worlds[0].finishJobs(t)
		})
	}
}

func fruit(i int) string { return fmt.Sprintf("prd_%03d", i+1) }

// raceCustomers checks that checkouts of one new customer all succeed, and name the
// same customer.
func (p *processes) raceCustomers(t *testing.T, round int) {
	answers := p.race(t, true, func(i int) call {
		return call{method: "POST", path: "/v1/checkout/session", key: "busy-test", idem: fmt.Sprint("customer ", round, i), body: fmt.Sprintf(
			`{"store_id":"sto_north","items":[{"product_id":%q,"quantity":1}],"fulfillment_type":"pickup","success_url":"https://shop.example.com/thanks",
			"cancel_url":"https://shop.example.com/cart","customer_email":"new%d@example.com"}`, fruit(i), round)}
	})
	expectCounts(t, answers, map[string]int{"201": len(answers)})
	var customers []string
	for i, a := range answers {
		var made struct {
			OrderID string `json:"order_id"`
		}
		if err := json.Unmarshal(a.body, &made); err != nil {
			t.Fatal(err)
		}
		var got struct {
			Order struct {
				CustomerID string `json:"customer_id"`
			} `json:"order"`
		}
		read := p.worlds[i%len(p.worlds)].do(t, call{method: "GET", path: "/v1/orders/" + made.OrderID, key: "busy-test"})
		if err := json.Unmarshal(read.body, &got); err != nil || got.Order.CustomerID == "" {
			t.Fatalf("%s: %v", read.body, err)
		}
		customers = append(customers, got.Order.CustomerID)
	}
	if len(slices.Compact(customers)) != 1 {
		t.Errorf("one customer is %v", customers)
	}
}

func reportFruit(external, idem string, product int) call {
	return call{method: "POST", path: "/v1/orders/report", key: "busy", idem: idem, body: fmt.Sprintf(
		`{"external_order_id":%q,"store_id":"sto_north","items":[{"product_id":%q,"quantity":1,"price":100}]}`, external, fruit(product))}
}

// raceExternalID checks that one report is accepted, and that the others get its
// order.
func (p *processes) raceExternalID(t *testing.T, round int) {
	answers := p.race(t, true, func(i int) call {
		return reportFruit(fmt.Sprint("web-", round), fmt.Sprint("external ", round, i), i)
	})
	expectCounts(t, answers, map[string]int{"201": 1, "409 external_order_id_taken": len(answers) - 1})
	var orders []string
	for _, a := range answers {
		orders = append(orders, a.error().OrderID) // of the answer 201, too
	}
	if orders[0] == "" || len(slices.Compact(orders)) != 1 {
		t.Errorf("the answers name the orders %v", orders)
	}
}

// raceKey checks that one of several bodies with the same key is accepted.
func (p *processes) raceKey(t *testing.T, round int) {
	answers := p.race(t, true, func(i int) call {
		return reportFruit(fmt.Sprint("key-", round, i), fmt.Sprint("key ", round), i)
	})
	expectCounts(t, answers, map[string]int{"201": 1, "409 idempotency_key_reused": len(answers) - 1})
}

// raceUpsert checks that one product is created, and that each answer is that of the
// first.
func (p *processes) raceUpsert(t *testing.T, round int) {
	answers := p.race(t, true, func(int) call {
		return call{method: "POST", path: "/v1/products/upsert", key: "busy", idem: fmt.Sprint("upsert ", round),
			body: fmt.Sprintf(`{"store_id":"sto_north","category_id":"cat_fruit","name":"New %d"}`, round)}
	})
	expectReplays(t, answers, http.StatusOK)
}

// raceSKUs checks that one product is created for each new SKU, by one of several calls
// whose lists overlap, and that all others update it.
func (p *processes) raceSKUs(t *testing.T, round int) {
	answers := p.race(t, true, func(i int) call {
		var products []string
		for n := range 3 {
			products = append(products, fmt.Sprintf(`{"store_id":"sto_north","category_id":"cat_fruit","name":"New","sku":"race %d %d"}`, round, (i+n)%3))
		}
		return call{method: "POST", path: "/v1/products/bulk-upsert", key: "busy", body: `{"match":"sku","products":[` + strings.Join(products, ",") + `]}`}
	})
	made, created := map[string]bool{}, 0
	for _, a := range answers {
		var done struct {
			Created, Failed int
			Results         []struct {
				ProductID string `json:"product_id"`
			}
		}
		if err := json.Unmarshal(a.body, &done); err != nil || a.status != http.StatusOK || done.Failed != 0 || len(done.Results) != 3 {
			t.Fatalf("%v: %d %s", err, a.status, a.body)
		}
		created += done.Created
		for _, r := range done.Results {
			made[r.ProductID] = true
		}
	}
	if created != 3 || len(made) != 3 {
		t.Errorf("%d products were created for 3 SKUs, and the answers name %v", created, made)
	}
}

// raceSame sends the same call of each kind with one key; the calls meet at its
// stock.
func (p *processes) raceSame(t *testing.T, round int) {
	answers := p.race(t, false, func(int) call { return reportFruit(fmt.Sprint("same-", round), fmt.Sprint("same ", round), 6) })
	expectReplays(t, answers, http.StatusCreated)
	answers = p.race(t, false, func(int) call { return checkout(fmt.Sprint("same ", round), "same@example.com", 1).of(fruit(6)) })
	expectReplays(t, answers, http.StatusCreated)
	answers = p.race(t, false, func(int) call {
		return call{method: "POST", path: "/v1/inventory/adjustments", key: "busy", idem: fmt.Sprint("same ", round),
			body: fmt.Sprintf(`{"adjustments":[{"product_id":%q,"delta":1}]}`, fruit(6))}
	})
	expectReplays(t, answers, http.StatusOK)
}

// of returns the checkout for another product.
func (c call) of(product string) call {
	c.body = strings.ReplaceAll(c.body, "prd_roll", product)
	return c
}
