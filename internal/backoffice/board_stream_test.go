package backoffice

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"purveyor/internal/commerce"
	"purveyor/internal/env"
	"purveyor/internal/service"
	"purveyor/internal/testkit/fixture"
)

// listening is an open stream.
type listening struct {
	t      *testing.T
	answer *http.Response
	lines  *bufio.Scanner
}

// listen opens a stream that goes on after a position.
func listen(t *testing.T, url, path, after string) *listening {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	t.Cleanup(cancel)
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, url+path, nil)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Accept", "text/event-stream")
	r.Header.Set("Last-Event-ID", after)
	answer, err := http.DefaultTransport.RoundTrip(r)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = answer.Body.Close() })
	lines := bufio.NewScanner(answer.Body)
	lines.Buffer(nil, 1<<20)
	return &listening{t, answer, lines}
}

// hear returns the next message of HTML with its id. ok is false when the stream has ended.
func (l *listening) hear() (id, data string, ok bool) {
	event := ""
	for l.lines.Scan() {
		name, value, _ := strings.Cut(l.lines.Text(), ": ")
		switch name {
		case "id":
			id = value
		case "event":
			event = value
		case "data":
			data = value
		case "":
			if data != "" && event == "" {
				return id, data, true
			}
			event, data = "", ""
		}
	}
	return "", "", false
}

// TestBoardStream: a stream sends all of the board to a browser that comes from nowhere, then
// the changes alone; a browser that comes back gets those that it has missed.
func TestBoardStream(t *testing.T) {
	o := openOffice(t)
	url := o.serving("clerk").URL
	first := o.stand(commerce.Paid, commerce.ByPickup)
	a := listen(t, url, "/office/board/stream", "")
	if h := a.answer.Header; a.answer.StatusCode != 200 || h.Get("Content-Type") != "text/event-stream" || h.Get("Cache-Control") != "no-store" {
		t.Fatalf("%d %v", a.answer.StatusCode, h)
	}
	id, whole, _ := a.hear()
	if !strings.Contains(whole, first.ID) || strings.Count(whole, "innerMorph") != 4 || id == "" {
		t.Fatalf("%q: %s", id, whole)
	}
	second := o.stand(commerce.Paid, commerce.ByPickup)
	next, change, _ := a.hear()
	if !strings.Contains(change, second.ID) || strings.Contains(change, "innerMorph") || next == id {
		t.Errorf("%q: %s", next, change)
	}
	again := listen(t, url, "/office/board/stream", id)
	if caught, got, _ := again.hear(); caught != next || got != change {
		t.Errorf("%q, not %q: %s", caught, next, got)
	}
	if got := listen(t, url, "/office/board/stream?since="+id, ""); got.answer.StatusCode != 200 {
		t.Error(got.answer.StatusCode)
	} else if _, text, _ := got.hear(); text != change {
		t.Errorf("by the position in the page: %s", text)
	}
}

// TestBoardStreamEnds: a stream ends when the process stops, and when its user may no longer
// see the board as it is; without a session it is refused without a page.
func TestBoardStreamEnds(t *testing.T) {
	o := openOffice(t)
	url := o.serving("clerk").URL
	o.stand(commerce.Paid, commerce.ByPickup)
	s := listen(t, url, "/office/board/stream", "")
	if _, _, ok := s.hear(); !ok {
		t.Fatal("the stream is empty")
	}
	o.office.EndStreams()
	if _, err := io.Copy(io.Discard, s.answer.Body); err != nil {
		t.Errorf("the stream does not end: %v", err)
	}
	if got := listen(t, o.serving("nobody").URL, "/office/board/stream", ""); got.answer.StatusCode != http.StatusUnauthorized {
		t.Errorf("without a session: %d", got.answer.StatusCode)
	}
}

// TestForgottenView: a view that no board follows is forgotten, and a stream that came too late
// follows the one in its place, which the looks keep up to date.
func TestForgottenView(t *testing.T) {
	o := openOffice(t)
	h, late := o.hub(boardFilter{ActsAll: true})
	late.usedOn = late.usedOn.Add(-2 * boardUnseen)
	o.look(h)
	if len(h.views) != 0 {
		t.Fatalf("%d views", len(h.views))
	}
	now, err := h.open(t.Context(), late.filter)
	if err != nil || now == late {
		t.Fatal(err)
	}
	if got := h.enter(late); got != now || now.boards != 1 {
		t.Errorf("the stream follows a view that is not kept")
	}
	h.leave(now)
	h.end()
}

