package e2e_test

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"purveyor/internal/testkit/check"
)

// oldDatabases holds the fixtures of TestOldDatabase.
const oldDatabases = "testdata/5d17b42"

// exchange is a request to the old program, and its answer.
type exchange struct {
	APIKey string          `json:"api_key"`
	Path   string          `json:"path"`
	Key    string          `json:"idempotency_key"`
	Body   json.RawMessage `json:"body"`
	Status int             `json:"status"` // 0: it was under way when the old program was killed
	Answer string          `json:"answer"`
}

// oldShop describes a database of the old program.
type oldShop struct {
	MadeOn    int64             `json:"made_on"`  // Unix ms
	Partners  map[string]issued `json:"partners"` // by name
	Exchanges []exchange        `json:"exchanges"`
}

// TestMakeOldDatabase makes the fixtures of TestOldDatabase with the program that the
// environment names. scripts/old-database runs it.
func TestMakeOldDatabase(t *testing.T) {
	old := os.Getenv("PURVEYOR_OLD_BINARY")
	if old == "" {
		t.Skip("PURVEYOR_OLD_BINARY names no program (scripts/old-database)")
	}
	present := programPath
	programPath = old // no test runs at the same time
	t.Cleanup(func() { programPath = present })
	check.OK(t, os.MkdirAll(oldDatabases, 0o755))
	t.Run("sqlite", func(t *testing.T) {
		s := &shop{t: t, dir: t.TempDir()}
		made := useOldShop(s)
		dump, err := exec.Command("sqlite3", s.path(), ".dump").Output()
		check.OK(t, err)
		numbers := fmt.Sprintf("PRAGMA user_version=%s;\nPRAGMA application_id=%s;\n", s.count("PRAGMA user_version"), s.count("PRAGMA application_id"))
		// A reader of the database keeps a transaction open.
		script := strings.NewReplacer("\nBEGIN TRANSACTION;", "", "\nCOMMIT;", "").Replace(string(dump))
		made.keep(t, "sqlite", []byte(script+numbers))
	})
	t.Run("postgres", func(t *testing.T) {
		s := &shop{t: t, postgres: database(t)}
		made := useOldShop(s)
		dump, err := exec.Command("pg_dump", "--format=plain", "--no-owner", "--no-privileges", s.postgres).Output()
		check.OK(t, err)
		made.keep(t, "postgres", dump)
	})
}

func (made oldShop) keep(t *testing.T, name string, dump []byte) {
	t.Helper()
	data, err := json.MarshalIndent(made, "", " ")
	check.OK(t, err)
	check.OK(t, os.WriteFile(filepath.Join(oldDatabases, name+".json"), append(data, '\n'), 0o644))
	var packed bytes.Buffer
	w := gzip.NewWriter(&packed)
	_, err = w.Write(dump)
	check.OK(t, errors.Join(err, w.Close()))
	check.OK(t, os.WriteFile(filepath.Join(oldDatabases, name+".sql.gz"), packed.Bytes(), 0o644))
}

// oldUser makes requests, and records them with their answers.
type oldUser struct {
	t       *testing.T
	shop    *shop
	base    string
	mu      sync.Mutex
	made    oldShop
	pending sync.WaitGroup
}

// call makes a request with a key, and returns its answer.
func (u *oldUser) call(key, path string, body map[string]any) (a answer) {
	u.t.Helper()
	data, err := json.Marshal(body)
	check.OK(u.t, err)
	e := exchange{APIKey: key, Path: path, Body: data}
	u.mu.Lock()
	e.Key = fmt.Sprintf("old-%d", len(u.made.Exchanges))
	at := len(u.made.Exchanges)
	u.made.Exchanges = append(u.made.Exchanges, e)
	u.mu.Unlock()
	a, err = newClient(u.t, u.base, key).send(post(path, e.Key, string(data)))
	if err != nil {
		return a // the program was killed
	}
	if underWay(a) {
		return a
	}
	u.mu.Lock()
	defer u.mu.Unlock()
	u.made.Exchanges[at].Status, u.made.Exchanges[at].Answer = a.status, string(a.body)
	return a
}

