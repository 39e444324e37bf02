package courier_test

import (
	"errors"
	"strings"
	"testing"

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
			err := x.sandbox.Act(t.Context(), d.ID, sandbox.Act{Name: "courier_" + act})
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
	if err := x.sandbox.Act(t.Context(), d.ID, sandbox.Act{Name: "courier_next", Key: "a"}); err != nil {
		t.Fatal(err)
	}
	if n := x.steps(t, d.ID); n != 0 || len(x.callbacks(t)) != 1 {
		t.Errorf("%d steps are left", n)
	}
	if err := x.sandbox.Act(t.Context(), d.ID, sandbox.Act{Name: "courier_next", Key: "a"}); err != nil || len(x.callbacks(t)) != 0 {
		t.Error("a repeat moves the courier:", err)
	}
}
