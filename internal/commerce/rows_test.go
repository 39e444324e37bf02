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
