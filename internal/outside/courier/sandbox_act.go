package courier

import (
	"context"
	"errors"
	"slices"

	"purveyor/internal/commerce"
	"purveyor/internal/outside/sandbox"
)

// The acts on a delivery of the sandbox, by their names in the API.
const (
	ActNext    = "courier_next"    // the courier takes the next step
	ActCancel  = "courier_cancel"  // the courier gives up
	ActReturn  = "courier_return"  // the door stays shut, and the goods begin their way back
	ActDeliver = "courier_deliver" // the courier takes all steps that are left, to the door
)

// Act has the courier of a delivery, by its Ref, act. A repeat is known even if another courier has the order meanwhile. From then on the courier moves by acts alone. Errors:
// sandbox.ErrWrongState, sandbox.ErrKeyReused, a Refusal for an unknown delivery.
//
// ActDeliver stores each new status by itself, so that its callback comes before that of the next. If
// the process dies in between, the courier stands still, and a repeat goes on from there.
func (s *Sandbox) Act(ctx context.Context, ref string, a sandbox.Act) error {
	if done, err := s.hasActed(ctx, ref, a); done || err != nil {
		return err
	}
	id, err := s.id(ctx, Key{Ref: ref})
	if err != nil {
		return err
	}
	for {
		on := false
		_, err := sandbox.Change(ctx, s.Objects, deliveries, id, func(x *delivery) ([]sandbox.Callback, error) {
			on = false
			done, err := x.Acts.Has(a)
			if err == nil {
				err = x.check()
			}
			if done || err != nil {
				return nil, err
			}
			if !s.act(x, a.Name) {
				return nil, sandbox.ErrWrongState
			}
			if on = a.Name == ActDeliver && !x.status().Over(); !on {
				x.Acts.Add(a)
			}
			x.Manual = true
			return append([]sandbox.Callback{}, x.callbacks...), nil
		})
		if err != nil || !on {
			return err
		}
	}
}

// hasActed reports whether a courier before the one of this delivery has done the act.
func (s *Sandbox) hasActed(ctx context.Context, ref string, a sandbox.Act) (bool, error) {
	order, attempt, ok := commerce.ParseDeliveryRef(ref)
	if a.Key == "" || !ok {
		return false, nil
	}
	for ; attempt > 1; attempt-- {
		id, err := s.id(ctx, Key{Ref: commerce.DeliveryRef(order, attempt-1)})
		if err != nil {
			return false, err
		}
		x, err := s.load(ctx, id)
		if errors.Is(err, errNoDelivery) { // another provider's
			continue
		}
		if err != nil {
			return false, err
		}
		if done, err := x.Acts.Has(a); done || err != nil {
			return done, err
		}
	}
	return false, nil
}

// act changes a delivery, or reports that its state does not allow it.
func (s *Sandbox) act(x *delivery, name string) bool {
	loaded := x.status().Rank() >= commerce.CourierLoaded.Rank()
	switch back := x.status().Rank() >= commerce.CourierReturning.Rank(); {
	case name == ActNext:
		if !x.moves() {
			return false
		}
		s.advance(x)
	case back || x.status().Over():
		return false
	case name == ActCancel:
		x.Why = notCame
		if loaded {
			x.Why = accident
		}
		s.cancel(x)
	case name == ActReturn && loaded:
		x.turn(tagReturn)
		s.jump(x, commerce.CourierReturning)
	case name == ActDeliver:
		x.turn("")
		s.jump(x, "")
	default:
		return false
	}
	return true
}

// turn drops what was to happen to the delivery, and has this happen in its place; empty: nothing.
func (x *delivery) turn(tag string) {
	x.Tags = slices.DeleteFunc(slices.Clone(x.Tags), func(t string) bool {
		return slices.Contains([]string{tagCancelAlways, tagCancelLater, tagReturn, tagNeverAssigned, tagStuck}, t)
	})
	if tag != "" {
		x.Tags = append(x.Tags, tag)
	}
}

// jump moves the courier to the next stage with this status; empty: with another one than now.
func (s *Sandbox) jump(x *delivery, to commerce.CourierStatus) {
	plan, now := x.plan(), x.status()
	for x.Step < len(plan)-1 {
		x.Step++
		if status := plan[x.Step].status; status == to || to == "" && status != now {
			break
		}
	}
	x.seen(s.Now())
	s.postState(x, true)
}
