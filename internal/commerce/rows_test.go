package commerce

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// TestDoneJobs: what a batch makes of a job that several of its commands touch.
func TestDoneJobs(t *testing.T) {
	key := JobKey{Slot: 1, ID: "job_1"}
	job := Job{Slot: 1, ID: "job_1", Tries: 1}
	change, done := Changes{Jobs: []Job{job}}, Changes{DoneJobs: []JobKey{key}}
	for _, c := range []struct {
		name    string
		stored  bool
		changes []Changes
		want    string
	}{
		{"done", true, []Changes{done}, "deleted"},
		{"done twice", true, []Changes{done, done}, "deleted"},
		{"changed, then done", true, []Changes{change, done}, "deleted"},
		{"gone before", false, []Changes{done}, ""},
		{"changed", true, []Changes{change}, "changed, stored true"},
		{"made and done at once", false, []Changes{change, done}, ""},
		{"done, and back again", true, []Changes{done, change}, "changed, stored true"},
	} {
		var rows Rows
		rows.Require(Needs{Jobs: []JobKey{key}})
		if c.stored {
			rows.Jobs.Fill(key, Job{Slot: 1, ID: "job_1"})
		}
		for _, change := range c.changes {
			rows.Apply(change)
		}
		got := ""
		_ = rows.Jobs.EachDeleted(func(JobKey) error { got += "deleted"; return nil })
		_ = rows.Jobs.EachChanged(func(_, was *Job) error { got += fmt.Sprint("changed, stored ", was != nil); return nil })
		if _, there := rows.Jobs.Get(key); got != c.want || there != (got == "changed, stored true") {
			t.Errorf("%s: %q, there %v; want %q", c.name, got, there, c.want)
		}
	}
}

// TestEndedJobs: what ends unseen is deleted, unless another command of the
// batch has it loaded and it is not there.
func TestEndedJobs(t *testing.T) {
	key := JobKey{Slot: 1, ID: "job_1"}
	job := Job{Slot: 1, ID: "job_1", Tries: 1}
	unseen, seen := Needs{EndedJobs: []JobKey{key}}, Needs{Jobs: []JobKey{key}}
	for _, c := range []struct {
		name   string
		needs  []Needs
		stored bool
		want   int
	}{
		{"unseen", []Needs{unseen}, false, 1},
		{"unseen twice", []Needs{unseen, unseen}, false, 1},
		{"loaded after all", []Needs{unseen, seen}, true, 1},
		{"loaded before", []Needs{seen, unseen}, true, 1},
		{"loaded, and gone", []Needs{unseen, seen}, false, 0},
	} {
		var rows Rows
		for _, n := range c.needs {
			rows.Require(n)
		}
		if loads := len(rows.Jobs.Keys()); loads != len(c.needs)-countUnseen(c.needs) {
			t.Errorf("%s: %d rows to load", c.name, loads)
		}
		if c.stored {
			rows.Jobs.Fill(key, job)
		}
		rows.Apply(Changes{DoneJobs: []JobKey{key}})
		rows.Apply(Changes{DoneJobs: []JobKey{key}})
		n := 0
		_ = rows.Jobs.EachDeleted(func(JobKey) error { n++; return nil })
		_ = rows.Jobs.EachChanged(func(_, _ *Job) error { t.Errorf("%s: changed", c.name); return nil })
		if n != c.want || (n > 0) != rows.Changed() {
			t.Errorf("%s: %d deleted, want %d", c.name, n, c.want)
		}
	}
}

func countUnseen(list []Needs) (n int) {
	for _, needs := range list {
		n += len(needs.EndedJobs)
	}
	return n
}

