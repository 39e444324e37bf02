package simulation

import (
	"fmt"
	"net/http"
	"reflect"
	"slices"
	"strings"
	"time"

	"purveyor/internal/commerce"
	"purveyor/internal/testkit/sim"
)

// story is one order, from the customer's first look to its end. What happens in it is drawn
// when it begins.
type story struct {
	w        *world
	p        *partner
	n        int
	name     string
	comes    time.Duration // after the first hour begins
	mode     commerce.Mode
	store    int
	item     int // number of the product
	pieces   int64
	delivery bool
	paidHere bool
	byStaff  bool // the merchant moves the order on, else the partner
	fate     fate
	email    string
	misdeeds string // of the courier, as tags of the sandbox
	far      bool   // it goes beyond the store's radius
	bank     string // what goes wrong with the customer's money, as a tag; empty: nothing
	line2    string // of the address: all tags
	page     string // on which the customer pays

	id       string
	status   string // that was seen last
	refunded int64  // cents that were given back
	// What the model of the API knows of the order.
	known     knowledge
	learned   time.Time                 // when that was new
	placed    time.Time                 // the call that made it began
	moved     time.Time                 // a call that moves it began or ended
	busy      int                       // such calls that are under way
	cancelled bool                      // a call has cancelled it
	shortTill time.Time                 // until then the order waited, and too little was paid
	paying    bool                      // the customer has tried to pay
	mayRefund int64                     // cents that were asked back
	taken     struct{ low, high int64 } // pieces out of the stock
	last      string                    // its status at rest
	had       struct{ low, high int64 } // the same, before it was cancelled
	steps     int                       // for idempotency keys
}

// fate is how a story goes.
type fate int

const (
	goesWell  fate = iota
	walksAway      // the customer never pays
	cancelsUnpaid
	cancelsPaid // before it is confirmed
	cancelsLate // after that
	refundsPart
	refundsAll
	fates
)

func newStory(w *world, n int) *story {
	lots := sim.LotsOf(w.Seed, uint64(n))
	at := lots.Float64()
	if lots.IntN(2) == 0 { // half of all come around the middle of the day
		at = (at + lots.Float64() + lots.Float64()) / 3
	}
	s := &story{w: w, n: n, name: fmt.Sprint("story ", n), comes: time.Duration(at * float64(w.Hours) * float64(time.Hour)), p: w.partners[lots.IntN(len(w.partners))], mode: commerce.Live,
		store: lots.IntN(stores), item: lots.IntN(products), pieces: int64(1 + lots.IntN(3)),
		delivery: lots.IntN(2) == 0, paidHere: lots.IntN(2) == 0, byStaff: lots.IntN(2) == 0}
	if lots.IntN(5) == 0 {
		s.mode = commerce.Test
	}
	if lots.IntN(3) == 0 {
		s.fate = fate(lots.IntN(int(fates)))
	}
	s.tag(lots.IntN)
	s.far = lots.IntN(20) == 0 && s.delivery && !s.paidHere
	return s
}

// run plays the story.
func (s *story) run() {
	defer s.track()
	if !s.place() {
		return
	}
	if s.paidHere && !s.pay() {
		return
	}
	if s.fate == cancelsLate {
		s.wait(0, []time.Duration{time.Second, 30 * time.Second, 5 * time.Minute}[s.w.lot(3)])
		s.cancel()
		return
	}
	if !s.hand() {
		return
	}
	if s.paidHere && s.fate == refundsPart {
		s.refund(100)
	}
	if s.paidHere && s.fate >= refundsPart {
		s.refund(0)
	}
}

