package schema

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"purveyor/internal/commerce"
)

// TestDoneJobs: what a batch makes of a job that several of its commands touch.
func TestDoneJobs(t *testing.T) {
	key := commerce.JobKey{Slot: 1, ID: "job_1"}
	job := commerce.Job{Slot: 1, ID: "job_1", Tries: 1}
	change, done := commerce.Changes{Jobs: []commerce.Job{job}}, commerce.Changes{DoneJobs: []commerce.JobKey{key}}
	for _, c := range []struct {
		name    string
		stored  bool
		changes []commerce.Changes
		want    string
	}{
		{"done", true, []commerce.Changes{done}, "deleted"},
		{"done twice", true, []commerce.Changes{done, done}, "deleted"},
		{"changed, then done", true, []commerce.Changes{change, done}, "deleted"},
		{"gone before", false, []commerce.Changes{done}, ""},
		{"changed", true, []commerce.Changes{change}, "changed, stored true"},
		{"made and done at once", false, []commerce.Changes{change, done}, ""},
		{"done, and back again", true, []commerce.Changes{done, change}, "changed, stored true"},
	} {
		var rows commerce.Rows
		Require(&rows, &commerce.Needs{Jobs: []commerce.JobKey{key}})
		if c.stored {
			rows.Jobs.Fill(0, commerce.Job{Slot: 1, ID: "job_1"})
		}
		for _, change := range c.changes {
			Apply(&rows, &change)
		}
		got := ""
		for i := range rows.Jobs.Changed() {
			switch _, v, was := rows.Jobs.Change(i); {
			case v != nil:
				got += fmt.Sprint("changed, stored ", was != nil)
			case was != nil:
				got += "deleted"
			}
		}
		if _, there := rows.Jobs.Get(key); got != c.want || there != (got == "changed, stored true") {
			t.Errorf("%s: %q, there %v; want %q", c.name, got, there, c.want)
		}
	}
}

// TestEndedJobs: what ends unseen is deleted, unless another command of the
// batch has it loaded and it is not there.
func TestEndedJobs(t *testing.T) {
	key := commerce.JobKey{Slot: 1, ID: "job_1"}
	job := commerce.Job{Slot: 1, ID: "job_1", Tries: 1}
	unseen, seen := commerce.Needs{EndedJobs: []commerce.JobKey{key}}, commerce.Needs{Jobs: []commerce.JobKey{key}}
	for _, c := range []struct {
		name   string
		needs  []commerce.Needs
		stored bool
		want   int
	}{
		{"unseen", []commerce.Needs{unseen}, false, 1},
		{"unseen twice", []commerce.Needs{unseen, unseen}, false, 1},
		{"loaded after all", []commerce.Needs{unseen, seen}, true, 1},
		{"loaded before", []commerce.Needs{seen, unseen}, true, 1},
		{"loaded, and gone", []commerce.Needs{unseen, seen}, false, 0},
	} {
		var rows commerce.Rows
		for _, n := range c.needs {
			Require(&rows, &n)
		}
		if loads := rows.Jobs.Asked(); loads != len(c.needs)-countUnseen(c.needs) {
			t.Errorf("%s: %d rows to load", c.name, loads)
		}
		if c.stored {
			rows.Jobs.Fill(0, job)
		}
		Apply(&rows, &commerce.Changes{DoneJobs: []commerce.JobKey{key}})
		Apply(&rows, &commerce.Changes{DoneJobs: []commerce.JobKey{key}})
		n := 0
		for i := range rows.Jobs.Changed() {
			if n++; Jobs.Change(&rows, i) != Delete {
				t.Errorf("%s: not deleted", c.name)
			}
		}
		if n != c.want || (n > 0) != Changed(&rows) {
			t.Errorf("%s: %d deleted, want %d", c.name, n, c.want)
		}
	}
}

func countUnseen(list []commerce.Needs) (n int) {
	for _, needs := range list {
		n += len(needs.EndedJobs)
	}
	return n
}

