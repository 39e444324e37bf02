package conformance_test

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"purveyor/internal/testkit/check"
)

// planted is an integration that does all that it should, except for one fault.
type planted struct {
	t      *testing.T
	base   string
	key    string
	secret string
	fault  string // one of plantedFaults; empty: none
	client *http.Client
	server *httptest.Server

	mu       sync.Mutex
	orders   map[string]string // our number -> the service's id
	events   []string          // as the books have them
	statuses map[string]string
	at       map[string]time.Time // of the newest event of an order
	synced   int64
	keys     int
	working  sync.WaitGroup
}

// plantedFaults are the faults, each with the group and the check that find it.
var plantedFaults = []struct{ fault, group, check string }{
	{"sends no keys", "calls", "idempotency_key"},
	{"repeats under a new key", "calls", "same_key_after_lost_answer"},
	{"has one key for all", "calls", "new_key_for_new_order"},
	{"starts a checkout again as a new one", "calls", "no_doubles"},
	{"refuses unknown fields", "calls", "unknown_fields"},
	{"refuses unknown values", "calls", "unknown_values"},
	{"does not wait", "manners", "retry_after"},
	{"polls each second", "manners", "polls_apart"},
	{"syncs everything", "manners", "updated_since"},
	{"reads one page", "manners", "cursors"},
	{"dials for each call", "manners", "kept_connections"},
	{"checks no signature", "webhooks", "wrong_signature"},
	{"checks no time", "webhooks", "old_time"},
	{"counts what comes twice", "webhooks", "duplicate_webhook"},
	{"believes what comes last", "webhooks", "disorder"},
	{"answers slowly", "webhooks", "five_seconds"},
	{"confirms again", "stories", "short_stock"},
	{"does not confirm", "stories", "paid"},
	{"reads no feed", "repair", "feed_only"},
}

func (p *planted) has(fault string) bool { return p.fault == fault }

// openPlanted starts an integration as the test partner of a service, with an endpoint of its own.
func openPlanted(t *testing.T, base, key, fault string) *planted {
	p := &planted{t: t, base: base, key: key, fault: fault, client: &http.Client{Transport: &http.Transport{DisableKeepAlives: fault == "dials for each call"}},
		orders: map[string]string{}, statuses: map[string]string{}, at: map[string]time.Time{}}
	p.server = httptest.NewServer(http.HandlerFunc(p.hook))
	var made struct{ Secret string }
	_, body := p.once("POST", "/v1/webhook-endpoints", "", map[string]any{"url": p.server.URL + "/hooks"})
	check.OK(t, json.Unmarshal(body, &made))
	p.secret = made.Secret
	stop := make(chan struct{})
	p.working.Go(func() { p.follow(stop) })
	t.Cleanup(func() {
		close(stop)
		p.working.Wait()
		p.server.Close()
		p.client.CloseIdleConnections()
	})
	return p
}

// once makes a call once; status 0: there was no answer.
func (p *planted) once(method, path, key string, body any) (int, []byte) {
	status, _, text := p.send(method, path, key, body)
	return status, text
}

func (p *planted) send(method, path, key string, body any) (int, http.Header, []byte) {
	request, err := http.NewRequest(method, p.base+path, nil)
	check.OK(p.t, err)
	if body != nil { // without GetBody the transport repeats nothing by itself
		request.Body = io.NopCloser(bytes.NewReader(mustJSON(body)))
	}
	request.Header.Set("X-Api-Key", p.key)
	if key != "" && !p.has("sends no keys") {
		request.Header.Set("Idempotency-Key", key)
	}
	response, err := p.client.Do(request)
	if err != nil {
		return 0, nil, nil
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		return 0, nil, nil
	}
	return response.StatusCode, response.Header, text
}

// call makes a call until it is decided.
func (p *planted) call(method, path, key string, body any) (int, []byte) {
	for range 10 {
		status, header, text := p.send(method, path, p.keyOf(path, key), body)
		switch {
		case status == 429:
			wait, _ := strconv.Atoi(header.Get("Retry-After"))
			if p.has("does not wait") {
				wait = 0
			}
			time.Sleep(time.Duration(wait) * time.Second)
		case status == 0 || status >= 500:
			time.Sleep(100 * time.Millisecond)
		default:
			return status, text
		}
	}
	return 0, nil
}

func (p *planted) keyOf(path, key string) string {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.keys++
	switch {
	case p.has("repeats under a new key"), p.has("starts a checkout again as a new one") && path == "/v1/checkout/session":
		return fmt.Sprint(key, "-", p.keys)
	case p.has("has one key for all") && path == "/v1/orders/report":
		return "the one"
	}
	return key
}

// do does a task of a run.
func (p *planted) do(task certifyTask) {
	switch task.Do {
	case "report", "checkout":
		path := map[string]string{"report": "/v1/orders/report", "checkout": "/v1/checkout/session"}[task.Do]
		status, text := p.call("POST", path, task.ID, task.Body)
		var made struct {
			OrderID string `json:"order_id"`
			Status  string `json:"status"`
		}
		var members map[string]any
		if status/100 != 2 || json.Unmarshal(text, &made) != nil || json.Unmarshal(text, &members) != nil {
			return
		}
		if _, later := members["added_later"]; p.has("refuses unknown fields") && later || p.has("refuses unknown values") && strings.HasPrefix(made.Status, "later") {
			return
		}
		p.mu.Lock()
		p.orders[task.Order] = made.OrderID
		p.mu.Unlock()
	case "cancel", "refund":
		p.mu.Lock()
		id := p.orders[task.Order]
		p.mu.Unlock()
		if id != "" {
			if task.Body == nil {
				task.Body = map[string]any{}
			}
			p.call("POST", "/v1/orders/"+id+"/"+task.Do, task.ID, task.Body)
		}
	case "sync":
		p.sync()
	case "ack":
		p.ack(task)
	}
}