// place makes the order, if there is enough of the product.
func (s *story) place() bool {
	s.look()
	where := `"fulfillment_type": "pickup"`
	if s.delivery {
		town := inReach
		if s.far {
			town = outOfReach
		}
		where = fmt.Sprintf(`"fulfillment_type": "delivery", "delivery_address": {"name": "Ann Lee", "email": %q, "phone": "+15185550111", "address": `+
			`{"line1": "20 Oak St", "line2": %q, %s, "state": "NY", "country": "US"}}`, s.email, s.line2, town)
	}
	path := "/v1/orders/report"
	body := fmt.Sprintf(`{"external_order_id": %q, "store_id": %q, "items": [{"product_id": %q, "quantity": %d, "price": %d}], %s}`,
		s.name, storeID(s.store), productID(s.store, s.item), s.pieces, price, where)
	if s.paidHere {
		path = "/v1/checkout/session"
		body = fmt.Sprintf(`{"store_id": %q, "items": [{"product_id": %q, "quantity": %d}], "success_url": "https://p.example/s", "cancel_url": "https://p.example/c", "customer_email": %q, %s}`,
			storeID(s.store), productID(s.store, s.item), s.pieces, s.email, where)
	}
	s.placed = s.w.env.Now()
	s.mayTake()
	status, answer := s.keyed(path, body)
	if changedNothing(status, answer) || status == http.StatusConflict && scarce(s.item) && strings.Contains(answer, "insufficient_stock") {
		s.takes(0, 0)
		return false
	}
	var made struct {
		OrderID string `json:"order_id"`
		URL     string `json:"checkout_url"`
	}
	if err := decode([]byte(answer), &made); err != nil || status != http.StatusCreated || made.OrderID == "" {
		s.broke("POST %s was answered %d %s", path, status, answer)
		return false
	}
	if s.w.stories[made.OrderID] != nil {
		s.broke("order %s is that of another story", made.OrderID)
	}
	s.id = made.OrderID
	s.w.stories[s.id], s.w.told = s, append(s.w.told, s)
	if !s.paidHere {
		s.w.external[s.name] = s
	}
	s.status = "processed"
	if s.paidHere {
		s.status, s.page = "pending_payment", strings.TrimPrefix(made.URL, publicURL)
	}
	s.known.status, s.learned, s.moved = s.status, s.w.env.Now(), s.w.env.Now()
	switch {
	case !s.paidHere:
		s.takes(s.pieces, s.pieces)
	case holdMinutes(s.store) == 0:
		s.takes(0, 0)
	}
	s.read()
	return true
}

// pay has the customer pay, and the order confirmed. It reports whether the story goes on.
func (s *story) pay() bool {
	s.wait(5*time.Second, 4*time.Minute)
	switch s.fate {
	case walksAway:
		return false
	case cancelsUnpaid:
		s.cancel()
		s.paying = true
		s.post(s.page, "outcome=pay") // it may be too late
		return false
	}
	s.paying = true
	if s.w.lot(10) == 0 {
		s.post(s.page, "outcome=decline")
	}
	if status, answer := s.post(s.page, "outcome=pay"); status != http.StatusSeeOther {
		s.broke("the payment page answered %d %s", status, answer)
		return false
	}
	if s.bank == paidLess {
		s.short()
		return false
	}
	if s.reaches(6*time.Hour, "paid") != "paid" {
		s.broke("the customer paid, and the order is %s", s.status)
		return false
	}
	if s.fate == cancelsPaid {
		s.cancel()
		return false
	}
	if s.fate == cancelsLate && s.delivery && !scarce(s.item) && !s.w.Calm { // else a courier is called off once
		s.rush()
		return false
	}
	return s.advance("confirm", "processed")
}

// rush has the order confirmed and cancelled by two systems that do not know of each other, while a
// courier is looked for.
func (s *story) rush() {
	confirmed := make(chan struct{})
	s.mayTake()
	s.w.env.Go(func() {
		s.moves(func() {
			status, answer := s.p.call(request{mode: s.mode, method: http.MethodPost, path: "/v1/orders/" + s.id + "/confirm", about: s.name, repeated: true})
			if status != http.StatusOK && (status != http.StatusConflict || !strings.Contains(answer, "wrong_status")) {
				s.broke("confirm was answered %d %s", status, answer)
			}
			if status == http.StatusOK {
				s.knows("processed")
			}
		})
		close(confirmed)
	})
	s.wait(0, time.Second)
	s.cancel()
	s.w.env.Await(confirmed)
}

// hand brings the goods to the customer. It reports whether the customer has them.
func (s *story) hand() bool {
	if s.delivery {
		if s.reaches(3*time.Hour, "delivered", "refunded", "cancelled") == "delivered" {
			return true
		}
		if s.w.Calm {
			s.broke("no courier brings the order, and nothing is wrong")
		}
		s.cancel()
		return false
	}
	s.wait(time.Minute, 30*time.Minute)
	if !s.advance("ready-for-pickup", "ready_for_pickup") {
		return false
	}
	s.wait(time.Minute, time.Hour)
	return s.advance("picked-up", "picked_up")
}

// advance moves the order on. A scarce product may be sold out meanwhile: then the order is
// cancelled.
func (s *story) advance(act, to string) bool {
	status, answer := 0, ""
	if act == "confirm" {
		s.mayTake()
	}
	s.moves(func() {
		if s.byStaff {
			status, answer = s.w.staffAdvance(s, act)
		} else {
			status, answer = s.post("/v1/orders/"+s.id+"/"+act, "")
		}
	})
	if act == "confirm" && status == http.StatusOK {
		s.takes(s.pieces, s.pieces)
	}
	if status == http.StatusConflict && scarce(s.item) && strings.Contains(answer, "insufficient_stock") {
		s.cancel()
		return false
	}
	if status != http.StatusOK {
		s.broke("%s was answered %d %s", act, status, answer)
		return false
	}
	s.see(to, "the answer of "+act)
	return true
}

