package courier

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"time"

	"purveyor/internal/commerce"
	"purveyor/internal/outside/sandbox"

	"github.com/go-json-experiment/json/jsontext"
)

// delivery is a delivery as the sandbox stores it: JSON with these field names. It
// holds neither the customer nor the goods.
type delivery struct {
	ID, Ref, QuoteID string
	Store, Phone     string // name and number of the store
	FeeCents         commerce.Cents
	Tags             tags
	Way              route
	Step             int // position in the plan
	Cancelled        bool
	Why              string          `json:",omitzero"` // it was cancelled; empty: the merchant has done so
	Manual           bool            `json:",omitzero"` // it moves by acts alone
	Acts             sandbox.Acts    `json:",omitzero"`
	SeenOn           commerce.Millis // time of the latest change
	ReadyAt          commerce.Millis `json:",omitzero"` // when the goods can be picked up; 0: at once

	// Callbacks that are posted later: Behind after the callback that follows it,
	// Late after a number of steps.
	Behind jsontext.Value `json:",omitzero"`
	Late   []late         `json:",omitzero"`

	callbacks []sandbox.Callback // of the current change
}

// late is a callback that is posted after this number of steps.
type late struct {
	Steps int
	Body  jsontext.Value
}

// stage is one point of a delivery's plan.
type stage struct {
	status   commerce.CourierStatus
	toDoor   bool    // on the way from the store to the door; otherwise to the store
	at       float64 // share of the way that is done
	imminent bool
	reason   string
}

var (
	waiting  = []stage{{status: commerce.CourierPending}}
	approach = []stage{
		{status: commerce.CourierAssigned},
		{status: commerce.CourierAssigned, at: 0.4},
		{status: commerce.CourierAssigned, at: 0.75},
		{status: commerce.CourierAssigned, at: 0.97, imminent: true},
	}
	loading = []stage{{status: commerce.CourierLoaded, toDoor: true}}
	transit = []stage{
		{status: commerce.CourierEnRoute, toDoor: true, at: 0.1},
		{status: commerce.CourierEnRoute, toDoor: true, at: 0.3},
		{status: commerce.CourierEnRoute, toDoor: true, at: 0.5},
		{status: commerce.CourierEnRoute, toDoor: true, at: 0.7},
		{status: commerce.CourierEnRoute, toDoor: true, at: 0.87},
		{status: commerce.CourierEnRoute, toDoor: true, at: 0.97, imminent: true},
	}
	arrival  = []stage{{status: commerce.CourierDone, toDoor: true, at: 1}}
	quitting = []stage{{status: commerce.CourierCancelled, at: 0.75, reason: notCame}}
	failing  = []stage{{status: commerce.CourierCancelled, toDoor: true, at: 0.5, reason: accident}}
	goBack   = []stage{
		{status: commerce.CourierReturning, toDoor: true, at: 0.97, reason: notThere},
		{status: commerce.CourierReturning, toDoor: true, at: 0.5, reason: notThere},
		{status: commerce.CourierReturned, toDoor: true, reason: notThere},
	}
)

const (
	notThere  = "The customer was not there."
	notCame   = "The courier could not come to the store."
	accident  = "The courier had an accident. Nobody was hurt."
	cancelled = "The delivery was cancelled by who had asked for it."
)

// plan lists what is going to happen to the delivery, stage by stage.
func (x *delivery) plan() []stage {
	plan := x.wholePlan()
	if x.Tags.has(tagBrief) {
		plan = slices.CompactFunc(plan, func(a, b stage) bool { return a.status == b.status })
	}
	return plan
}

// usual is the plan of a delivery without tags, as most are.
var usual = slices.Concat(waiting, approach, loading, transit, arrival)

func (x *delivery) wholePlan() []stage {
	if len(x.Tags) == 0 {
		return usual
	}
	load := loading
	if x.Tags.has(tagSkipPickup) {
		load = nil
	}
	switch {
	case x.Tags.has(tagNeverAssigned):
		return waiting
	case x.Tags.has(tagCancelAlways):
		return slices.Concat(waiting, approach[:len(approach)-1], quitting)
	case x.Tags.has(tagStuck):
		return slices.Concat(waiting, approach, load, transit[:3])
	case x.Tags.has(tagCancelLater):
		return slices.Concat(waiting, approach, load, transit[:3], failing)
	case x.Tags.has(tagReturn):
		return slices.Concat(waiting, approach, load, transit, goBack)
	}
	return slices.Concat(waiting, approach, load, transit, arrival)
}

