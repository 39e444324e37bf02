package commerce

import (
	"fmt"
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

// TestUnseenIsNotRead: a command sees and changes only what it asked to see.
func TestUnseenIsNotRead(t *testing.T) {
	key := JobKey{Slot: 1, ID: "job_1"}
	for name, f := range map[string]func(*Rows){
		"read":    func(r *Rows) { r.Jobs.Get(key) },
		"changed": func(r *Rows) { r.Apply(Changes{Jobs: []Job{{Slot: 1, ID: "job_1"}}}) },
	} {
		var rows Rows
		rows.Require(Needs{EndedJobs: []JobKey{key}})
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("an unseen row was %s", name)
				}
			}()
			f(&rows)
		}()
	}
}