// moves makes a call that moves the order.
func (s *story) moves(call func()) {
	s.busy++
	s.moved = s.w.env.Now()
	call()
	s.busy--
	s.moved = s.w.env.Now()
}

// cancel cancels the order, unless its courier is faster.
func (s *story) cancel() {
	status, answer := 0, ""
	if s.had = s.taken; s.taken.high > 0 {
		s.mayTake()
	}
	paid := s.paidHere && s.status != "pending_payment"
	if s.paidHere {
		s.mayRefund = s.pays()
	}
	s.moves(func() {
		status, answer = s.keyed("/v1/orders/"+s.id+"/cancel", `{"reason": "not today", "refund": true}`)
	})
	if s.cancelled = status == http.StatusOK; s.cancelled {
		s.takes(0, 0)
	} else {
		s.takes(s.had.low, s.had.high)
	}
	switch {
	case status == http.StatusOK:
		s.see("cancelled", "the answer of cancel")
	case status == http.StatusConflict && s.delivery && slices.Contains([]string{"delivered", "cancelled", "refunded"}, s.ping()):
	default:
		s.broke("cancel was answered %d %s", status, answer)
	}
	s.ping()
	if s.cancelled && paid && s.bank == refuses {
		s.askBack()
	}
}

// read reads the order, and compares it with what was asked for.
func (s *story) read() {
	var got struct{ Order orderJSON }
	status, answer := s.get("/v1/orders/" + s.id)
	want := s.expected()
	if s.bank == returns {
		want.Refunded = got.Order.Refunded
	}
	if err := decode([]byte(answer), &got); err != nil || status != http.StatusOK || !reflect.DeepEqual(got.Order, want) {
		s.broke("the order was to be %s, and a read of it was answered %d %s", told(want), status, answer)
	}
}

// ping reads the order's status.
func (s *story) ping() string {
	var ping struct {
		Status string `json:"status"`
	}
	status, answer := s.get("/v1/orders/" + s.id + "/ping")
	if err := decode([]byte(answer), &ping); err != nil || status != http.StatusOK {
		s.broke("ping was answered %d %s", status, answer)
	}
	s.see(ping.Status, "a read")
	return s.status
}

// reaches looks at the order until it has one of some statuses, or the time is over. It
// returns its status.
func (s *story) reaches(within time.Duration, wanted ...string) string {
	pause := 20 * time.Second
	for until := s.w.env.Now().Add(s.w.soon(within)); s.w.env.Now().Before(until); pause = min(2*pause, 10*time.Minute) {
		if slices.Contains(wanted, s.ping()) {
			break
		}
		s.track()
		s.w.sleep(pause)
	}
	return s.status
}

// see checks that the order may have come from the status that was seen before to this one.
func (s *story) see(status, where string) {
	if !leads(s.status, status) {
		s.broke("%s shows %s, and it was %s before", where, status, s.status)
	}
	s.status = status
	s.knows(status)
}

func (s *story) get(path string) (status int, answer string) {
	return s.p.call(request{mode: s.mode, method: http.MethodGet, path: path, about: s.name})
}

// post makes a call without an idempotency key.
func (s *story) post(path, body string) (status int, answer string) {
	return s.p.call(request{mode: s.mode, method: http.MethodPost, path: path, body: body, about: s.name})
}

// keyed makes a call under an idempotency key.
func (s *story) keyed(path, body string) (status int, answer string) {
	s.steps++
	r := request{mode: s.mode, method: http.MethodPost, path: path, key: fmt.Sprint(s.name, " ", s.steps), body: body, about: s.name}
	if !scarce(s.item) && s.w.lot(12) == 0 { // else what was refused once may be possible a moment later
		return s.p.twice(r)
	}
	r.givesUp = s.id == "" && s.w.lot(2) == 0 // before there is an order
	return s.p.keyed(r)
}

func (s *story) wait(least, most time.Duration) { s.w.sleep(s.w.between(least, most)) }

func (s *story) broke(format string, args ...any) {
	s.w.record(format, fmt.Sprintf("%s of %s, order %s: %s", s.name, s.p.id, s.id, fmt.Sprintf(format, args...)))
}
