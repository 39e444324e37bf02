package main

import (
	"bufio"
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"sync"
	"time"

	"purveyor/bench/internal/load"

	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"
)

// post is a webhook as it came in.
type post struct {
	Header http.Header
	Body   []byte
}

// sink takes webhooks, in this process.
type sink struct {
	server   *server
	url      string
	receiver *standardwebhooks.Webhook

	mu    sync.Mutex
	count int // of all that could be read
	intake
}

// intake is what came in since the sink was told to begin.
type intake struct {
	arrived     map[string]string // order id -> event id
	kept        [][]byte          // the first of them, as they came
	most        int               // that are wanted
	unchecked   [][]byte          // whose signatures are to be verified
	total       int
	first, last time.Time
	connections int // at most, at a time

	from, until time.Time // when arrivals are counted, and events were made whose times count
	during      int
	times       load.Tally
	failures    int
	failure     error // the first
}

// checked is which part of the signatures is verified: one in so many. That is
// done afterwards, because it would take a fifth of the sink's time.
const checked = 16

func openSink() (s *sink, err error) {
	s = &sink{}
	if s.receiver, err = standardwebhooks.NewWebhook(load.Secret); err != nil {
		return nil, err
	}
	if s.server, err = serve(s.take); err != nil {
		return nil, err
	}
	s.url = "http://" + s.server.listener.Addr().String() + "/webhooks"
	s.begin(0, time.Time{}, time.Time{})
	return s, nil
}

func (s *sink) close() error { return s.server.close() }

// begin forgets all that came in, keeps so many of the next posts, and takes
// times between two times.
func (s *sink) begin(most int, from, until time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.server.begin()
	s.intake = intake{arrived: map[string]string{}, most: most, from: from, until: until}
}

// taken is what came in until now, of which the signatures were verified.
func (s *sink) taken() intake {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, raw := range s.unchecked {
		if err := s.verify(raw); err != nil {
			s.fail(err)
		}
	}
	s.unchecked = nil
	in := s.intake
	in.connections = s.server.connections()
	return in
}

// event is what the sink needs of each.
type event struct {
	order string
	at    time.Time
}

var (
	orderField = []byte(`"order_id":"`)
	timeField  = []byte(`"timestamp":"`)
)

// read finds the fields of the event.
func read(body []byte) (e event, err error) {
	field := func(name []byte) string {
		_, rest, _ := bytes.Cut(body, name)
		value, _, _ := bytes.Cut(rest, []byte{'"'})
		return string(value)
	}
	e.order = field(orderField)
	e.at, err = time.Parse(time.RFC3339, field(timeField))
	return e, err
}

// verify checks both signatures, and that the body is of the event that the
// header names.
func (s *sink) verify(raw []byte) error {
	p, err := parse(raw)
	if err != nil {
		return err
	}
	h, body := p.Header, p.Body
	mac := hmac.New(sha256.New, []byte(load.Secret))
	mac.Write(body)
	if got, want := h.Get("X-Partner-Signature"), hex.EncodeToString(mac.Sum(nil)); got != want {
		return fmt.Errorf("x-partner-signature %q, want %q", got, want)
	}
	if err := s.receiver.Verify(body, h); err != nil {
		return err
	}
	var e struct {
		ID, Event string
	}
	if err := json.Unmarshal(body, &e); err != nil {
		return err
	}
	if e.ID == "" || e.ID != h.Get("Webhook-Id") || e.Event == "" {
		return fmt.Errorf("event %q of kind %q came as %q", e.ID, e.Event, h.Get("Webhook-Id"))
	}
	return nil
}

func (i *intake) fail(err error) {
	if i.failures++; i.failure == nil {
		i.failure = err
	}
}

// take counts a webhook, and keeps the first and those that are to be checked.
func (s *sink) take(r *request) {
	e, wrong := read(r.body)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.total++
	if s.first.IsZero() {
		s.first = r.arrived
	}
	s.last = r.arrived
	if wrong != nil {
		s.fail(wrong)
		return
	}
	if s.count++; s.count%checked == 0 {
		s.unchecked = append(s.unchecked, bytes.Clone(r.raw))
	}
	if r.arrived.After(s.from) && r.arrived.Before(s.until) {
		s.during++
	}
	if e.at.Before(s.until) { // however late it arrives
		s.times.Done(e.at, r.arrived, s.from, r.arrived.Add(1))
	}
	s.arrived[e.order] = value(r.head, "Webhook-Id")
	if len(s.kept) < s.most {
		s.kept = append(s.kept, bytes.Clone(r.raw))
	}
}

// patience is how long what is to arrive may take.
const patience = 2 * time.Minute

// await waits until the events of all these orders have arrived.
func (s *sink) await(ctx context.Context, orders []string) error {
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for deadline := time.Now().Add(patience); ; {
		missing := s.missing(orders)
		if missing == 0 {
			return nil
		}
		if time.Now().After(deadline) {
			return fmt.Errorf("the events of %d of %d orders have not arrived", missing, len(orders))
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-tick.C:
		}
	}
}

func (s *sink) missing(orders []string) (n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if n = len(orders) - len(s.arrived); n > 0 {
		return n
	}
	n = 0
	for _, id := range orders {
		if s.arrived[id] == "" {
			n++
		}
	}
	return n
}

// rate is that from the first arrival to the last.
func (i intake) rate() float64 {
	if i.total < 2 {
		return 0
	}
	return float64(i.total-1) / i.last.Sub(i.first).Seconds()
}

// posts are those that were kept.
func (i intake) posts() (list []post, err error) {
	for _, raw := range i.kept {
		p, err := parse(raw)
		if err != nil {
			return nil, err
		}
		list = append(list, p)
	}
	return list, nil
}

func parse(raw []byte) (p post, err error) {
	r, err := http.ReadRequest(bufio.NewReader(bytes.NewReader(raw)))
	if err != nil {
		return p, err
	}
	p.Header = r.Header
	p.Body, err = io.ReadAll(r.Body)
	return p, err
}

// blame adds what was wrong with what came in.
func (i intake) blame(m load.Measurement) load.Measurement {
	if i.failures > 0 {
		m.Errors += i.failures
		m.FirstError += " " + i.failure.Error()
	}
	return m
}
