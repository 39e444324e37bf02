package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"purveyor/bench/internal/load"
)

// TestMain lets the service with a profile be a process of its own.
func TestMain(m *testing.M) {
	if done, err := hidden(os.Args[1:]); done {
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	os.Exit(m.Run())
}

func TestQuickRunMeasuresBothEngines(t *testing.T) {
	dir := t.TempDir()
	if err := os.Chmod(filepath.Dir(dir), 0o755); err != nil { // PostgreSQL may run as another user
		t.Fatal(err)
	}
	text := quick(t, options{load.Options{Quick: true, Dir: dir}})
	for _, title := range []string{"checkouts", "payment notices", "  reports", "reports beside a slow processor", "one product beside a slow processor",
		"  reports, nobody checks out", "  one product, nobody checks out", "  checkouts that wait"} {
		for _, engine := range []string{load.SQLite, load.Postgres} {
			if !strings.Contains(text, "| "+title+", "+engine+" ") {
				t.Errorf("no line for %s, %s", title, engine)
			}
		}
	}
	for _, want := range []string{"| oldest open transaction beside a slow processor, PostgreSQL", "Checked: each order is paid"} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is missing", want)
		}
	}
	if t.Failed() {
		t.Log(text)
	}
}

func TestQuickRunWritesProfiles(t *testing.T) {
	dir := t.TempDir()
	if err := os.Chmod(filepath.Dir(dir), 0o755); err != nil {
		t.Fatal(err)
	}
	quick(t, options{load.Options{Quick: true, Only: "checkout", Dir: dir, Profiles: filepath.Join(dir, "profiles")}})
	for _, title := range []string{"reports", "checkouts"} {
		for _, engine := range []string{load.SQLite, load.Postgres} {
			if info, err := os.Stat(filepath.Join(dir, "profiles", title+"-"+engine+".pprof")); err != nil || info.Size() == 0 {
				t.Errorf("%s, %s: %v", title, engine, err)
			}
		}
	}
}

func quick(t *testing.T, run options) string {
	t.Helper()
	text, err := run.measure()
	if err != nil { // the machine was busy with other things, so that a request was not answered in time
		t.Log(err)
		text, err = run.measure()
	}
	if err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	return text
}

func TestThePosterNeedsEveryNoticeAnswered(t *testing.T) {
	callers := posters([][]byte{[]byte("a"), []byte("b")})
	if len(callers) != load.Callers || string(callers[1].Next()) != "b" || callers[1].Next() != nil || callers[2].Next() != nil {
		t.Error("the notices are not spread, each once")
	}
	for status, ok := range map[int]bool{200: true, 201: false, 400: false, 409: false, 500: false} {
		if err := callers[0].Answered(status, nil); (err == nil) != ok {
			t.Errorf("status %d: %v", status, err)
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
