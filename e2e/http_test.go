package e2e_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
)

// Limits by address use the address that a trusted proxy reports, and otherwise the
// peer's.
func TestTrustedProxy(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	knock := func(c *client, forwarded string) int {
		req, err := http.NewRequestWithContext(t.Context(), "GET", c.base+"/v1/health", nil)
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("X-Forwarded-For", forwarded)
		a, err := c.do(req)
		if err != nil {
			t.Fatal(err)
		}
		return a.status
	}
	for _, c := range []struct {
		flags   []string
		another int // answer to another caller behind the same proxy
	}{
		{[]string{"--trusted-proxy", "10.0.0.0/8", "--trusted-proxy", "127.0.0.0/8"}, 401},
		{nil, 429},
	} {
		_, client := s.serve(c.flags...)
		refused := 0
		for range 2 * 120 { // a minute may end in between
			if knock(client, "203.0.113.1, 198.51.100.7, 10.1.2.3") == 429 {
				refused++
			}
		}
		if another := knock(client, "198.51.100.7, 198.51.100.8"); refused == 0 || another != c.another {
			t.Errorf("%q: one is refused %d times, another is answered %d", c.flags, refused, another)
		}
	}
}

// Without the sandbox, test orders get the answers that live orders get without a
// provider, and the sandbox's pages are gone. The log at the start says what serves
// test orders.
func TestSandboxOff(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	p, _ := s.serve()
	expectProviders(t, p, "sandbox")
	p.kill()
	p, live := s.serve("--sandbox", "off")
	expectProviders(t, p, "none")
	c := live.with(s.partner.Keys.Test)
	a, err := c.send(post("/v1/checkout/session", "k1", map[string]any{"store_id": "s1", "items": []map[string]any{{"product_id": "p1", "quantity": 1}},
		"fulfillment_type": "pickup", "success_url": "https://e.example/", "cancel_url": "https://e.example/"}))
	if err != nil {
		t.Fatal(err)
	}
	if message := a.refusal(t, 500, "payment_not_configured"); !strings.Contains(message, "test orders") || !strings.Contains(message, "PURVEYOR_SANDBOX=on") {
		t.Error(message)
	}
	to := map[string]any{"name": "Jo", "phone": "+15125550123", "address": map[string]any{"line1": "500 E 4th St", "city": "Austin", "state": "TX", "postal_code": "78701", "country": "US"}}
	if a, err = c.send(post("/v1/delivery/quote", "", map[string]any{"store_id": "s1", "delivery_address": to})); err != nil {
		t.Fatal(err)
	}
	if message := a.refusal(t, 500, "courier_not_configured"); !strings.Contains(message, "test orders") || !strings.Contains(message, "PURVEYOR_SANDBOX=on") {
		t.Error(message)
	}
	var reported struct {
		Status   string `json:"status"`
		Delivery struct {
			Created bool `json:"created"`
		} `json:"delivery"`
	}
	c.must(201, post("/v1/orders/report", "k2", map[string]any{"external_order_id": "x", "store_id": "s1",
		"items": []map[string]any{{"product_id": "p1", "quantity": 1, "price": 100}}, "delivery_address": to})).decode(t, &reported)
	if reported.Status != "processed" || reported.Delivery.Created {
		t.Errorf("%+v", reported)
	}
	for _, path := range []string{"/sandbox/pay/cs_test_" + strings.Repeat("0", 40), "/sandbox/track/x", "/sandbox/couriers/1.svg"} {
		a, err := c.send(get(path))
		if err != nil {
			t.Fatal(err)
		}
		a.refusal(t, 404, "not_found")
	}
}

// The requests for a page of the sandbox are limited per address.
func TestSandboxPagesAreLimited(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	_, c := s.serve()
	statuses := map[int]int{}
	for i := range 2 * 121 { // a minute may end in between
		a, err := c.send(get(fmt.Sprintf("/sandbox/pay/cs_test_%040d", i)))
		if err != nil {
			t.Fatal(err)
		}
		statuses[a.status]++
	}
	if statuses[404] < 120 || statuses[429] == 0 || len(statuses) != 2 {
		t.Errorf("%v", statuses)
	}
}

func TestListenEverywhere(t *testing.T) {
	t.Parallel()
	for _, listen := range []string{"0.0.0.0:0", ":0", "[::]:0"} {
		for _, command := range []string{"serve", "demo"} {
			operate(t, command, "--listen", listen).refused(t, 1, "--public-url http://localhost:0", listen)
		}
	}
}

func expectProviders(t *testing.T, p *process, test string) {
	t.Helper()
	log := p.stderr.String()
	for _, want := range []string{" payments.live=none payments.test=" + test + " ", " couriers.live=[] couriers.test=" + test + " "} {
		if !strings.Contains(log, want) {
			t.Errorf("%s is missing in %s", want, log)
		}
	}
}
