package courier

import (
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"purveyor/internal/commerce"
	"purveyor/internal/outside/sandbox"
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
	SeenOn           commerce.Millis // time of the latest change

	// Callbacks that are posted later: Behind after the callback that follows it,
	// Late after a number of steps.
	Behind json.RawMessage `json:",omitempty"`
	Late   []late          `json:",omitempty"`

	callbacks []sandbox.Callback // of the current change
}

// late is a callback that is posted after this number of steps.
type late struct {
	Steps int
	Body  json.RawMessage
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
	quitting = []stage{{status: commerce.CourierCancelled, at: 0.75, reason: "The courier could not come to the store."}}
	failing  = []stage{{status: commerce.CourierCancelled, toDoor: true, at: 0.5, reason: "The courier had an accident. Nobody was hurt."}}
	goBack   = []stage{
		{status: commerce.CourierReturning, toDoor: true, at: 0.97, reason: notThere},
		{status: commerce.CourierReturning, toDoor: true, at: 0.5, reason: notThere},
		{status: commerce.CourierReturned, toDoor: true, reason: notThere},
	}
)

const (
	notThere  = "The customer was not there."
	cancelled = "The delivery was cancelled by who had asked for it."
)

// plan lists what is going to happen to the delivery, stage by stage.
func (x *delivery) plan() []stage {
	plan := waiting[:1:1]
	if x.Tags.has(tagNeverAssigned) {
		return plan
	}
	plan = append(plan, approach...)
	if x.Tags.has(tagCancelAlways) {
		return append(plan[:len(plan)-1], quitting...)
	}
	if !x.Tags.has(tagSkipPickup) {
		plan = append(plan, loading...)
	}
	switch {
	case x.Tags.has(tagCancelLater):
		return append(append(plan, transit[:3]...), failing...)
	case x.Tags.has(tagReturn):
		return append(append(plan, transit...), goBack...)
	}
	return append(append(plan, transit...), arrival...)
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
		v.Status, v.Imminent, v.Reason = commerce.CourierCancelled, false, cancelled
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
	passed, steps := searchTime, len(approach)+len(transit)+2-x.Step // of a plan without mishaps
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
	pickup = max(pickup-passed, time.Duration(steps-len(transit)-1)*s.StepEvery)
	return pickup, max(dropoff-passed, time.Duration(steps)*s.StepEvery)
}

// decodeDelivery reads a stored delivery.
func decodeDelivery(data []byte) (delivery, error) {
	var x delivery
	if err := json.Unmarshal(data, &x); err != nil {
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