func (u *oldUser) must(status int, key, path string, body map[string]any) answer {
	u.t.Helper()
	a := u.call(key, path, body)
	if a.status != status {
		u.t.Fatalf("%s %v: status %d, want %d: %s", path, body, a.status, status, a.body)
	}
	return a
}

// later makes a request that has no answer when the program is killed.
func (u *oldUser) later(key, path string, body map[string]any) {
	u.pending.Go(func() { u.call(key, path, body) })
}

// underWay reports whether an answer is not the final one of its key.
func underWay(a answer) bool {
	return meanwhile(a) || a.status == 409 && strings.Contains(string(a.body), `"code":"in_progress"`) ||
		strings.Contains(string(a.body), `"amount_refunded_cents":0`)
}

// advance takes an order through steps that need no key.
func (u *oldUser) advance(key, orderID string, steps ...string) {
	u.t.Helper()
	for _, step := range steps {
		newClient(u.t, u.base, key).must(200, post("/v1/orders/"+orderID+"/"+step, "", map[string]any{}))
	}
}

func (u *oldUser) partner(name string, flags ...string) issued {
	u.t.Helper()
	made := u.shop.newPartner(append([]string{"--name", name, "--rate-limit", "10000000"}, flags...)...)
	u.made.Partners[name] = made
	return made
}

// useOldShop has the program serve a shop, uses everything that leaves traces in the
// database, and kills it.
func useOldShop(s *shop) oldShop {
	s.t.Helper()
	u := &oldUser{t: s.t, shop: s, made: oldShop{Partners: map[string]issued{}}}
	s.operate("import", s.file("catalog.json", oldCatalog())).ok(s.t)
	closed := "http://127.0.0.1:9" // a port without a server
	alfa := u.partner("Alfa", "--callback-url", closed+"/alfa", "--callback-secret", "whsec_b2xk")
	beta := u.partner("Beta")
	delta := u.partner("Delta", "--store", "s1", "--scope", "write_orders")
	gamma := u.partner("Gamma", "--callback-url", closed+"/gamma")
	p, base := serve(s.t, s.url(), "--sandbox-step", "200ms", allowPrivate)
	u.base = base

	u.catalog(alfa.Keys.Live)
	for i := range 7 { // the endpoint of Alfa fails often enough to be held
		u.must(201, alfa.Keys.Live, "/v1/orders/report", oldReport(fmt.Sprintf("A-%d", i), nil))
		u.must(201, beta.Keys.Live, "/v1/orders/report", oldReport(fmt.Sprintf("A-%d", i), nil))
	}
	for i := range 3 {
		u.must(201, gamma.Keys.Live, "/v1/orders/report", oldReport(fmt.Sprintf("G-%d", i), nil))
	}
	u.must(201, delta.Keys.Live, "/v1/orders/report", oldReport("D-0", nil))
	s.operate("partner", "suspend", gamma.PartnerID).ok(s.t)
	u.deliveries(alfa.Keys.Test)
	u.payments(beta.Keys.Test)
	u.eventually("a held endpoint, with parked jobs", `SELECT CASE WHEN EXISTS (SELECT 1 FROM endpoints WHERE held_until > 0) AND
		(SELECT count(*) FROM jobs WHERE state = 'parked') > 5 THEN 'yes' ELSE 'no' END`, "yes")
	u.eventually("deliveries of the first orders", "SELECT '' || count(*) FROM orders WHERE status = 'delivered'", "3")
	u.underWay(alfa.Keys.Test, beta.Keys.Test)
	u.made.MadeOn = time.Now().UnixMilli()
	p.kill()
	u.pending.Wait()
	return u.made
}

func (u *oldUser) eventually(what, query, want string) {
	u.t.Helper()
	check.Eventually(u.t, patience, pollPause, what, func() bool { return u.shop.count(query) == want })
}

