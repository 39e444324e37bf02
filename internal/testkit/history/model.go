package history

import (
	"fmt"
	"maps"
	"net/http"
	"slices"
)

// Start is the quantity of each product at first.
const Start = 6

// state is what one process, serving one call after another, would know of the products and
// the order of a part.
type state struct {
	have    []int64
	replies map[string]reply  // of keys that were used
	orders  map[string]string // ids by external id; "": not known yet

	// The order, of which a part has one at most, except for reports that are never asked about.
	status    string // "": there is none
	lines     []int64
	deducted  bool
	confirmed bool // by confirm
	paid      bool
	due       bool // paid after it was cancelled: the money goes back

	over bool // the history has ended
}

// theEnd is no call: it comes after all answers. What has not taken effect by then did not.
const theEnd = "the end"

// reply is the stored answer of a key. What its client did not learn is empty in it.
type reply struct {
	request string
	Answer
}

func (s state) equal(o state) bool {
	return s.over == o.over && s.status == o.status && s.deducted == o.deducted && s.confirmed == o.confirmed && s.paid == o.paid && s.due == o.due &&
		slices.Equal(s.have, o.have) && slices.Equal(s.lines, o.lines) && maps.Equal(s.orders, o.orders) &&
		maps.EqualFunc(s.replies, o.replies, func(a, b reply) bool {
			return a.request == b.request && a.Body == b.Body && slices.Equal(a.Have, b.Have)
		})
}

func (s state) String() string {
	return fmt.Sprint(s.have, " ", s.status, " ", slices.Sorted(maps.Keys(s.replies)))
}

// step serves a call, and reports whether the answer is the one that its client got. A call
// without an answer may have any, as long as it has an effect.
//
// Reads are served in the same way, at whichever process: every acknowledged change is seen
// by all later reads (ARCHITECTURE.md: "An answer is on disk", "Caches are never stale ... of any
// process"). The lists of products and orders do not promise that, and are not asked here.
func (s state) step(op Op) (state, bool) {
	if s.over {
		return s, op.Open()
	}
	before := s
	s.have, s.replies, s.orders = slices.Clone(s.have), maps.Clone(s.replies), maps.Clone(s.orders)
	if s.replies == nil {
		s.replies, s.orders = map[string]reply{}, map[string]string{}
	}
	want := s.serve(op)
	if op.Open() {
		return s, !s.equal(before)
	}
	if op.Key != "" && want.Status/100 == 2 && op.Replayed {
		// A process whose save had an unknown outcome looks for the reply itself (ARCHITECTURE.md,
		// "A key takes effect once"), so that the first answer may come from the store, too.
		want.Replayed = true
	}
	if !op.Answer.is(want) {
		return s, false
	}
	s.learn(op)
	return s, true
}

// serve changes the state by a call, as SPEC.md and BEHAVIOUR.md (Idempotency) say: the first
// success is stored under the key, a repeat gets it again, another body is refused, and after a
// refusal the key is free.
func (s *state) serve(op Op) Answer {
	if done, ok := s.replies[op.name()]; ok {
		if done.request != op.request() {
			return refused("idempotency_key_reused")
		}
		done.Replayed = true
		return done.Answer
	}
	answer := calls[op.Do](s, op)
	if op.Key != "" && answer.Status/100 == 2 && !op.lone {
		s.replies[op.name()] = reply{op.request(), answer}
	}
	return answer
}

// learn adds what the service drew by itself: ids, and the bytes of a body.
func (s *state) learn(op Op) {
	if op.Status/100 != 2 || op.Key == "" || op.lone {
		return
	}
	if op.External != "" {
		s.orders[op.External] = op.Order
	}
	known := s.replies[op.name()]
	known.Body, known.Order = op.Body, op.Order
	s.replies[op.name()] = known
}

func (op Op) name() string { return op.Do + " " + op.Key }

func (op Op) request() string { return fmt.Sprint(op.External, op.Amounts) }

// is reports whether an answer is the one that is wanted. Ids and bodies that are not known yet
// may be any.
func (a Answer) is(want Answer) bool {
	told := func(got, want []int64) bool {
		for i, n := range got {
			if n != Untold && (i >= len(want) || n != want[i]) {
				return false
			}
		}
		return true
	}
	known := func(got, want string) bool { return want == "" || got == want }
	return a.Status == want.Status && a.Code == want.Code && a.Replayed == want.Replayed && a.Restored == want.Restored &&
		known(a.Order, want.Order) && known(a.State, want.State) && known(a.Body, want.Body) && told(a.Had, want.Had) && told(a.Have, want.Have)
}

func refused(code string) Answer { return Answer{Status: http.StatusConflict, Code: code} }

// calls are the calls of the API. pay and refund are no calls of the partner: the customer pays,
// and the processor gives money back, some time after it was asked.
var calls = map[string]func(*state, Op) Answer{
	"look": func(s *state, _ Op) Answer { return Answer{Status: http.StatusOK, Have: slices.Clone(s.have)} },
	"read": read,

	"adjust":   adjust,
	"report":   report,
	"checkout": checkout,
	"pay":      pay,
	"refund":   refund,

	"confirm":   confirm,
	"ready":     ready,
	"picked-up": pickedUp,
	"cancel":    cancel,

	theEnd: func(s *state, _ Op) Answer {
		s.over = true
		return Answer{Status: http.StatusOK}
	},
}

// adjust applies all deltas or none (SPEC, Inventory).
func adjust(s *state, op Op) Answer {
	had := slices.Clone(s.have)
	if !s.move(op.Amounts, +1) {
		return s.insufficient()
	}
	return Answer{Status: http.StatusOK, Had: had, Have: slices.Clone(s.have)}
}

// move adds amounts to the stock, or takes them away, unless a quantity would be below zero.
func (s *state) move(amounts []int64, sign int64) bool {
	for i, n := range amounts {
		if s.have[i]+sign*n < 0 {
			return false
		}
	}
	for i, n := range amounts {
		s.have[i] += sign * n
	}
	return true
}

// insufficient names a product with the quantity that is left.
func (s *state) insufficient() Answer {
	a := refused("insufficient_stock")
	a.Have = slices.Clone(s.have)
	return a
}

// report makes an order that is paid, and deducts its goods at once. An external id has one
// order (BEHAVIOUR, Money and content).
func report(s *state, op Op) Answer {
	if id, taken := s.orders[op.External]; taken {
		a := refused("external_order_id_taken")
		a.Order = id
		return a
	}
	if !s.move(op.Amounts, -1) {
		return s.insufficient()
	}
	if !op.lone {
		s.orders[op.External] = ""
		s.status, s.lines, s.deducted = "processed", op.Amounts, true
	}
	return Answer{Status: http.StatusCreated, State: "processed"}
}

// checkout deducts nothing: an order that is not paid takes no goods.
func checkout(s *state, op Op) Answer {
	for i, n := range op.Amounts {
		if n > s.have[i] {
			return s.insufficient()
		}
	}
	s.status, s.lines = "pending_payment", op.Amounts
	return Answer{Status: http.StatusCreated}
}

// pay is the moment at which the service learns of a payment. The payment of a cancelled order
// does not revive it: the money goes back (BEHAVIOUR, payment after cancel).
func pay(s *state, _ Op) Answer {
	switch {
	case s.paid:
	case s.status == "pending_payment":
		s.status, s.paid = "paid", true
	case s.status == "cancelled":
		s.paid, s.due = true, true
	}
	return Answer{}
}

// refund is the moment at which that money is back.
func refund(s *state, _ Op) Answer {
	if s.due {
		s.status, s.due = "refunded", false
	}
	return Answer{}
}
