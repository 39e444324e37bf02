package courier_test

import (
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"purveyor/internal/commerce"
	"purveyor/internal/outside/courier"
	"purveyor/internal/outside/sandbox"
	"purveyor/internal/testkit/check"
)

// brief abbreviates statuses, with a '!' for an imminent courier.
func brief(callbacks []courier.Callback) string {
	names := map[commerce.CourierStatus]string{
		commerce.CourierPending: "?", commerce.CourierAssigned: "to-store", commerce.CourierLoaded: "loaded", commerce.CourierEnRoute: "to-door",
		commerce.CourierReturning: "back", commerce.CourierDone: "delivered", commerce.CourierCancelled: "cancelled", commerce.CourierReturned: "returned",
	}
	var words []string
	for _, n := range callbacks {
		word := names[n.Status]
		if n.Imminent {
			word += "!"
		}
		words = append(words, word)
	}
	return strings.Join(words, " ")
}

// TestSteps lists the callbacks of each step, for each tag of an address.
func TestSteps(t *testing.T) {
	const wayToStore, wayToDoor = "to-store|to-store|to-store|to-store!", "to-door|to-door|to-door|to-door|to-door|to-door!"
	double := func(steps string) string {
		var all []string
		for step := range strings.SplitSeq(steps, "|") {
			all = append(all, step+" "+step)
		}
		return strings.Join(all, "|")
	}
	const fine = wayToStore + "|loaded|" + wayToDoor + "|delivered"
	for tags, want := range map[string]string{
		"":                            fine,
		"Apt 4":                       fine,
		"sandbox:":                    fine,
		"sandbox:unknown":             fine,
		"sandbox:uncancellable":       fine,
		"cancel":                      fine, // without the prefix it is plain text
		"sandbox:cancel":              "to-store|to-store|to-store|cancelled",
		"Apt 4, SANDBOX:Cancel":       "to-store|to-store|to-store|cancelled",
		"sandbox:cancel-always 2nd":   "to-store|to-store|to-store|cancelled",
		"sandbox:cancel-later":        wayToStore + "|loaded|to-door|to-door|to-door|cancelled",
		"sandbox:return":              wayToStore + "|loaded|" + wayToDoor + "|back|back|returned",
		"sandbox:skip-pickup":         wayToStore + "|" + wayToDoor + "|delivered",
		"sandbox:never-assigned":      "",
		"sandbox:stuck":               wayToStore + "|loaded|to-door|to-door|to-door",
		"sandbox:never-assigned.late": "",
		"sandbox:brief":               "to-store|loaded|to-door|delivered",
		"sandbox:brief.cancel":        "to-store|cancelled",
		"sandbox:return.brief":        "to-store|loaded|to-door|back|returned",
		"sandbox:brief,unordered":     "|loaded to-store||delivered to-door",
		"sandbox:twice":               double(fine),
		"sandbox:late":                "|||" + fine,
		"sandbox:late.cancel":         "|||to-store|to-store|to-store|cancelled",
		"sandbox:twice,cancel":        double("to-store|to-store|to-store|cancelled"),
		"sandbox:late.twice,cancel":   "|||" + double("to-store|to-store|to-store|cancelled"),
		"sandbox:unordered":           "|to-store|to-store|to-store!|loaded to-store||to-door|to-door|to-door|to-door|to-door!|delivered to-door",
		"sandbox:unordered.cancel":    "|to-store|to-store|cancelled to-store",
		"sandbox:unordered.return": "|to-store|to-store|to-store!|loaded to-store||to-door|to-door|to-door|to-door|to-door!|back to-door|back|" +
			"returned",
	} {
		t.Run(tags, func(t *testing.T) {
			x := newTown(t, "https://shop.example")
			d := x.create(t, asks(tags))
			var got []string
			for x.step(t, d.ID) {
				got = append(got, brief(x.callbacks(t)))
			}
			if text := strings.Join(got, "|"); text != want {
				t.Errorf("posted\n%s\nwant\n%s", text, want)
			}
		})
	}
}

// TestCancelIsForTheFirstAttempt checks that cancel affects the first attempt only,
// and cancel-always each one.
func TestCancelIsForTheFirstAttempt(t *testing.T) {
	for tag, want := range map[string]string{"sandbox:cancel": "delivered", "sandbox:cancel-always": "cancelled"} {
		x := newTown(t, "https://shop.example")
		r := asks(tag)
		r.Ref = commerce.DeliveryRef(order, 2)
		d := x.create(t, r)
		for x.step(t, d.ID) {
		}
		if posted := brief(x.callbacks(t)); !strings.HasSuffix(posted, want) {
			t.Errorf("%s: the second attempt posted %s", tag, posted)
		}
	}
}

