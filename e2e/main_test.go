// Package e2e_test drives the built program: as an operator at the command line, and
// as a partner over HTTP on loopback.
package e2e_test

import (
	"flag"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"purveyor/internal/testkit/check"
)

// programPath is the program under test, built once for all tests. It has the race detector if
// the tests have it, as in the full run of scripts/test.
var programPath string

// program returns the path of the program. With -short it is not built, and the test is
// skipped.
func program(t *testing.T) string {
	t.Helper()
	if testing.Short() {
		t.Skip("-short leaves out what runs the program")
	}
	return programPath
}

// raceEnabled reports whether the program has the race detector: if the tests have it.
var raceEnabled = check.WithRace()

func TestMain(m *testing.M) { os.Exit(buildAndRun(m)) }

func buildAndRun(m *testing.M) int {
	flag.Parse()
	if testing.Short() {
		return m.Run()
	}
	if err := readSources(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	dir, err := os.MkdirTemp("", "purveyor-bin-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(dir)
	// One test runs the program as another user, which has to reach it.
	if err := os.Chmod(dir, 0o755); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	programPath = filepath.Join(dir, "purveyor")
	if err := build(programPath, raceEnabled); err != nil {
		fmt.Fprintln(os.Stderr, "the program does not build:", err)
		return 1
	}
	return m.Run()
}

// readSources lists the folders of the program's code. "go test" remembers which
// folders a test has listed, and runs it again when a file there has changed. It
// does not see what the build in a process of its own depends on.
func readSources() error {
	for _, dir := range []string{"../cmd", "../internal"} {
		err := filepath.WalkDir(dir, func(_ string, _ fs.DirEntry, err error) error { return err })
		if err != nil {
			return err
		}
	}
	return nil
}

// build builds the program without debug information. GOFLAGS holds what else
// scripts/test asks for.
func build(path string, race bool) error {
	cmd := exec.Command("go", "build", fmt.Sprintf("-race=%t", race), "-ldflags=-w", "-o", path, "purveyor/cmd/purveyor")
	cmd.Stdout, cmd.Stderr = os.Stderr, os.Stderr
	return cmd.Run()
}
