package main

import (
	"strings"
	"testing"

	"purveyor/bench/internal/load"
	"purveyor/bench/internal/load/smoke"
)

// TestMain lets the service with a profile be a process of its own.
func TestMain(m *testing.M) { smoke.Main(m, load.Profiled) }

func TestQuickRunMeasuresBothEngines(t *testing.T) {
	text := smoke.Report(t, options{Options: load.Options{Quick: true, Dir: smoke.Dir(t)}}.measure)
	smoke.HasLines(t, text, smoke.OfBoth("nearby stores", "nearby stores at an even pace", "preflights for delivery", "  one product", "courier notices", "  reports", "courier steps",
		"courier steps beside reads and reports", "one product beside couriers", "reports beside couriers")...)
	if want := "Checked: every order is delivered"; !strings.Contains(text, want) {
		t.Errorf("%q is missing", want)
	}
}

func TestOptionsThatCannotWork(t *testing.T) {
	for _, o := range []load.Options{{Only: "notices,order"}, {Write: true, Quick: true}, {Write: true, Only: "moving"}} {
		if _, err := (options{Options: o}).measure(); err == nil {
			t.Errorf("%+v was taken", o)
		}
	}
}
