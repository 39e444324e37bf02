package e2e_test

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"purveyor/internal/testkit/check"
)

// client is a partner with one key.
type client struct {
	t         *testing.T
	base, key string
	http      *http.Client
}

func newClient(t *testing.T, base, key string) *client {
	transport := &http.Transport{MaxIdleConnsPerHost: 64}
	t.Cleanup(transport.CloseIdleConnections)
	return &client{t, base, key, &http.Client{Transport: transport, Timeout: 2 * patience}}
}

// with returns the same partner with another key.
func (c *client) with(key string) *client {
	other := *c
	other.key = key
	return &other
}

// request is a call of the API.
type request struct {
	method, path string
	key          string // Idempotency-Key
	body         any    // a string is sent as it is, everything else as JSON
}

func get(path string) request { return request{method: "GET", path: path} }

func post(path, key string, body any) request { return request{"POST", path, key, body} }

// answer is the answer to a call.
type answer struct {
	status int
	header http.Header
	body   []byte
}

func (c *client) httpRequest(r request) (*http.Request, error) {
	var body io.Reader
	switch v := r.body.(type) {
	case nil:
	case string:
		body = strings.NewReader(v)
	default:
		data, err := json.Marshal(v)
		if err != nil {
			return nil, err
		}
		body = bytes.NewReader(data)
	}
	req, err := http.NewRequestWithContext(c.t.Context(), r.method, c.base+r.path, body)
	if err != nil {
		return nil, err
	}
	req.GetBody = nil // a request counts as sent once, so the transport must not repeat it
	if c.key != "" {
		req.Header.Set("X-Api-Key", c.key)
	}
	if r.key != "" {
		req.Header.Set("Idempotency-Key", r.key)
	}
	if body != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	return req, nil
}

// send makes the call; the error is one of the transport.
func (c *client) send(r request) (answer, error) {
	req, err := c.httpRequest(r)
	if err != nil {
		return answer{}, err
	}
	return c.do(req)
}

func (c *client) do(req *http.Request) (answer, error) {
	res, err := c.http.Do(req)
	if err != nil {
		return answer{}, err
	}
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	return answer{res.StatusCode, res.Header, body}, err
}

// must makes the call and expects this status.
func (c *client) must(status int, r request) answer {
	c.t.Helper()
	a, err := c.send(r)
	if err != nil {
		c.t.Fatalf("%s %s: %v", r.method, r.path, err)
	}
	if a.status != status {
		c.t.Fatalf("%s %s: status %d, want %d: %s", r.method, r.path, a.status, status, a.body)
	}
	return a
}

// decode reads the body into v.
func (a answer) decode(t *testing.T, v any) {
	t.Helper()
	if err := json.Unmarshal(a.body, v); err != nil {
		t.Fatalf("the body is not what it should be: %v: %s", err, a.body)
	}
}

// refusal checks status and code of an error in the shape of SPEC.md, and returns its
// message. It is safe for concurrent use.
func (a answer) refusal(t *testing.T, status int, code string) string {
	t.Helper()
	var body struct {
		OK      *bool  `json:"ok"`
		Error   string `json:"error"`
		Code    string `json:"code"`
		TraceID string `json:"trace_id"`
	}
	err := json.Unmarshal(a.body, &body)
	if a.status != status || err != nil || body.OK == nil || *body.OK || body.Error == "" || body.Code != code {
		t.Errorf("status %d, want %d and the error shape with code %s: %s", a.status, status, code, a.body)
	}
	if body.TraceID == "" || body.TraceID != a.header.Get("X-Trace-Id") {
		t.Errorf("trace_id %q, header %q", body.TraceID, a.header.Get("X-Trace-Id"))
	}
	return body.Error
}

// order holds the fields of an order that the tests use.
type order struct {
	ID         string `json:"id"`
	StoreID    string `json:"store_id"`
	ExternalID string `json:"external_order_id"`
	Status     string `json:"status"`
}

func (c *client) order(path string) order {
	c.t.Helper()
	var body struct {
		Order order `json:"order"`
	}
	c.must(200, get(path)).decode(c.t, &body)
	return body.Order
}

// timeline returns the kinds of an order's events.
func (c *client) timeline(orderID string) (kinds []string) {
	c.t.Helper()
	var body struct {
		Events []struct {
			Event string `json:"event"`
		} `json:"events"`
	}
	c.must(200, get("/v1/orders/"+orderID+"/timeline")).decode(c.t, &body)
	for _, e := range body.Events {
		kinds = append(kinds, e.Event)
	}
	return kinds
}

// product holds the fields of a product that the tests use.
type product struct {
	ID            string   `json:"id"`
	Name          string   `json:"name"`
	StoreID       string   `json:"store_id"`
	Price         int64    `json:"price"`
	Quantity      int64    `json:"available_quantity"`
	FeaturedImage string   `json:"featured_image"`
	Images        []string `json:"images"`
}

func (c *client) product(id string) product {
	c.t.Helper()
	var body struct {
		Product product `json:"product"`
	}
	c.must(200, get("/v1/products/"+id)).decode(c.t, &body)
	return body.Product
}

// eventuallyStatus repeats a request until its answer has this status.
func (c *client) eventuallyStatus(limit time.Duration, status int, r request) answer {
	c.t.Helper()
	var a answer
	check.Eventually(c.t, limit, pollPause, r.method+" "+r.path+" to answer "+http.StatusText(status), func() bool {
		var err error
		a, err = c.send(r)
		return err == nil && a.status == status
	})
	return a
}
