package courier_test

import (
	"cmp"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"purveyor/internal/commerce"
	"purveyor/internal/outside/courier"
	"purveyor/internal/testkit/check"

	"pgregory.net/rapid"
)

// TestNeverBack runs steps, steps that are lost after their callbacks were posted,
// cancellations and repeated requests in any order, for deliveries that misbehave in
// any way. Their status never goes back, and each delivery ends.
func TestNeverBack(t *testing.T) {
	misdeeds := []string{"cancel", "cancel-always", "cancel-later", "return", "twice", "late", "unordered", "skip-pickup", "uncancellable", "brief"}
	rapid.Check(t, func(rt *rapid.T) {
		x := newTown(t, "https://shop.example")
		asked := rapid.SliceOfDistinct(rapid.SampledFrom(misdeeds), func(s string) string { return s }).Draw(rt, "misdeeds")
		r := asks("sandbox:" + strings.Join(asked, "."))
		f := &followed{town: x, t: t, rt: rt, request: r}
		f.sees(x.create(t, r))
		rt.Repeat(map[string]func(*rapid.T){
			"step":     func(*rapid.T) { f.step(); f.look() },
			"lost":     func(*rapid.T) { f.lose(); f.look() },
			"cancel":   func(*rapid.T) { f.cancel() },
			"repeated": func(*rapid.T) { f.sees(x.create(t, r)) },
		})
		for f.step() {
			f.look()
		}
		if !f.last.Status.Over() {
			rt.Errorf("in the end it is %s", f.last.Status)
		}
		f.check(x.callbacks(t))
	})
}

// followed is a delivery whose state is read after every change.
type followed struct {
	town    *town
	t       *testing.T
	rt      *rapid.T
	request courier.CreateRequest
	last    courier.Delivery
}

func (f *followed) look() {
	now, err := f.town.sandbox.Get(f.t.Context(), courier.Key{Ref: f.request.Ref})
	check.OK(f.t, err)
	f.sees(now)
}

func (f *followed) sees(now courier.Delivery) {
	if now.Status.Rank() < f.last.Status.Rank() || f.last.Status.Over() && now.Status != f.last.Status || f.last.ID != "" && now.ID != f.last.ID {
		f.rt.Errorf("%s became %s", f.last.Status, now.Status)
	}
	f.last = now
}

func (f *followed) step() bool { return f.town.step(f.t, f.last.ID) }

// lose takes a step that is not stored.
func (f *followed) lose() {
	f.town.ahead.Add(int64(time.Second))
	object, err := f.town.objects.Object(f.t.Context(), f.last.ID)
	check.OK(f.t, err)
	step, err := f.town.sandbox.Step(f.t.Context(), object)
	check.OK(f.t, err)
	f.town.objects.Post(step.Callbacks...)
}

func (f *followed) cancel() {
	before := f.last
	now, err := f.town.sandbox.Cancel(f.t.Context(), courier.Key{ID: before.ID})
	refusal, refused := errors.AsType[*courier.Refusal](err)
	switch late := before.Status != commerce.CourierCancelled && (before.Status.HasGoods() || strings.Contains(f.request.Dropoff.Address.Line2, "uncancellable")); {
	case late && (!refused || refusal.Code != courier.TooLate):
		f.rt.Errorf("when %s it can be cancelled: %+v, %v", before.Status, now, err)
	case !late && err != nil:
		f.rt.Errorf("when %s it cannot be cancelled: %v", before.Status, err)
	case !late:
		f.sees(now)
	}
}

// check goes through all callbacks in the order of the changes. They lead to the end
// as well, without a step back.
func (f *followed) check(posted []courier.Callback) {
	slices.SortStableFunc(posted, func(a, b courier.Callback) int { return cmp.Compare(a.SeenOn, b.SeenOn) })
	statuses := map[string]commerce.CourierStatus{}
	var rank int
	for _, n := range posted {
		if n.Status.Rank() < rank {
			f.rt.Errorf("after rank %d posted %s", rank, n.Status)
		}
		if was, known := statuses[n.ID]; known && was != n.Status {
			f.rt.Errorf("%s tells %s, then %s", n.ID, was, n.Status)
		}
		rank, statuses[n.ID] = n.Status.Rank(), n.Status
	}
	if len(posted) == 0 || posted[len(posted)-1].Status != f.last.Status {
		f.rt.Errorf("it is %s, but the callbacks are %s", f.last.Status, brief(posted))
	}
}