// TestCancelIsPosted checks that a cancellation is posted at once, even after some
// steps, and that the courier stops.
func TestCancelIsPosted(t *testing.T) {
	for _, c := range []struct {
		tags          string
		steps         int
		posted, after string
	}{
		{"", 0, "cancelled", ""},
		{"", 2, "to-store to-store cancelled", ""},
		{"sandbox:twice", 1, "to-store to-store cancelled cancelled", ""},
		{"sandbox:never-assigned.late", 0, "cancelled", ""},
		{"sandbox:late", 2, "cancelled", "|to-store|to-store"},
		{"sandbox:unordered", 2, "to-store cancelled to-store", ""},
		{"sandbox:cancel", 4, "to-store to-store to-store cancelled", ""}, // the courier cancelled first, so ours changes nothing
	} {
		x := newTown(t, "https://shop.example")
		d := x.create(t, asks(c.tags))
		for range c.steps {
			x.step(t, d.ID)
		}
		for range 2 {
			if d, err := x.sandbox.Cancel(t.Context(), courier.Key{ID: d.ID}); err != nil || d.Status != commerce.CourierCancelled {
				t.Errorf("%q: got %+v, %v", c.tags, d, err)
			}
		}
		if posted := brief(x.callbacks(t)); posted != c.posted {
			t.Errorf("%q: posted %s, want %s", c.tags, posted, c.posted)
		}
		var after []string
		for x.step(t, d.ID) {
			after = append(after, brief(x.callbacks(t)))
		}
		if text := strings.Join(after, "|"); text != c.after {
			t.Errorf("%q: then posted %s, want %s", c.tags, text, c.after)
		}
	}
}

// TestCourierMoves checks that each step brings the courier closer on the way, and
// shortens the remaining time.
func TestCourierMoves(t *testing.T) {
	for name, ends := range map[string][2]commerce.Point{
		"town":      {ferryBuilding, mission},
		"date line": {{Lat: -16.8, Lng: 179.95}, {Lat: -16.9, Lng: -179.95}},
		"next door": {mission, mission},
		"far north": {{Lat: 80, Lng: 0}, {Lat: 80.05, Lng: 0.3}},
	} {
		t.Run(name, func(t *testing.T) {
			x := newTown(t, "https://shop.example")
			r := asks("")
			r.Pickup.At, r.Dropoff.At = &ends[0], &ends[1]
			before := x.create(t, r)
			for x.step(t, before.ID) {
				now, err := x.sandbox.Get(t.Context(), courier.Key{ID: before.ID})
				check.OK(t, err)
				x.nearer(t, before, now, ends)
				before = now
			}
			if before.Status != commerce.CourierDone || before.Courier.At.MilesTo(ends[1]) > 0.001 || before.DropoffETA != before.SeenOn {
				t.Errorf("in the end it is %+v", before)
			}
		})
	}
}

func (x *town) nearer(t *testing.T, before, now courier.Delivery, ends [2]commerce.Point) {
	t.Helper()
	if !now.Courier.At.Valid() || now.SeenOn <= before.SeenOn {
		t.Errorf("at %d the courier is at %+v", now.SeenOn, now.Courier.At)
	}
	if now.DropoffETA-now.SeenOn >= before.DropoffETA-before.SeenOn && now.Status != commerce.CourierLoaded {
		t.Errorf("when %s it takes %d ms, before that %d", now.Status, now.DropoffETA-now.SeenOn, before.DropoffETA-before.SeenOn)
	}
	goal := ends[1]
	if now.Status == commerce.CourierAssigned {
		goal = ends[0]
		if now.PickupETA <= now.SeenOn || now.PickupETA >= now.DropoffETA {
			t.Errorf("the pick-up is at %d, seen at %d, the drop-off at %d", now.PickupETA, now.SeenOn, now.DropoffETA)
		}
	}
	if before.Status == now.Status {
		if was, is := before.Courier.At.MilesTo(goal), now.Courier.At.MilesTo(goal); is >= was && was > 0 {
			t.Errorf("when %s, the courier is %v miles away, after %v", now.Status, is, was)
		}
		if was := before.Courier; was.Name != now.Courier.Name || was.Vehicle != now.Courier.Vehicle {
			t.Errorf("%s becomes %s", was.Name, now.Courier.Name)
		}
	}
	if const80m := 0.05; now.Imminent && now.Courier.At.MilesTo(goal) > max(const80m, 0.05*ends[0].MilesTo(ends[1])) {
		t.Errorf("the courier is imminent %v miles away", now.Courier.At.MilesTo(goal))
	}
}

