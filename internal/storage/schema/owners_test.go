package schema

import (
	"reflect"
	"slices"
	"testing"

	"purveyor/internal/commerce"
)

// TestNodesOfJobs: a job lies with those of its slot, whatever its id.
func TestNodesOfJobs(t *testing.T) {
	n := commerce.Needs{Jobs: []commerce.JobKey{{Slot: 7, ID: "job_1"}, {Slot: 7, ID: "job_2"}, {Slot: 8, ID: "job_3"}}}
	if got := Nodes(&n); !slices.Equal(got, []string{"slot 7", "slot 8"}) {
		t.Errorf("%q", got)
	}
}

// TestOwners: every row that a command may change has an owner. The others are only
// added.
func TestOwners(t *testing.T) {
	none := []string{"Replies", "ProductStores", "External", "Customers"}
	locked := []string{"Partners", "Stores", "Categories"}
	kind := reflect.TypeFor[commerce.Needs]()
	for i := range kind.NumField() {
		field := kind.Field(i)
		if field.Type.Kind() != reflect.Slice {
			continue
		}
		for _, lock := range []bool{false, true} {
			n := commerce.Needs{Lock: lock}
			keys := reflect.MakeSlice(field.Type, 2, 2) // the same key twice
			if key := field.Type.Elem(); key.Kind() == reflect.String {
				keys.Index(0).SetString("x")
				keys.Index(1).SetString("x")
			}
			reflect.ValueOf(&n).Elem().Field(i).Set(keys)
			want := 1
			if slices.Contains(none, field.Name) || slices.Contains(locked, field.Name) && !lock {
				want = 0
			}
			if got := Owners(&n); len(got) != want {
				t.Errorf("%s, lock %v: owners %q, want %d", field.Name, lock, got, want)
			}
		}
	}
}
