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

// binary is the program under test, built once for all tests.
var binary string

// program is the path of the program under test. With -short it is not built,
// and the test is left out.
func program(t *testing.T) string {
	t.Helper()
	if testing.Short() {
		t.Skip("-short leaves out what runs the program")
	}
	return binary
}

// raceEnabled tells whether the tests, and so the program, watch for races.
var raceEnabled = builtWithRace()

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
	binary = filepath.Join(dir, "purveyor")
	args := []string{"build", "-o", binary}
	if raceEnabled { // what else scripts/test asks for is in GOFLAGS
		args = append(args, "-race")
	}
	build := exec.Command("go", append(args, ".")...)
	build.Stdout, build.Stderr = os.Stderr, os.Stderr
	if err := build.Run(); err != nil {
		fmt.Fprintln(os.Stderr, "the program does not build:", err)
		return 1
	}
	return m.Run()
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
