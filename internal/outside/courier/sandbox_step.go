package courier

import (
	"context"
	"encoding/json"
	"strconv"

	"purveyor/internal/outside/sandbox"
)

// Step implements sandbox.Mover. It depends on the stored state alone. If the process
// dies before a step is stored, the repeated step posts the same callbacks with the
// same ids; only their time is later.
func (s *Sandbox) Step(_ context.Context, o sandbox.Object) (sandbox.Step, error) {
	x, err := decodeDelivery(o.Data)
	if err != nil || !x.moves() {
		return sandbox.Step{}, err
	}
	s.advance(&x)
	data, err := json.Marshal(x)
	if err != nil {
		return sandbox.Step{}, err
	}
	step := sandbox.Step{Data: data, Callbacks: x.callbacks}
	if x.moves() {
		step.Next = s.StepEvery
	}
	return step, nil
}

// advance takes one step: late callbacks come closer, and the courier moves on.
func (s *Sandbox) advance(x *delivery) {
	held := x.Late
	x.Late = nil
	for _, l := range held {
		if l.Steps--; l.Steps <= 0 {
			x.post(l.Body)
		} else {
			x.Late = append(x.Late, l)
		}
	}
	if x.Cancelled || x.Step >= len(x.plan())-1 {
		return
	}
	before := x.status()
	x.Step++
	x.seen(s.Now())
	s.postState(x, before != x.status())
}

// postState adds a callback with the current state; isNew says that the status has just
// changed. With the tag unordered, callbacks of
// new statuses come in pairs, the later one first.
func (s *Sandbox) postState(x *delivery, isNew bool) {
	body := s.callback(x, strconv.Itoa(x.Step))
	inPairs := isNew && x.Tags.has(tagUnordered)
	if inPairs && x.Behind == nil && !x.status().Over() {
		x.Behind = body
		return
	}
	x.delay(body)
	if inPairs && x.Behind != nil { // it was held back so that this one could overtake it
		x.delay(x.Behind)
		x.Behind = nil
	}
}

// lateSteps is the number of steps by which late callbacks are delayed.
const lateSteps = 3

// delay posts a callback, now or later.
func (x *delivery) delay(body []byte) {
	if x.Tags.has(tagLate) {
		x.Late = append(x.Late, late{lateSteps, body})
		return
	}
	x.post(body)
}

// post adds a callback to the current change.
func (x *delivery) post(body []byte) {
	n := sandbox.Callback{To: CallbackPath, Body: body}
	x.callbacks = append(x.callbacks, n)
	if x.Tags.has(tagTwice) {
		x.callbacks = append(x.callbacks, n)
	}
}

// cancel ends a delivery, and returns the callbacks to post. They are not late,
// because the cancellation is ours.
func (s *Sandbox) cancel(x *delivery) []sandbox.Callback {
	x.Cancelled = true
	x.seen(s.Now())
	x.post(s.callback(x, "cancel"))
	if x.Behind != nil {
		x.post(x.Behind)
		x.Behind = nil
	}
	return x.callbacks
}
