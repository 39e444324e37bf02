package commerce

import (
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestIDs(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		no := rapid.Int64Range(0, 1<<35-1).Draw(t, "no")
		at := rapid.Int64Range(0, 1<<47).Draw(t, "at")
		later := rapid.Int64Range(at+1, 1<<47+1).Draw(t, "later")
		entropy := rapid.Custom(func(t *rapid.T) (e Entropy) {
			copy(e[:], rapid.SliceOfN(rapid.Byte(), len(e), len(e)).Draw(t, "bytes"))
			return e
		})
		first := NewOrderID(no, Millis(at), entropy.Draw(t, "e1"))
		second := NewOrderID(no, Millis(later), entropy.Draw(t, "e2"))
		if got, ok := StoreNoOfOrder(first); !ok || got != no {
			t.Fatalf("store number of %s is %d, %v; want %d", first, got, ok, no)
		}
		if first >= second {
			t.Fatalf("%s of %d does not come before %s of %d", first, at, second, later)
		}
		if a, b := TimelineEventID(first, 1), TimelineEventID(first, 2); a == b || !strings.HasPrefix(a, "tev_") {
			t.Fatalf("timeline ids %s, %s", a, b)
		}
	})
}

func TestOrderIDsThatDoNotParse(t *testing.T) {
	good := NewOrderID(33, 1795234250704, Entropy{})
	if _, ok := StoreNoOfOrder(good); !ok {
		t.Fatalf("%s does not parse", good)
	}
	for _, id := range []string{"", "ord_", "ord__", "ord_1", good[:len(good)-1], good + "0", "prd" + good[3:], strings.ToUpper(good),
		strings.Replace(good, "_11_", "_011_", 1), strings.Replace(good, "_11_", "__", 1), strings.Replace(good, "_11_", "_zzzzzzzz_", 1),
		strings.Replace(good, "_11_", "_u_", 1), good[:len(good)-1] + "u", "ord_1_\x00", "../../etc"} {
		if no, ok := StoreNoOfOrder(id); ok {
			t.Errorf("%q parses to store %d", id, no)
		}
	}
}
