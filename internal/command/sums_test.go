package command

import (
	"fmt"
	"reflect"
	"testing"

	"purveyor/internal/commerce"
)

// TestRunOfSums: one process at a time makes the sums, and only as far as they are not made. A lease
// that lies too far ahead is not believed.
func TestRunOfSums(t *testing.T) {
	const until = now - 99
	lease := now.Add(sumLease)
	for _, c := range []struct {
		name  string
		run   commerce.SumPosition
		taken bool
	}{
		{"the first", commerce.SumPosition{}, true},
		{"made", commerce.SumPosition{At: until}, false},
		{"not made", commerce.SumPosition{At: until - 1}, true},
		{"another has it", commerce.SumPosition{Worker: "you", LeasedUntil: lease}, false},
		{"another had it", commerce.SumPosition{Worker: "you", LeasedUntil: now}, true},
		{"another has it for too long", commerce.SumPosition{Worker: "you", LeasedUntil: lease + 1}, true},
		{"this process has it", commerce.SumPosition{Worker: "me", LeasedUntil: now + 1}, true},
	} {
		c.run.Name = commerce.SumRun
		before := commerce.Changes{SumPositions: []commerce.SumPosition{c.run}}
		kept := commerce.SumPosition{Name: commerce.SumRun, At: c.run.At, Worker: "me", LeasedUntil: lease}
		var want commerce.Changes
		if c.taken {
			want.SumPositions = []commerce.SumPosition{kept}
		}
		run, changes, err := decided(MakeSums{Worker: "me", Until: until}, before, now)
		if err != nil || !reflect.DeepEqual(changes, want) || run.Taken != c.taken || (run.Now == now) != c.taken {
			t.Errorf("%s: %+v, %+v, %v", c.name, run, changes, err)
		}
	}
}

// TestStepsOfSums: sums are kept, and positions moved, by the process that has the run alone.
func TestStepsOfSums(t *testing.T) {
	day, next := commerce.DaySumsKey{StoreID: "s", Day: 1}, commerce.DaySumsKey{StoreID: "s", Day: 2}
	hour := func(n int64) commerce.HourSum { h := commerce.HourSum{Hour: n}; return h }
	for worker, ours := range map[string]bool{"me": true, "you": false} {
		was := commerce.SumPosition{Name: commerce.SumRun, At: 5, Worker: worker, LeasedUntil: 7}
		before := commerce.Changes{SumPositions: []commerce.SumPosition{was}, HourSums: []commerce.DaySums{{DaySumsKey: day, Hours: []commerce.HourSum{hour(3)}}}}
		kept := commerce.SumPosition{Name: commerce.SumRun, At: 5, Worker: "me", LeasedUntil: now.Add(sumLease)}
		var want, goesOn, ends commerce.Changes
		if ours {
			want.HourSums = []commerce.DaySums{{DaySumsKey: day, Hours: []commerce.HourSum{hour(3), hour(4), hour(5)}}, {DaySumsKey: next, Hours: []commerce.HourSum{hour(6)}}}
			want.SumPositions = []commerce.SumPosition{kept}
			goesOn.SumPositions = []commerce.SumPosition{{Name: "feed", At: 8}, kept}
			kept.At, kept.LeasedUntil = 9, 0
			ends.SumPositions = []commerce.SumPosition{{Name: "feed", At: 8}, kept}
		}
		done, changes, err := decided(KeepSums{Worker: "me", Hours: []KeptHour{{day, hour(4)}, {next, hour(6)}, {day, hour(5)}}}, before, now)
		if err != nil || done != ours || !reflect.DeepEqual(changes, want) {
			t.Errorf("kept for %s: %+v, %v", worker, changes, err)
		}
		for until, want := range map[commerce.Millis]commerce.Changes{0: goesOn, 9: ends} {
			done, changes, err := decided(AdvanceSums{Worker: "me", Feeds: []FeedPosition{{"feed", 8}}, Until: until}, before, now)
			if err != nil || done != ours || !reflect.DeepEqual(changes, want) {
				t.Errorf("advanced for %s until %d: %+v, %v", worker, until, changes, err)
			}
		}
	}
}

// TestKeyUse: the last use of a key only moves on.
func TestKeyUse(t *testing.T) {
	for used, saved := range map[commerce.Millis]bool{now - 1: true, now: false, now + 1: false} {
		_, changes, err := decided(RecordKeyUse{KeyID: "k", On: now}, commerce.Changes{APIKeys: []commerce.APIKey{{ID: "k", UsedOn: used}}}, now)
		if err != nil || (len(changes.APIKeys) == 1) != saved || saved && changes.APIKeys[0].UsedOn != now {
			t.Errorf("used at %d: %+v, %v", used-now, changes, err)
		}
	}
	if _, changes, err := decided(RecordKeyUse{KeyID: "k", On: now}, commerce.Changes{}, now); err != nil || !changes.Empty() {
		t.Errorf("a key that is gone: %+v, %v", changes, err)
	}
	if ok, changes, err := decided(KeepStrayCallback{commerce.StrayCallback{}}, commerce.Changes{}, now); !ok || err != nil || len(changes.StrayCallbacks) != 1 || changes.StrayCallbacks[0].ReceivedOn != now {
		t.Errorf("a stray callback: %+v, %v", changes, err)
	}
}

// TestMadeEndpoints: an endpoint gets known events, each once, that its maker may read. A partner has
// a limited number of endpoints.
func TestMadeEndpoints(t *testing.T) {
	full := func(n int) commerce.Changes {
		c := routed(nil, commerce.ReadProducts)
		c.Stores = []commerce.Store{{ID: "s"}}
		c.Partners[0].Routes = nil
		for i := range n {
			c.Partners[0].Routes = append(c.Partners[0].Routes, commerce.Route{ID: fmt.Sprint("whe_", i)})
		}
		return c
	}
	for _, c := range []struct {
		name   string
		before commerce.Changes
		actor  commerce.Actor
		route  commerce.Route
		want   string
	}{
		{"some events, each once", full(0), byStaff, commerce.Route{Events: []string{"order.*", "order.*"}, StoreIDs: []string{"s", "s"}}, ""},
		{"every event", full(0), byStaff, commerce.Route{Events: []string{commerce.EveryEvent}}, ""},
		{"an unknown event", full(0), byStaff, commerce.Route{Events: []string{"x"}}, "events[0]"},
		{"the last one", full(commerce.MaxEndpoints - 1), byStaff, commerce.Route{}, ""},
		{"one too many", full(commerce.MaxEndpoints), byStaff, commerce.Route{}, "limit_reached"},
		{"by a key that may not read orders", full(0), holding("key_0"), commerce.Route{}, "scope_missing"},
	} {
		c.route.ID = "whe_new"
		e, changes, err := decided(MakeEndpoint{PartnerID: "p", Actor: c.actor, Route: c.route, URL: "https://x", Secret: "s", Text: "t"}, c.before, now)
		if refusedFor(err) != c.want || changes.Empty() != (c.want != "") {
			t.Errorf("%s: %+v, %v", c.name, changes, err)
		}
		if err != nil {
			continue
		}
		route, _ := changes.Partners[0].RouteOf("whe_new")
		if len(route.Events) > 1 || len(route.StoreIDs) > 1 || (len(route.Events) == 1) != (c.name == "some events, each once") || e.URL != "https://x" || e.Secret != "s" || e.CreatedOn != now {
			t.Errorf("%s: %+v, %+v", c.name, route, e)
		}
	}
}
