// Package history checks histories of calls to several processes at once: were all answers
// given as if one process had served one call after another? (Linearizability, by porcupine.)
package history

import (
	"cmp"
	"fmt"
	"net/http"
	"slices"
	"time"

	"github.com/anishathalye/porcupine"
)

// Op is one attempt of a call, and its answer. A repeat under the same key is an attempt of its
// own: an earlier one without an answer may still take effect after it.
type Op struct {
	Call    int64 `json:"call_us"`   // since the history began
	Return  int64 `json:"return_us"` // when the answer, or the error, was there
	Client  int   `json:"client"`
	Process int   `json:"process"`

	// Of names what the call is about: a shelf of two products, the product of some keys, or
	// an order with its product. Calls about different ones do not touch.
	Of       string  `json:"of"`
	Do       string  `json:"do"` // a key of calls
	Key      string  `json:"key,omitzero"`
	External string  `json:"external,omitzero"` // external_order_id
	Amounts  []int64 `json:"amounts,omitzero"`  // pieces to sell of each product, or deltas
	Answer

	lone bool // no other call of the part can tell what became of its key, external id or order
}

// Answer is what an answer told.
type Answer struct {
	Status   int     `json:"status"` // 0: there was no answer
	Code     string  `json:"code,omitzero"`
	Replayed bool    `json:"replayed,omitzero"` // Idempotent-Replayed, or idempotent_replay
	Order    string  `json:"order,omitzero"`    // order_id
	State    string  `json:"state,omitzero"`    // the order's status
	Restored bool    `json:"restored,omitzero"` // inventory_restored
	Had      []int64 `json:"had,omitzero"`      // quantities before; Untold: not told
	Have     []int64 `json:"have,omitzero"`     // quantities
	Body     string  `json:"body,omitzero"`     // of a call with a key that succeeded
}

// Untold stands for the quantity of a product that an answer does not name.
const Untold = -1

// Open reports whether the call may have taken effect, or may still take effect, without its
// client having learned it.
func (op Op) Open() bool {
	return op.Status == 0 || op.Code == "outcome_unknown" || op.Code == "in_progress"
}

// nothing reports whether the attempt tells nothing: it read and got no answer, or the answer
// promises that nothing was changed (openapi.yaml, ErrorCode: unavailable).
func (op Op) nothing() bool {
	return op.Code == "unavailable" || op.Open() && (op.Do == "look" || op.Do == "read")
}

func (op Op) String() string {
	call := op.Do
	for _, word := range []string{op.Key, op.External} {
		if word != "" {
			call += " " + word
		}
	}
	if op.Amounts != nil {
		call += fmt.Sprint(" ", op.Amounts)
	}
	switch {
	case op.Do == "pay" || op.Do == "refund":
		return call + " (by the processor, at some time after)"
	case op.Status == 0:
		return call + " -> no answer"
	}
	told := fmt.Sprint(call, " -> ", op.Status)
	for _, word := range []string{op.Code, op.State, op.Order} {
		if word != "" {
			told += " " + word
		}
	}
	if op.Had != nil {
		told += fmt.Sprint(" had ", op.Had)
	}
	if op.Have != nil {
		told += fmt.Sprint(" have ", op.Have)
	}
	if op.Replayed {
		told += ", replayed"
	}
	return told
}

// Split returns the attempts about each thing by themselves, in the order of their calls.
func Split(ops []Op) (parts [][]Op) {
	ops = slices.Clone(ops)
	slices.SortStableFunc(ops, func(a, b Op) int { return cmp.Or(cmp.Compare(a.Of, b.Of), cmp.Compare(a.Call, b.Call)) })
	for part := range chunks(ops) {
		parts = append(parts, part)
	}
	return parts
}

func chunks(sorted []Op) func(yield func([]Op) bool) {
	return func(yield func([]Op) bool) {
		for len(sorted) > 0 {
			n := slices.IndexFunc(sorted, func(op Op) bool { return op.Of != sorted[0].Of })
			if n < 0 {
				n = len(sorted)
			}
			if !yield(sorted[:n]) {
				return
			}
			sorted = sorted[n:]
		}
	}
}

// limit bounds the search for an order of the calls of one part.
const limit = time.Minute

// Check reports whether an order of the attempts of one part explains all answers. What stayed
// open may have happened at any time after its call, or never.
func Check(part []Op) porcupine.CheckResult {
	return porcupine.CheckOperationsTimeout(model, operations(part), limit)
}

// operations is a part as porcupine wants it. The search would take long if what is open could
// come anywhere without an effect. So it comes before the end of the history only where it has
// one; and of several open attempts at one thing, the first stands for all.
func operations(part []Op) (list []porcupine.Operation) {
	var end int64
	var kept []Op
	lives := false // of orders
	attempts, uses := map[string]bool{}, map[string]int{}
	for _, op := range part {
		end = max(end, op.Return+1)
		if attempt := op.name() + " " + op.request(); op.nothing() || op.Open() && attempts[attempt] {
			continue
		} else if op.Open() {
			attempts[attempt] = true
		}
		kept = append(kept, op)
		uses[op.name()]++
		uses[op.External]++
		if op.Do != "look" && op.Do != "adjust" && op.Do != "report" {
			lives = true
		}
	}
	for _, op := range kept {
		until := op.Return
		if op.Open() {
			until = end + 1
		}
		op.lone = !lives && uses[op.name()] == 1 && (op.External == "" || uses[op.External] == 1)
		list = append(list, porcupine.Operation{ClientId: op.Client, Input: op, Call: op.Call, Return: until, Metadata: fmt.Sprint("process ", op.Process)})
	}
	over := Op{Do: theEnd, Answer: Answer{Status: http.StatusOK}}
	return append(list, porcupine.Operation{Input: over, Call: end, Return: end})
}

var model = porcupine.Model{
	Init: func() any { return state{have: []int64{Start, Start}} },
	Step: func(before, call, _ any) (bool, any) {
		after, ok := before.(state).step(call.(Op))
		return ok, after
	},
	Equal:             func(a, b any) bool { return a.(state).equal(b.(state)) },
	DescribeOperation: func(call, _ any) string { return call.(Op).String() },
	DescribeState:     func(s any) string { return s.(state).String() },
}
