package sandbox

import (
	"errors"
	"fmt"
	"testing"
)

func TestActsHappenOnceForEachKey(t *testing.T) {
	var acts Acts
	acts.Add(Act{Name: "pay"})
	if done, err := acts.Has(Act{Name: "pay"}); done || err != nil || len(acts) != 0 {
		t.Error("an act without a key is remembered:", acts)
	}
	acts.Add(Act{Name: "pay", Key: "a"})
	if done, err := acts.Has(Act{Name: "pay", Key: "a"}); !done || err != nil {
		t.Error("a repeat is not known:", done, err)
	}
	if _, err := acts.Has(Act{Name: "decline", Key: "a"}); !errors.Is(err, ErrKeyReused) {
		t.Error("another act with the same key:", err)
	}
	for i := range 2 * actsKept {
		before := acts
		acts.Add(Act{Name: "pay", Key: fmt.Sprint(i)})
		if done, _ := acts.Has(Act{Name: "pay", Key: fmt.Sprint(i)}); !done || len(acts) > actsKept {
			t.Fatalf("after %d acts: %v", i+2, acts)
		}
		if before[len(before)-1] == acts[len(acts)-1] {
			t.Fatal("the acts before were changed")
		}
	}
}