// catalog creates and changes products with keys.
func (u *oldUser) catalog(key string) {
	product := map[string]any{"store_id": "s1", "category_id": "c1", "name": "Made by a partner", "price": 12.5, "available_quantity": 40, "images": []string{"https://img.example/1.png"}}
	var made struct {
		ID string `json:"product_id"`
	}
	u.must(200, key, "/v1/products/upsert", product).decode(u.t, &made)
	u.must(200, key, "/v1/products/upsert", map[string]any{"id": made.ID, "store_id": "s1", "category_id": "c1", "name": "Changed by a partner"})
	u.must(200, key, "/v1/inventory/adjustments", map[string]any{"adjustments": []map[string]any{{"product_id": made.ID, "delta": -3}, {"product_id": "p1", "delta": 0}}})
}

// deliveries are under way, delivered, given up, and not begun.
func (u *oldUser) deliveries(key string) {
	for i, line2 := range []string{"", "sandbox:twice", "sandbox:skip-pickup", "sandbox:cancel-always", "sandbox:return"} {
		u.must(201, key, "/v1/orders/report", oldReport(fmt.Sprintf("T-%d", i), oldAddress(line2)))
	}
	var cancelled struct {
		ID string `json:"order_id"`
	}
	u.must(201, key, "/v1/orders/report", oldReport("T-cancelled", oldAddress("sandbox:never-assigned"))).decode(u.t, &cancelled)
	u.must(200, key, "/v1/orders/"+cancelled.ID+"/cancel", map[string]any{"reason": "changed my mind"})
	u.must(201, key, "/v1/orders/report", oldReport("T-flagged", oldAddress("sandbox:no-couriers")))
}

// payments are open, paid, confirmed, refunded in part and in full, and refused.
func (u *oldUser) payments(key string) {
	u.checkout(key, "open@example.com", "p1", 2)
	u.checkout(key, "jo+decline@example.com", "q1", 1)
	paid := u.pay(key, "paid@example.com", "p2")
	confirmed := u.pay(key, "confirmed@example.com", "p3")
	u.advance(key, confirmed, "confirm", "ready-for-pickup", "picked-up")
	u.must(200, key, "/v1/orders/"+confirmed+"/refund", map[string]any{"amount_cents": 100, "reason": "a part"})
	u.must(200, key, "/v1/orders/"+confirmed+"/refund", map[string]any{})
	u.must(200, key, "/v1/orders/"+paid+"/cancel", map[string]any{"refund": true})
	first, second := u.pay(key, "first@example.com", "last"), u.pay(key, "second@example.com", "last")
	u.advance(key, first, "confirm")
	newClient(u.t, u.base, key).must(409, post("/v1/orders/"+second+"/confirm", "", map[string]any{})) // flagged: the stock is gone
}

// underWay has the program killed in the middle of checkouts, refunds, cancellations
// and deliveries.
func (u *oldUser) underWay(alfa, beta string) {
	for i := range 2 { // with a phone number alone
		driving := oldReport(fmt.Sprintf("T-driving-%d", i), oldAddress(""))
		delete(driving, "customer_email")
		delete(driving["delivery_address"].(map[string]any), "email")
		u.must(201, alfa, "/v1/orders/report", driving)
	}
	refunded := u.pay(beta, "jo+refund-unreachable@example.com", "p4")
	cancelled := u.pay(beta, "jo+refund-unreachable@example.com", "p5")
	u.advance(beta, refunded, "confirm", "ready-for-pickup", "picked-up")
	u.later(beta, "/v1/orders/"+refunded+"/refund", map[string]any{"amount_cents": 150})
	u.later(beta, "/v1/orders/"+cancelled+"/cancel", map[string]any{"refund": true})
	u.later(beta, "/v1/checkout/session", oldCheckout("jo+session-unreachable@example.com", "p1", 1))
	u.later(beta, "/v1/checkout/session", oldCheckout("jo+slow@example.com", "p1", 1))
	u.later(alfa, "/v1/orders/report", oldReport("T-slow", oldAddress("sandbox:slow")))
	u.eventually("what is under way to be stored", "SELECT '' || count(*) FROM replies WHERE job_id <> ''", "6") // one of them is of the order without a courier
}

