// Package e2e_test drives the real program: as an operator at the command
// line, and as a partner over loopback HTTP.
package e2e_test

import (
	"flag"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime/debug"
	"testing"
)

// serverPath and commandPath are the program under test, built once for all tests: one for
// processes that stay, with the race detector if the tests have it, and one for
// commands that end by themselves. Those run by the hundred, and mostly start up,
// which takes five times as long with the race detector; the full run of
// scripts/test has them watched, too.
var serverPath, commandPath string

// program is the path of the server or the command. With -short they are not
// built, and the test is left out.
func program(t *testing.T, path string) string {
	t.Helper()
	if testing.Short() {
		t.Skip("-short leaves out what runs the program")
	}
	return path
}

// raceEnabled tells whether the tests, and so the program, watch for races.
var raceEnabled = builtWithRace()

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
	// One test runs the program as another user, who must reach it.
	if err := os.Chmod(dir, 0o755); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	serverPath = filepath.Join(dir, "purveyor")
	commandPath = serverPath
	err = build(serverPath, raceEnabled)
	if err == nil && raceEnabled && os.Getenv("PURVEYOR_TEST_LOAD") == "" {
		commandPath = filepath.Join(dir, "purveyor-command")
		err = build(commandPath, false)
	}
	if err != nil {
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

// build builds the program, without what only debuggers read. What else scripts/test asks for is in GOFLAGS.
func build(path string, race bool) error {
	cmd := exec.Command("go", "build", fmt.Sprintf("-race=%t", race), "-ldflags=-w", "-o", path, "purveyor/cmd/purveyor")
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
