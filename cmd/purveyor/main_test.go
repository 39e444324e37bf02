// Package main_test drives the real program: as an operator at the command
// line, and as a partner over loopback HTTP.
package main_test

import (
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime/debug"
	"testing"
)

// programPath is the program under test, built once for all tests.
var programPath string

// program is the path of the program. With -short it is not built, and the test is
// left out.
func program(t *testing.T) string {
	t.Helper()
	if testing.Short() {
		t.Skip("-short leaves out what runs the program")
	}
	return programPath
}

// raceEnabled tells whether the tests watch for races, programRaces whether the
// program does. With the race detector it takes several times as long, so it has it
// in the full run of scripts/test alone; every package of it is tested with the
// detector in each run.
var (
	raceEnabled  = builtWithRace()
	programRaces = raceEnabled && os.Getenv("PURVEYOR_TEST_LOAD") != ""
)

func TestMain(m *testing.M) { os.Exit(buildAndRun(m)) }

func buildAndRun(m *testing.M) int {
	flag.Parse()
	if testing.Short() {
		return m.Run()
	}
	dir, err := os.MkdirTemp("", "purveyor-bin-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(dir)
	// One test runs the program as another user, who must reach it.
	if err := os.Chmod(dir, 0o755); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	programPath = filepath.Join(dir, "purveyor")
	if err := build(programPath, programRaces); err != nil {
		fmt.Fprintln(os.Stderr, "the program does not build:", err)
		return 1
	}
	return m.Run()
}

// build builds the program, without what only debuggers read. What else scripts/test asks for is in GOFLAGS.
func build(path string, race bool) error {
	cmd := exec.Command("go", "build", fmt.Sprintf("-race=%t", race), "-ldflags=-w", "-o", path, ".")
	cmd.Stdout, cmd.Stderr = os.Stderr, os.Stderr
	return cmd.Run()
}

func builtWithRace() bool {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return false
	}
	for _, s := range info.Settings {
		if s.Key == "-race" {
			return s.Value == "true"
		}
	}
	return false
}