func (u *oldUser) checkout(key, email, product string, quantity int) (orderID, page string) {
	u.t.Helper()
	var made struct {
		OrderID string `json:"order_id"`
		URL     string `json:"checkout_url"`
	}
	u.must(201, key, "/v1/checkout/session", oldCheckout(email, product, quantity)).decode(u.t, &made)
	where, err := url.Parse(made.URL)
	check.OK(u.t, err)
	return made.OrderID, where.Path
}

func (u *oldUser) pay(key, email, product string) (orderID string) {
	u.t.Helper()
	orderID, page := u.checkout(key, email, product, 1)
	a, err := newClient(u.t, u.base, "").click(request{method: "POST", path: page})
	if err != nil || a.status != 303 {
		u.t.Fatalf("payment: status %d, %v: %s", a.status, err, a.body)
	}
	u.eventually("the payment", "SELECT status FROM orders WHERE id = '"+orderID+"'", "paid")
	return orderID
}

func oldCheckout(email, product string, quantity int) map[string]any {
	return map[string]any{"store_id": oldStore(product), "fulfillment_type": "pickup", "customer_email": email,
		"success_url": "https://shop.example/ok?session={CHECKOUT_SESSION_ID}", "cancel_url": "https://shop.example/no",
		"items": []map[string]any{{"product_id": product, "quantity": quantity}}}
}

// oldReport is a pickup order, or, with an address, one to deliver. The customers
// have an e-mail address and a phone number.
func oldReport(external string, address map[string]any) map[string]any {
	body := map[string]any{"external_order_id": external, "store_id": "s1", "fulfillment_type": "pickup", "customer_email": "ann@example.com",
		"items": []map[string]any{{"product_id": "p1", "quantity": 1, "price": 100}, {"product_id": "p2", "quantity": 2, "price": 190}}}
	if address != nil {
		body["fulfillment_type"], body["delivery_address"] = "delivery", address
	}
	return body
}

func oldAddress(line2 string) map[string]any {
	return map[string]any{"name": "Ann", "email": "ann@example.com", "phone": "+15125550123", "address": map[string]any{
		"line1": "100 Congress Ave", "line2": line2, "city": "Austin", "state": "TX", "postal_code": "78701", "country": "US"}}
}

func oldCatalog() map[string]any {
	products := []map[string]any{
		{"id": "q1", "name": "Tea", "store_id": "s2", "category_id": "c2", "price": 700, "available_quantity": 50},
		{"id": "last", "name": "The last one", "store_id": "s1", "category_id": "c2", "price": 900, "available_quantity": 1},
	}
	for i := 1; i <= shopProducts; i++ {
		products = append(products, map[string]any{"id": fmt.Sprintf("p%d", i), "name": fmt.Sprintf("Product %d", i), "sku": fmt.Sprintf("SKU-%d", i),
			"store_id": "s1", "category_id": "c1", "price": 100 * i, "available_quantity": 1000})
	}
	place := map[string]any{"address": "200 Lavaca St", "city": "Austin", "state": "TX", "zip_code": "78701", "lat": 30.2653, "lng": -97.7475,
		"phone": "+15125550100", "email": "shop@example.com", "tax_rate_bps": 825}
	first, second := map[string]any{"id": "s1", "name": "First"}, map[string]any{"id": "s2", "name": "Second"}
	for field, value := range place {
		first[field], second[field] = value, value
	}
	return map[string]any{"categories": []map[string]any{{"id": "c1", "name": "Things"}, {"id": "c2", "name": "Others"}},
		"stores": []map[string]any{first, second}, "products": products}
}

func oldStore(product string) string {
	if product == "q1" {
		return "s2"
	}
	return "s1"
}