// TestExpectedAndRequired: a row that one command takes to be new is loaded all the
// same when another command of the batch asks for it, in whatever order they come.
func TestExpectedAndRequired(t *testing.T) {
	key := commerce.RefundKey{StoreID: "s", RefundID: "r"}
	expected, required := commerce.Needs{NewRefunds: []commerce.RefundKey{key}}, commerce.Needs{Refunds: []commerce.RefundKey{key}}
	for _, c := range []struct {
		name  string
		needs []commerce.Needs
		loads int
	}{
		{"expected", []commerce.Needs{expected, expected}, 0},
		{"expected, then required", []commerce.Needs{expected, required, expected}, 1},
		{"required, then expected", []commerce.Needs{required, expected, required}, 1},
	} {
		var rows commerce.Rows
		for _, n := range c.needs {
			Require(&rows, &n)
		}
		if loads := rows.Refunds.Asked(); loads != c.loads {
			t.Errorf("%s: %d rows to load, want %d", c.name, loads, c.loads)
		}
		if c.loads == 0 {
			continue
		}
		stored := commerce.Refund{StoreID: "s", ID: "r", AmountCents: 5}
		rows.Refunds.Fill(0, stored)
		if got, there := rows.Refunds.Get(key); !there || !reflect.DeepEqual(got, stored) {
			t.Errorf("%s: %+v, there %v", c.name, got, there)
		}
		stored.AmountCents = 6
		Apply(&rows, &commerce.Changes{Refunds: []commerce.Refund{stored}})
		if rows.Refunds.Changed() != 1 || Refunds.Change(&rows, 0) != Update {
			t.Errorf("%s: it would not be updated", c.name)
		}
	}
}

// TestGuards: a command that looks at a row which it did not ask for, or changes
// a stored row which it did not lock, is stopped with words that say so.
func TestGuards(t *testing.T) {
	store, order, job := commerce.Store{ID: "s"}, commerce.Order{StoreID: "s", ID: "o"}, commerce.JobKey{Slot: 1, ID: "j"}
	unlocked := commerce.Needs{Stores: []string{"s"}}
	locked := commerce.Needs{Stores: []string{"s"}, Lock: true}
	change := func(r *commerce.Rows) { Apply(r, &commerce.Changes{Stores: []commerce.Store{store}}) }
	for _, c := range []struct {
		name   string
		needs  []commerce.Needs
		stored bool
		do     func(*commerce.Rows)
		panics string // empty: it is allowed
	}{
		{"a row is read that no command asked for", nil, false, func(r *commerce.Rows) { r.Orders.Get(order.Key()) }, "was not in the needs"},
		{"another row is read", []commerce.Needs{{Orders: []commerce.OrderKey{{StoreID: "s", OrderID: "other"}}}}, false, func(r *commerce.Rows) { r.Orders.Get(order.Key()) }, "was not in the needs"},
		{"a row is read that may only be removed", []commerce.Needs{{EndedJobs: []commerce.JobKey{job}}}, false, func(r *commerce.Rows) { r.Jobs.Get(job) }, "was not in the needs"},
		{"a row is changed that no command asked for", nil, false, func(r *commerce.Rows) { Apply(r, &commerce.Changes{Orders: []commerce.Order{order}}) }, "was not in the needs"},
		{"a row is changed that may only be removed", []commerce.Needs{{EndedJobs: []commerce.JobKey{job}}}, false,
			func(r *commerce.Rows) { Apply(r, &commerce.Changes{Jobs: []commerce.Job{{Slot: 1, ID: "j"}}}) }, "was not in the needs"},
		{"a stored row is changed without its lock", []commerce.Needs{unlocked}, true, change, "did not lock"},
		{"a row is added without a lock", []commerce.Needs{unlocked}, false, change, ""},
		{"a stored row is changed with its lock", []commerce.Needs{locked}, true, change, ""},
		{"one command locks, the other looks", []commerce.Needs{locked, unlocked}, true, change, ""},
		{"one command looks, the other locks", []commerce.Needs{unlocked, locked}, true, change, ""},
	} {
		var rows commerce.Rows
		for _, n := range c.needs {
			Require(&rows, &n)
		}
		if c.stored {
			rows.Stores.Fill(0, store)
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
	var rows commerce.Rows
	Require(&rows, &commerce.Needs{Stores: []string{"a", "b"}})
	Require(&rows, &commerce.Needs{Stores: []string{"b", "c"}, Lock: true})
	var locked, others []string
	for i := range rows.Stores.Asked() {
		if id, lock := rows.Stores.AskedKey(i); lock {
			locked = append(locked, id)
		} else {
			others = append(others, id)
		}
	}
	if !slices.Equal(locked, []string{"b", "c"}) || !slices.Equal(others, []string{"a"}) {
		t.Errorf("locked %q, others %q", locked, others)
	}
}
