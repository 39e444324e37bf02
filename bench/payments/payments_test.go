package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"purveyor/bench/internal/load"
	"purveyor/bench/internal/load/smoke"
)

// TestMain lets the service with a profile be a process of its own.
func TestMain(m *testing.M) { smoke.Main(m, load.Profiled) }

func TestQuickRunMeasuresBothEngines(t *testing.T) {
	text := smoke.Report(t, options{load.Options{Quick: true, Dir: smoke.Dir(t)}}.measure)
	smoke.HasLines(t, text, smoke.OfBoth("checkouts", "payment notices", "  reports", "reports beside a slow processor", "one product beside a slow processor",
		"  reports, nobody checks out", "  one product, nobody checks out", "  checkouts that wait")...)
	for _, want := range []string{"| oldest open transaction beside a slow processor, PostgreSQL", "Checked: each order is paid"} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is missing", want)
		}
	}
}

func TestQuickRunWritesProfiles(t *testing.T) {
	dir := smoke.Dir(t)
	smoke.Report(t, options{load.Options{Quick: true, Only: "checkout", Dir: dir, Profiles: filepath.Join(dir, "profiles")}}.measure)
	for _, title := range []string{"reports", "checkouts"} {
		for _, engine := range []string{load.SQLite, load.Postgres} {
			if info, err := os.Stat(filepath.Join(dir, "profiles", title+"-"+engine+".pprof")); err != nil || info.Size() == 0 {
				t.Errorf("%s, %s: %v", title, engine, err)
			}
		}
	}
}

func TestOptionsThatCannotWork(t *testing.T) {
	for _, o := range []load.Options{{Only: "checkout,order"}, {Write: true, Quick: true}, {Write: true, Only: "slow"}} {
		if _, err := (options{o}).measure(); err == nil {
			t.Errorf("%+v was taken", o)
		}
	}
}
