package courier_test

import (
	"errors"
	"strings"
	"testing"

	"purveyor/internal/commerce"
	"purveyor/internal/outside/sandbox"
)

// TestActs lists the callbacks of acts, for tags of an address. An act that is refused shows as "-".
func TestActs(t *testing.T) {
	for _, c := range []struct{ tags, acts, want string }{
		{"", "next next", "to-store|to-store"},
		{"", "deliver", "to-store loaded to-door delivered"},
		{"", "next next deliver next cancel return deliver", "to-store|to-store|loaded to-door delivered|-|-|-|-"},
		{"", "cancel next cancel deliver", "cancelled|-|-|-"},
		{"", "return", "-"},
		{"", "next next next next next return next next next", "to-store|to-store|to-store|to-store!|loaded|back|back|returned|-"},
		{"", "next next next next next cancel", "to-store|to-store|to-store|to-store!|loaded|cancelled"},
		{"", "next next next next next next return deliver cancel return", "to-store|to-store|to-store|to-store!|loaded|to-door|back|-|-|-"},
		{"sandbox:never-assigned", "next deliver", "-|to-store loaded to-door delivered"},
		{"sandbox:cancel-always", "next deliver", "to-store|loaded to-door delivered"},
		{"sandbox:stuck", "next next next next next next next next next deliver", "to-store|to-store|to-store|to-store!|loaded|to-door|to-door|to-door|-|delivered"},
		{"sandbox:stuck", "next next next next next next next next return", "to-store|to-store|to-store|to-store!|loaded|to-door|to-door|to-door|back"},
		{"sandbox:late", "deliver next next next", "|||to-store loaded to-door delivered"},
		{"sandbox:uncancellable", "cancel", "cancelled"},
		{"sandbox:twice", "next", "to-store to-store"},
	} {
		x := newTown(t, "https://shop.example")
		d := x.create(t, asks(c.tags))
		var got []string
		for act := range strings.FieldsSeq(c.acts) {
			err := x.sandbox.Act(t.Context(), d.Ref, sandbox.Act{Name: "courier_" + act})
			callbacks := x.callbacks(t)
			switch {
			case errors.Is(err, sandbox.ErrWrongState) && len(callbacks) == 0:
				got = append(got, "-")
			case err != nil:
				t.Fatal(err)
			default:
				got = append(got, brief(callbacks))
			}
		}
		if all := strings.Join(got, "|"); all != c.want {
			t.Errorf("%q, %s:\n%s, want\n%s", c.tags, c.acts, all, c.want)
		}
	}
}

// A courier that was told once what to do moves no more by itself.
func TestAfterAnActACourierWaits(t *testing.T) {
	x := newTown(t, "https://shop.example")
	d := x.create(t, asks(""))
	if err := x.sandbox.Act(t.Context(), d.Ref, sandbox.Act{Name: "courier_next", Key: "a"}); err != nil {
		t.Fatal(err)
	}
	if n := x.steps(t, d.ID); n != 0 || len(x.callbacks(t)) != 1 {
		t.Errorf("%d steps are left", n)
	}
	if err := x.sandbox.Act(t.Context(), d.Ref, sandbox.Act{Name: "courier_next", Key: "a"}); err != nil || len(x.callbacks(t)) != 0 {
		t.Error("a repeat moves the courier:", err)
	}
}

// A call that is repeated after its courier was replaced leaves the next one alone.
func TestARepeatIsKnownToTheNextCourier(t *testing.T) {
	x := newTown(t, "https://shop.example")
	act := sandbox.Act{Name: "courier_cancel", Key: "a"}
	for attempt := range int64(2) {
		r := asks("")
		r.Ref = commerce.DeliveryRef(order, attempt+1)
		x.create(t, r)
	}
	if err := x.sandbox.Act(t.Context(), commerce.DeliveryRef(order, 1), act); err != nil || brief(x.callbacks(t)) != "cancelled" {
		t.Fatal(err)
	}
	if err := x.sandbox.Act(t.Context(), commerce.DeliveryRef(order, 2), act); err != nil || len(x.callbacks(t)) != 0 {
		t.Error("the next courier gives up, too:", err)
	}
	act.Key = "b"
	if err := x.sandbox.Act(t.Context(), commerce.DeliveryRef(order, 2), act); err != nil || brief(x.callbacks(t)) != "cancelled" {
		t.Error("another call is taken for a repeat:", err)
	}
}
