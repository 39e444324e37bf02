package simulation

import (
	"regexp"
	"strconv"
)

// shelf is what can be known of the stock of a product from outside: at least low, at most
// high pieces. Calls that are under way may have happened or not.
type shelf struct {
	low, high int64
	watched   []*window
}

// window is what could be known at any time while a call was under way.
type window struct {
	shelf     *shelf
	low, high int64
}

func (s *shelf) move(low, high int64) {
	s.low, s.high = s.low+low, s.high+high
	for _, w := range s.watched {
		w.low, w.high = min(w.low, s.low), max(w.high, s.high)
	}
}

func (s *shelf) watch() *window {
	w := &window{s, s.low, s.high}
	s.watched = append(s.watched, w)
	return w
}

// done ends the window.
func (w *window) done() {
	for i, other := range w.shelf.watched {
		if other == w {
			last := len(w.shelf.watched) - 1
			w.shelf.watched[i] = w.shelf.watched[last]
			w.shelf.watched = w.shelf.watched[:last]
			return
		}
	}
}

func (w *window) has(quantity int64) bool { return w.low <= quantity && quantity <= w.high }

// takes sets how many pieces the order of a story may have out of the stock.
func (s *story) takes(low, high int64) {
	s.w.shelves[productID(s.store, s.item)].move(s.taken.high-high, s.taken.low-low)
	s.taken.low, s.taken.high = low, high
}

// mayTake says that a call may change what the order has out of the stock.
func (s *story) mayTake() { s.takes(0, s.pieces) }

// watch begins windows on products. The function that it returns ends them.
func (w *world) watch(ids ...string) (seen map[string]*window, end func()) {
	seen = map[string]*window{}
	for _, id := range ids {
		if shelf := w.shelves[id]; shelf != nil && seen[id] == nil {
			seen[id] = shelf.watch()
		}
	}
	return seen, func() {
		for _, id := range ids {
			if seen[id] != nil {
				seen[id].done()
			}
		}
	}
}

var shortage = regexp.MustCompile(`Insufficient stock for [^(]* \((prd_\w+)\): requested (\d+), available (\d+)`)

// judgeShortage judges a refusal for lack of stock: it names the product, what was requested and what
// is available, which is less (SPEC, Errors).
func (x *asked) judgeShortage() {
	found := shortage.FindStringSubmatch(x.answer)
	if found == nil {
		x.wrong("it does not tell what is missing")
		return
	}
	wanted, _ := strconv.ParseInt(found[2], 10, 64)
	left, _ := strconv.ParseInt(found[3], 10, 64)
	if seen := x.stockOf(found[1]); left >= wanted || !seen.has(left) {
		x.wrong("%s has between %d and %d pieces", found[1], seen.low, seen.high)
	}
}

// stockOf is what could be known of a product's stock while the call was under way. A call that names
// only its order does not name the product.
func (x *asked) stockOf(id string) *window {
	if seen := x.stock[id]; seen != nil {
		return seen
	}
	return &window{low: 0, high: quantity * 2}
}