// TestStill: a stream goes on while its session lasts, and ends when the rights of its user
// change, though the session is renewed by the next request.
func TestStill(t *testing.T) {
	d := openDoor(t)
	d.user(t, "boss@e.example", all)
	u := d.user(t, "ann@e.example", commerce.Grant{Role: commerce.Clerk, StoreID: fixture.StoreID})
	s := d.browser(t)
	s.SignIn("ann@e.example")
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, d.server.URL+"/office/board/stream", nil)
	if err != nil {
		t.Fatal(err)
	}
	v := &visit{Request: r, o: d.office}
	if _, err := v.still(); !errors.Is(err, ErrSignedOut) {
		t.Errorf("without a session: %v", err)
	}
	r.AddCookie(&http.Cookie{Name: "office", Value: s.Cookie("office")})
	if got, err := v.still(); err != nil || got.ID != u.ID {
		t.Errorf("%v, %v", got.ID, err)
	}
	operator := commerce.Actor{Kind: commerce.ActorOperator, ID: "ann"}
	if _, err := d.uses.GrantRights(t.Context(), operator, service.GrantRights{UserID: u.ID, Grants: []commerce.Grant{all}}); err != nil {
		t.Fatal(err)
	}
	if _, err := v.still(); !errors.Is(err, ErrSignedOut) {
		t.Errorf("after a change of rights: %v", err)
	}
	if status, _ := s.Get("/office/me"); status != http.StatusOK {
		t.Errorf("the session is gone: %d", status)
	}
}

// TestBoardRights: the key of a view has all that makes boards differ.
func TestBoardRights(t *testing.T) {
	filters := []boardFilter{{}, {ActsAll: true}, {Acts: []string{"a"}}, {Stores: []string{}}, {Stores: []string{"a"}}, {Stores: []string{"a", "b"}},
		{Stores: []string{"a"}, Acts: []string{"a"}}, {Partner: "p"}, {ActsAll: true, Partner: "p"}}
	var keys []string
	for _, f := range filters {
		if slices.Contains(keys, f.key()) {
			t.Errorf("%+v is taken for another: %q", f, f.key())
		}
		keys = append(keys, f.key())
	}
}

// BenchmarkBoardChange is what a change costs at 500 open orders with 50 boards: the look,
// the comparison and what is written to each board. The boards have ten different filters.
func BenchmarkBoardChange(b *testing.B) {
	h, orders := fullBoard(b)
	views := make([]*boardView, 10)
	for i := range views {
		f := boardFilter{ActsAll: i%2 == 0, Partner: []string{"", fixture.PartnerID}[i/2%2]}
		if i >= 4 {
			f.Stores = []string{fixture.StoreID, fmt.Sprint("other", i)}
		}
		views[i] = newBoardView(f, "b")
		h.views[f.key()+fmt.Sprint(i)] = views[i]
	}
	read := func() {
		for _, v := range views {
			chosen := v.choose(orders)
			for _, c := range chosen {
				for _, o := range c.orders {
					if h.facts[o.Key()] == nil {
						h.facts[o.Key()] = &cardFacts{paid: 1, products: []string{"Rye", "Sourdough", "Oat cookie"}}
					}
					h.facts[o.Key()].seen = true
				}
			}
			v.update(h.cardsOf(v.filter, chosen), 1)
		}
		h.forget()
	}
	read()
	positions := make([]string, 50)
	for i := range positions {
		positions[i] = views[i%len(views)].position()
	}
	written := 0
	b.ReportAllocs()
	for n := 0; b.Loop(); n++ {
		o := &orders[commerce.Paid][n%boardRoom]
		o.UpdatedOn++
		read()
		for i, at := range positions {
			v := views[i%len(views)]
			for _, m := range v.after(at, 1) {
				written += len(m)
			}
			positions[i] = v.position()
		}
	}
	if written < b.N*50*300 {
		b.Fatalf("%d bytes were written in %d rounds", written, b.N)
	}
}

// fullBoard is a hub with 500 open orders.
func fullBoard(b *testing.B) (*boardHub, openOrders) {
	b.Helper()
	h := newBoardHub(env.Env{}, nil)
	h.names = boardNames{stores: map[string]commerce.Store{fixture.StoreID: {ID: fixture.StoreID, Name: "Downtown", LateMinutes: 15}},
		partners: map[string]string{fixture.PartnerID: "Corner Groceries"}}
	orders := openOrders{}
	for i := range 500 {
		status := commerce.OpenStatuses[i%5]
		lines := []commerce.OrderLine{{ProductID: "prd_0", Quantity: 1}, {ProductID: "prd_1", Quantity: 2}, {ProductID: "prd_2", Quantity: 3}, {ProductID: "prd_3", Quantity: 1}}
		orders[status] = append(orders[status], commerce.Order{StoreID: fixture.StoreID, ID: fmt.Sprintf("ord_%04d", i), PartnerID: fixture.PartnerID, Mode: commerce.Live,
			Status: status, Fulfillment: commerce.ByPickup, Lines: lines, CreatedOn: commerce.Millis(i), UpdatedOn: commerce.Millis(i), Confirmed: true})
	}
	return h, orders
}
