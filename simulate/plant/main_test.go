package main

import "testing"

// TestPlant: each fault of the lists still stands for one place of the code, and changes it.
func TestPlant(t *testing.T) {
	t.Chdir("../..")
	for name, list := range map[string]string{"faults.txt": faults, "engines.txt": faultsOfEngines} {
		all, err := parse(list)
		if err != nil || len(all) == 0 {
			t.Fatalf("%s has %d faults: %v", name, len(all), err)
		}
		seen := map[string]bool{}
		for _, f := range all {
			if _, err := f.plant(); err != nil {
				t.Error(err)
			}
			if f.old == f.planted || seen[f.name] {
				t.Errorf("%s changes nothing, or stands there twice", f.name)
			}
			seen[f.name] = true
		}
	}
}