// now returns the current stage. A delivery of a process with a longer plan is at the
// end of ours.
func (x *delivery) now() stage {
	plan := x.plan()
	return plan[min(x.Step, len(plan)-1)]
}

func (x *delivery) status() commerce.CourierStatus {
	if x.Cancelled {
		return commerce.CourierCancelled
	}
	return x.now().status
}

// moves reports whether there is another step.
func (x *delivery) moves() bool {
	return !x.Cancelled && x.Step < len(x.plan())-1 || len(x.Late) > 0
}

// view returns a delivery as the port shows it.
func (s *Sandbox) view(x delivery) Delivery {
	if x.ID == "" {
		return Delivery{}
	}
	at := x.now()
	v := Delivery{
		ID: x.ID, Ref: x.Ref, QuoteID: x.QuoteID, FeeCents: x.FeeCents, Status: at.status,
		TrackingURL: s.URL + trackPath + x.ID, Imminent: at.imminent, SeenOn: x.SeenOn, Reason: at.reason,
	}
	if at.status != commerce.CourierPending {
		v.Courier = s.courierOf(x.ID)
		place := x.place(at)
		v.Courier.At = &place
	}
	if x.Cancelled {
		v.Status, v.Imminent, v.Reason = commerce.CourierCancelled, false, cmp.Or(x.Why, cancelled)
		return v
	}
	pickup, dropoff := s.left(x, at)
	if v.Status.Rank() < commerce.CourierLoaded.Rank() {
		v.PickupETA = x.SeenOn.Add(pickup)
	}
	if v.Status.Rank() < commerce.CourierReturning.Rank() || v.Status == commerce.CourierDone {
		v.DropoffETA = x.SeenOn.Add(dropoff)
	}
	return v
}

// left returns the time until pick-up and drop-off from this stage: at the speed of
// the quote, unless the steps are too slow for that.
func (s *Sandbox) left(x delivery, at stage) (pickup, dropoff time.Duration) {
	pickup, dropoff = x.Way.times()
	toStore, toDoor := len(approach), len(transit)
	if x.Tags.has(tagBrief) {
		toStore, toDoor = 1, 1
	}
	passed, steps := searchTime, toStore+toDoor+2-x.Step // of a plan without mishaps
	switch {
	case at.status == commerce.CourierPending:
		passed = 0
	case at.toDoor:
		driving := dropoff - pickup - loadingTime
		passed = dropoff - time.Duration(float64(driving)*(1-at.at))
	default:
		passed += time.Duration(float64(pickup-searchTime) * at.at)
	}
	if at.status == commerce.CourierDone {
		steps = 0
	}
	pickup = max(pickup-passed, time.Duration(steps-toDoor-1)*s.StepEvery)
	return pickup, max(dropoff-passed, time.Duration(steps)*s.StepEvery)
}

// decodeDelivery reads a stored delivery.
func decodeDelivery(data []byte) (delivery, error) {
	var x delivery
	if err := sandbox.Decode(data, &x); err != nil {
		return delivery{}, fmt.Errorf("read a sandbox delivery: %w", err)
	}
	return x, x.check()
}

// check returns an error for a stored object that is no delivery.
func (x *delivery) check() error {
	if !deliveries.IDs.MatchString(x.ID) || x.Step < 0 {
		return errors.New("the sandbox object is not a delivery")
	}
	return nil
}

// Step implements sandbox.Mover. It depends on the stored state alone. If the process
// dies before a step is stored, the repeated step posts the same callbacks with the
// same ids; only their time is later.
func (s *Sandbox) Step(_ context.Context, o sandbox.Object) (sandbox.Step, error) {
	x, err := decodeDelivery(o.Data)
	if err != nil || x.Manual || !x.moves() {
		return sandbox.Step{}, err
	}
	s.advance(&x)
	data, err := sandbox.Encode(x)
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