func (p *planted) sync() {
	query := url.Values{}
	if p.synced > 0 && !p.has("syncs everything") {
		query.Set("updated_since", fmt.Sprint(p.synced))
	}
	for {
		var page struct {
			NextCursor string `json:"next_cursor"`
			Products   []struct {
				UpdatedOn int64 `json:"updated_on"`
			}
		}
		_, text := p.call("GET", "/v1/products?"+query.Encode(), "", nil)
		if json.Unmarshal(text, &page) != nil {
			return
		}
		for _, product := range page.Products {
			p.synced = max(p.synced, product.UpdatedOn)
		}
		if page.NextCursor == "" || p.has("reads one page") {
			return
		}
		query.Set("cursor", page.NextCursor)
	}
}

func (p *planted) ack(task certifyTask) {
	p.mu.Lock()
	body := map[string]any{"run_id": task.Body["run_id"], "event_ids": slices.Clone(p.events)}
	orders := []map[string]any{}
	for id, status := range p.statuses {
		orders = append(orders, map[string]any{"order_id": id, "status": status})
	}
	p.mu.Unlock()
	body["orders"] = orders
	p.call("POST", "/v1/certify/ack", "", body)
}

type plantedEvent struct {
	ID        string
	Event     string
	OrderID   string `json:"order_id"`
	Timestamp time.Time
	Data      struct{ Order struct{ Status string } }
}

// hook receives webhooks.
func (p *planted) hook(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil || !p.signed(r.Header, body) {
		http.Error(w, "not signed", http.StatusBadRequest)
		return
	}
	var e plantedEvent
	if json.Unmarshal(body, &e) != nil {
		http.Error(w, "no event", http.StatusBadRequest)
		return
	}
	if p.has("answers slowly") {
		time.Sleep(5500 * time.Millisecond)
	}
	p.keep(e)
}

func (p *planted) signed(h http.Header, body []byte) bool {
	at, _ := strconv.ParseInt(h.Get("Webhook-Timestamp"), 10, 64)
	if age := time.Since(time.Unix(at, 0)).Abs(); age > 5*time.Minute && !p.has("checks no time") {
		return false
	}
	key, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(p.secret, "whsec_"))
	if err != nil || p.has("checks no signature") {
		return err == nil
	}
	mac := hmac.New(sha256.New, key)
	fmt.Fprintf(mac, "%s.%d.%s", h.Get("Webhook-Id"), at, body)
	return h.Get("Webhook-Signature") == "v1,"+base64.StdEncoding.EncodeToString(mac.Sum(nil))
}

// keep puts an event into the books, and does what follows from it.
func (p *planted) keep(e plantedEvent) {
	p.mu.Lock()
	defer p.mu.Unlock()
	known := slices.Contains(p.events, e.ID)
	if known && !p.has("counts what comes twice") {
		return
	}
	p.events = append(p.events, e.ID)
	if e.Data.Order.Status != "" && (e.Timestamp.After(p.at[e.OrderID]) || p.has("believes what comes last")) {
		p.statuses[e.OrderID], p.at[e.OrderID] = e.Data.Order.Status, e.Timestamp
	}
	if e.Event == "order.paid" && !known && !p.has("does not confirm") {
		p.working.Go(func() { p.confirm(e.OrderID) })
	}
}

func (p *planted) confirm(orderID string) {
	status, text := p.call("POST", "/v1/orders/"+orderID+"/confirm", "confirm "+orderID, map[string]any{})
	if status != http.StatusConflict || !bytes.Contains(text, []byte("insufficient_stock")) {
		return
	}
	if p.has("confirms again") {
		p.call("POST", "/v1/orders/"+orderID+"/confirm", "confirm again "+orderID, map[string]any{})
		return
	}
	p.call("POST", "/v1/orders/"+orderID+"/cancel", "cancel "+orderID, map[string]any{"refund": true})
}

// follow reads the feed every five seconds.
func (p *planted) follow(stop chan struct{}) {
	query, every := url.Values{}, 5*time.Second
	if p.has("polls each second") {
		every = time.Second
	}
	for {
		select {
		case <-stop:
			return
		case <-time.After(every):
		}
		if p.has("reads no feed") || p.has("believes what comes last") { // the feed has its events in their order
			continue
		}
		var page struct {
			NextCursor string `json:"next_cursor"`
			Events     []plantedEvent
		}
		if _, text := p.once("GET", "/v1/events?"+query.Encode(), "", nil); json.Unmarshal(text, &page) != nil {
			continue
		}
		for _, e := range page.Events {
			p.keepOnce(e)
		}
		if page.NextCursor != "" {
			query.Set("cursor", page.NextCursor)
		}
	}
}

// keepOnce keeps an event of the feed, which has each once.
func (p *planted) keepOnce(e plantedEvent) {
	p.mu.Lock()
	known := slices.Contains(p.events, e.ID)
	p.mu.Unlock()
	if !known {
		p.keep(e)
	}
}
