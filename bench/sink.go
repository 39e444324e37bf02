package main

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"sync"
	"time"

	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"
	"github.com/valyala/fasthttp"
)

// sink receives webhooks, in this process. It stands for partners elsewhere but
// shares the machine with the service, so it takes little time: with net/http it
// took a third of what a webhook cost the machine.
type sink struct {
	url      string
	server   fasthttp.Server
	receiver *standardwebhooks.Webhook

	mu    sync.Mutex
	count int // of all webhooks that could be read
	intake
}

// intake is what came in since the sink was told to begin.
type intake struct {
	arrived     map[string]string // order id -> event id
	unchecked   []webhook         // whose signatures are to be verified
	total       int
	first, last time.Time
	from, until time.Time // arrivals between them are counted, and times of events made between them
	during      int
	times       tally
	failures    int
	failure     error // the first
}

// webhook is one as it came in.
type webhook struct {
	Header http.Header
	Body   []byte
}

// checked says which part of the signatures is verified: one in so many. That is
// done later, because it would take a fifth of the sink's time.
const checked = 16

// webhookSecret signs the webhooks.
var webhookSecret = "whsec_" + base64.StdEncoding.EncodeToString([]byte("the secret of the benchmarks"))

func openSink() *sink {
	l := must(net.Listen("tcp", "127.0.0.1:0"))
	s := &sink{url: "http://" + l.Addr().String() + "/webhooks", receiver: must(standardwebhooks.NewWebhook(webhookSecret))}
	s.server = fasthttp.Server{Handler: s.take, NoDefaultServerHeader: true, NoDefaultDate: true, CloseOnShutdown: true}
	s.begin(time.Time{}, time.Time{})
	go func() { _ = s.server.Serve(l) }() // ends with Shutdown
	return s
}

// begin forgets all that came in, and takes times between two times.
func (s *sink) begin(from, until time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.intake = intake{arrived: map[string]string{}, from: from, until: until}
}

// take counts a webhook, and keeps those that are to be verified. The answer is 200.
func (s *sink) take(c *fasthttp.RequestCtx) {
	arrived, body := time.Now(), c.Request.Body()
	made, wrong := time.Parse(time.RFC3339, textOf(body, `"timestamp":"`))
	order, event := textOf(body, `"order_id":"`), string(c.Request.Header.Peek("Webhook-Id"))
	s.mu.Lock()
	defer s.mu.Unlock()
	s.total++
	if s.first.IsZero() {
		s.first = arrived
	}
	s.last = arrived
	if wrong != nil {
		s.fail(wrong)
		return
	}
	if s.count++; s.count%checked == 0 {
		s.unchecked = append(s.unchecked, copyOf(&c.Request))
	}
	if arrived.After(s.from) && arrived.Before(s.until) {
		s.during++
	}
	if made.Before(s.until) { // however late it arrives
		s.times.done(made, arrived, s.from, arrived.Add(1))
	}
	s.arrived[order] = event
}

func copyOf(r *fasthttp.Request) webhook {
	w := webhook{http.Header{}, append([]byte(nil), r.Body()...)}
	for name, value := range r.Header.All() {
		if string(name) != "Host" && string(name) != "Content-Length" { // they are not headers to net/http
			w.Header.Add(string(name), string(value))
		}
	}
	return w
}

// taken is what came in until now. The signatures that were put off are verified.
func (s *sink) taken() intake {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, w := range s.unchecked {
		if err := s.verify(w); err != nil {
			s.fail(err)
		}
	}
	s.unchecked = nil
	return s.intake
}

// verify checks both signatures, and that the body is of the event that the
// header names.
func (s *sink) verify(w webhook) error {
	mac := hmac.New(sha256.New, []byte(webhookSecret))
	mac.Write(w.Body)
	if got, want := w.Header.Get("X-Partner-Signature"), hex.EncodeToString(mac.Sum(nil)); got != want {
		return fmt.Errorf("x-partner-signature %q, want %q", got, want)
	}
	if err := s.receiver.Verify(w.Body, w.Header); err != nil {
		return err
	}
	var e struct{ ID, Event string }
	if err := json.Unmarshal(w.Body, &e); err != nil {
		return err
	}
	if named := w.Header.Get("Webhook-Id"); e.ID == "" || e.ID != named || e.Event == "" {
		return fmt.Errorf("event %q of kind %q came as %q", e.ID, e.Event, named)
	}
	return nil
}

// await waits until the events of all these orders have arrived.
func (s *sink) await(ctx context.Context, orders []string) {
	const patience = 2 * time.Minute
	for deadline := time.Now().Add(patience); ; time.Sleep(5 * time.Millisecond) {
		check(ctx.Err())
		missing := s.missing(orders)
		if missing == 0 {
			return
		}
		if time.Now().After(deadline) {
			check(fmt.Errorf("the events of %d of %d orders have not arrived", missing, len(orders)))
		}
	}
}

func (s *sink) missing(orders []string) (n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if n = len(orders) - len(s.arrived); n > 0 {
		return n // without a look at each
	}
	n = 0
	for _, id := range orders {
		if s.arrived[id] == "" {
			n++
		}
	}
	return n
}

func (i *intake) fail(err error) {
	if i.failures++; i.failure == nil {
		i.failure = err
	}
}

// rate is that from the first arrival to the last.
func (i *intake) rate() float64 { return float64(i.total-1) / max(i.last.Sub(i.first), 1).Seconds() }

// blame adds the errors of what came in to a measurement.
func (i *intake) blame(m measurement) measurement {
	if i.failures > 0 {
		m.Errors += i.failures
		m.FirstError = errors.Join(errors.New(m.FirstError), i.failure).Error()
	}
	return m
}