// TestExpectedAndRequired: a row that one command takes to be new is loaded all the
// same when another command of the batch asks for it, in whatever order they come.
func TestExpectedAndRequired(t *testing.T) {
	key := RefundKey{StoreID: "s", RefundID: "r"}
	expected, required := Needs{NewRefunds: []RefundKey{key}}, Needs{Refunds: []RefundKey{key}}
	for _, c := range []struct {
		name  string
		needs []Needs
		loads int
	}{
		{"expected", []Needs{expected, expected}, 0},
		{"expected, then required", []Needs{expected, required, expected}, 1},
		{"required, then expected", []Needs{required, expected, required}, 1},
	} {
		var rows Rows
		for _, n := range c.needs {
			rows.Require(n)
		}
		if loads := len(rows.Refunds.Keys()); loads != c.loads {
			t.Errorf("%s: %d rows to load, want %d", c.name, loads, c.loads)
		}
		if c.loads == 0 {
			continue
		}
		stored := Refund{StoreID: "s", ID: "r", AmountCents: 5}
		rows.Refunds.Fill(key, stored)
		if got, there := rows.Refunds.Get(key); !there || got != stored {
			t.Errorf("%s: %+v, there %v", c.name, got, there)
		}
		stored.AmountCents = 6
		rows.Apply(Changes{Refunds: []Refund{stored}})
		_ = rows.Refunds.EachChanged(func(_, was *Refund) error {
			if was == nil {
				t.Errorf("%s: it would be inserted", c.name)
			}
			return nil
		})
	}
}

// TestGuards: a command that looks at a row which it did not ask for, or changes
// a stored row which it did not lock, is stopped with words that say so.
func TestGuards(t *testing.T) {
	store, order, job := Store{ID: "s"}, Order{StoreID: "s", ID: "o"}, JobKey{Slot: 1, ID: "j"}
	unlocked := Needs{Stores: []string{"s"}}
	locked := Needs{Stores: []string{"s"}, Lock: true}
	change := func(r *Rows) { r.Apply(Changes{Stores: []Store{store}}) }
	for _, c := range []struct {
		name   string
		needs  []Needs
		stored bool
		do     func(*Rows)
		panics string // empty: it is allowed
	}{
		{"a row is read that no command asked for", nil, false, func(r *Rows) { r.Orders.Get(order.Key()) }, "was not in the needs"},
		{"another row is read", []Needs{{Orders: []OrderKey{{"s", "other"}}}}, false, func(r *Rows) { r.Orders.Get(order.Key()) }, "was not in the needs"},
		{"a row is read that may only be removed", []Needs{{EndedJobs: []JobKey{job}}}, false, func(r *Rows) { r.Jobs.Get(job) }, "was not in the needs"},
		{"a row is changed that no command asked for", nil, false, func(r *Rows) { r.Apply(Changes{Orders: []Order{order}}) }, "was not in the needs"},
		{"a row is changed that may only be removed", []Needs{{EndedJobs: []JobKey{job}}}, false,
			func(r *Rows) { r.Apply(Changes{Jobs: []Job{{Slot: 1, ID: "j"}}}) }, "was not in the needs"},
		{"a stored row is changed without its lock", []Needs{unlocked}, true, change, "did not lock"},
		{"a row is added without a lock", []Needs{unlocked}, false, change, ""},
		{"a stored row is changed with its lock", []Needs{locked}, true, change, ""},
		{"one command locks, the other looks", []Needs{locked, unlocked}, true, change, ""},
		{"one command looks, the other locks", []Needs{unlocked, locked}, true, change, ""},
	} {
		var rows Rows
		for _, n := range c.needs {
			rows.Require(n)
		}
		if c.stored {
			rows.Stores.Fill("s", store)
		}
		says := func() (says string) {
			defer func() {
				if p := recover(); p != nil {
					says = fmt.Sprint(p)
				}
			}()
			c.do(&rows)
			return ""
		}()
		if (says == "") != (c.panics == "") || !strings.Contains(says, c.panics) {
			t.Errorf("%s: %q, want %q", c.name, says, c.panics)
		}
	}
}

// TestLockedKeys: engines lock the rows that a command may change, and no others.
func TestLockedKeys(t *testing.T) {
	var rows Rows
	rows.Require(Needs{Stores: []string{"a", "b"}})
	rows.Require(Needs{Stores: []string{"b", "c"}, Lock: true})
	locked, others := rows.Stores.LockedKeys()
	if !slices.Equal(locked, []string{"b", "c"}) || !slices.Equal(others, []string{"a"}) {
		t.Errorf("locked %q, others %q", locked, others)
	}
}