// TestSlowSteps checks that slow steps make no false promise: with an hour for each
// step, no arrival is announced for the next half hour.
func TestSlowSteps(t *testing.T) {
	for _, tags := range []string{"", "sandbox:brief"} {
		slowSteps(t, tags)
	}
}

func slowSteps(t *testing.T, tags string) {
	x := newTown(t, "https://shop.example")
	x.sandbox.StepEvery = time.Hour
	d := x.create(t, asks(tags))
	for now := d; ; {
		if left, steps := now.DropoffETA-now.SeenOn, x.steps(t, d.ID); left != commerce.Millis(int64(steps)*time.Hour.Milliseconds()) {
			t.Errorf("when %s, %d steps take %d ms", now.Status, steps, left)
		}
		if !x.step(t, d.ID) {
			break
		}
		var err error
		now, err = x.sandbox.Get(t.Context(), courier.Key{ID: d.ID})
		check.OK(t, err)
	}
}

// steps returns how many steps are left, tried on a copy.
func (x *town) steps(t *testing.T, id string) int {
	t.Helper()
	object, err := x.objects.Object(t.Context(), id)
	check.OK(t, err)
	for n := 0; ; n++ {
		step, err := x.sandbox.Step(t.Context(), object)
		check.OK(t, err)
		if step.Data == nil {
			return n
		}
		object.Data = step.Data
	}
}

// TestRepeatedStep checks that a step that is repeated, because the process died
// before it was stored, posts the same callbacks with the same ids.
func TestRepeatedStep(t *testing.T) {
	x := newTown(t, "https://shop.example")
	d := x.create(t, asks("sandbox:twice.unordered"))
	for x.step(t, d.ID) {
		object, err := x.objects.Object(t.Context(), d.ID)
		check.OK(t, err)
		first, err := x.sandbox.Step(t.Context(), object)
		check.OK(t, err)
		x.ahead.Add(int64(time.Minute))
		again, err := x.sandbox.Step(t.Context(), object)
		check.OK(t, err)
		if a, b := ids(t, first.Callbacks), ids(t, again.Callbacks); !slices.Equal(a, b) || first.Next != again.Next {
			t.Errorf("posted %v, and once more %v", a, b)
		}
	}
}

// ids returns the ids of callbacks, with their contents except for the times.
func ids(t *testing.T, callbacks []sandbox.Callback) []string {
	t.Helper()
	var all []string
	for _, n := range callbacks {
		var posted struct{ ID, Status string }
		check.OK(t, json.Unmarshal(n.Body, &posted))
		all = append(all, posted.ID+" "+posted.Status)
	}
	return all
}

// TestNothingElseMoves checks that objects of other ports are not moved as couriers.
func TestNothingElseMoves(t *testing.T) {
	x := newTown(t, "https://shop.example")
	for _, data := range []string{``, `{`, `{}`, `null`, `{"ID":"cs_test_1"}`, `{"ID":"del_test_` + strings.Repeat("0", 40) + `","Step":-1}`} {
		if step, err := x.sandbox.Step(t.Context(), sandbox.Object{ID: "cs_test_1", Version: 1, Data: []byte(data)}); err == nil {
			t.Errorf("%s makes the step %+v", data, step)
		}
	}
	for _, id := range []string{"secret", "cs_test_1", "del_test_", "../secret"} {
		_, err := x.sandbox.Get(t.Context(), courier.Key{ID: id})
		if refusal, ok := errors.AsType[*courier.Refusal](err); !ok || refusal.Code != courier.NotFound {
			t.Errorf("%s is found: %v", id, err)
		}
	}
}

// BenchmarkStep takes the steps of one delivery over and over.
func BenchmarkStep(b *testing.B) {
	x := newTown(b, "https://shop.example")
	d := x.create(b, asks(""))
	first, err := x.objects.Object(b.Context(), d.ID)
	check.OK(b, err)
	object := first
	for b.Loop() {
		step, err := x.sandbox.Step(b.Context(), object)
		if err != nil {
			b.Fatal(err)
		}
		object.Data = step.Data
		if step.Next == 0 {
			object = first
		}
	}
}
