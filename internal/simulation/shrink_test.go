package simulation

import (
	"slices"
	"strings"
	"testing"
)

// TestShrink plants a fault in the answers, and wants to hear of one customer alone, without
// any trouble that the fault does not need.
func TestShrink(t *testing.T) {
	unpaid := func(r request, answer string) bool {
		return strings.HasPrefix(r.path, "/v1/orders/ord_") && strings.Contains(answer, `"status":"pending_payment"`)
	}
	for _, c := range []struct {
		name   string
		spoil  func(r request, process, answer string) string
		needs  []string // kinds of trouble
		more   int      // other kinds that may be left: without them, the luck that it takes was not found
		tells  []string // in this order
		calmly bool
	}{
		{"an order that tells of money given back", func(r request, _, answer string) string {
			if unpaid(r, answer) {
				return strings.Replace(answer, `"refunded_total":0`, `"refunded_total":7`, 1)
			}
			return answer
		}, nil, 0, []string{"paid by card here", "Process 1 saves: the order of story ", "checks out ", "reads the order of story ", "BROKEN: "}, true},
		{"the same after a crash", func(r request, process, answer string) string {
			if unpaid(r, answer) && process > "process 3" {
				return strings.Replace(answer, `"refunded_total":0`, `"refunded_total":7`, 1)
			}
			return answer
		}, []string{kills}, 8, []string{" is killed.", "checks out ", "BROKEN: "}, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			fails := Options{Seed: 1, Processes: 3, Hours: 1, Orders: 10, Without: []string{upgrades}, spoil: c.spoil}
			for Run(fails).Breaks == 0 {
				if fails.Seed++; fails.Seed > 50 {
					t.Fatal("the fault is in no history")
				}
			}
			o := Shrink(fails, 100)
			if len(o.Only) != 1 || o.Calm != c.calmly {
				t.Errorf("the stories %v are left, calm: %v", o.Only, o.Calm)
			}
			left := slices.DeleteFunc(slices.Clone(Troubles), func(kind string) bool { return slices.Contains(o.Without, kind) })
			without := slices.DeleteFunc(slices.Clone(left), func(kind string) bool { return slices.Contains(c.needs, kind) })
			if len(left)-len(without) < len(c.needs) || len(without) > c.more {
				t.Errorf("the troubles %v are left", left)
			}
			rest := Tell(o)
			for _, want := range c.tells {
				_, after, there := strings.Cut(rest, want)
				if !there {
					t.Fatalf("%q does not follow in the story\n%s", want, Tell(o))
				}
				rest = after
			}
		})
	}
	if o := (Options{Seed: 4, Hours: 1, Orders: 2, Calm: true}); Tell(o) != "" {
		t.Errorf("a history in which nothing breaks has the story\n%s", Tell(o))
	}
}
