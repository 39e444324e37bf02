package load

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// Env is what every part of a benchmark needs: where things are and how long
// runs take.
type Env struct {
	Ctx      context.Context
	Program  string // the service
	Self     string // this program, for its hidden commands
	Root     string // of the module
	Work     string // scratch, removed at the end
	Dir      string // where large databases stay
	Profiles string // where CPU profiles of the service go; empty: none are made
	Pace     Pace
	Report   *Report
}

// NewEnv builds the service and makes a folder for databases, inside of dir if
// that is not empty. The package is the one that is run; the caller closes.
func NewEnv(ctx context.Context, pkg, dir string, p Pace) (*Env, error) {
	module, err := exec.CommandContext(ctx, "go", "list", "-m", "-f", "{{.Dir}}").Output()
	if err != nil {
		return nil, fmt.Errorf("run this inside of the module: %w", err)
	}
	e := &Env{Ctx: ctx, Root: strings.TrimSpace(string(module)), Dir: dir, Pace: p}
	if e.Self, err = os.Executable(); err != nil {
		return nil, err
	}
	if dir != "" {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			return nil, err
		}
	}
	if e.Work, err = os.MkdirTemp(dir, "purveyor-bench-"); err != nil {
		return nil, err
	}
	if dir == "" {
		e.Dir = e.Work
	}
	e.Program = filepath.Join(e.Work, "purveyor")
	// Of what is run the linked program stays in the cache, of what is built it does not.
	if _, err := Output(ctx, "go", "run", "-C", e.Root, "-exec", "cp", "./cmd/purveyor", e.Program); err != nil {
		return nil, errors.Join(err, e.Close())
	}
	if e.Report, err = newReport(e.Work, commandLine(pkg, os.Args[1:], dir)); err != nil {
		return nil, errors.Join(err, e.Close())
	}
	return e, nil
}

// Close removes the scratch folder.
func (e *Env) Close() error { return os.RemoveAll(e.Work) }

// commandLine is what was called, for everyone's eyes: the folder is only
// named.
func commandLine(pkg string, args []string, dir string) string {
	line := "go run " + pkg
	for _, arg := range args {
		if before, ok := strings.CutSuffix(arg, dir); ok && dir != "" && (before == "" || strings.HasSuffix(before, "-dir=")) {
			arg = before + "FOLDER"
		}
		line += " " + arg
	}
	return line
}
