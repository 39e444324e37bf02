package load

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"
)

// Options are what the command line of a benchmark says.
type Options struct {
	Seconds         float64
	Rounds          int
	Only, Dir, File string
	Profiles        string // folder for CPU profiles of the service; empty: none
	Quick, Write    bool
}

// Register makes the flags of a benchmark with these cases.
func (o *Options) Register(cases []string) {
	flag.Float64Var(&o.Seconds, "seconds", 3, "length of one run")
	flag.IntVar(&o.Rounds, "rounds", 5, "rounds of each case")
	flag.StringVar(&o.Only, "only", "", "cases to run, of "+strings.Join(cases, ",")+"; all if empty")
	flag.StringVar(&o.Dir, "dir", "", "folder on disk for databases; the full ones stay there (default: a temporary folder)")
	flag.BoolVar(&o.Quick, "quick", false, "one short round of each case on few rows; the figures say nothing")
	flag.BoolVar(&o.Write, "write", false, "rewrite the generated section of the file")
	flag.StringVar(&o.File, "file", "docs/BENCHMARKS.md", "the file that -write rewrites, from the root of the module")
}

// RegisterProfile makes the flag of a benchmark that runs the service by With.
func (o *Options) RegisterProfile() {
	flag.StringVar(&o.Profiles, "profile", "", "also write a CPU profile of the service in each case into this folder, of the last round")
}

// Check refuses what cannot work.
func (o Options) Check(cases []string) error {
	for _, name := range o.Cases(cases) {
		if !slices.Contains(cases, name) {
			return fmt.Errorf("-only: there is no case %q; choose from %s", name, strings.Join(cases, ","))
		}
	}
	if o.Write && (o.Quick || o.Only != "") {
		return errors.New("-write is for whole runs, without -quick and -only")
	}
	return nil
}

// Cases are those that are wanted, of all that there are.
func (o Options) Cases(all []string) []string {
	if o.Only == "" {
		return all
	}
	return strings.Split(o.Only, ",")
}

// Measure returns the report of what run measures, even where a request
// failed. A quick run is so many seconds long.
func (o Options) Measure(pkg string, quick float64, run func(*Env) error) (text string, err error) {
	debug.SetGCPercent(400) // this process shares the machine with what it measures
	ctx, stop := UntilSignal()
	defer stop()
	pace := NewPace(o.Seconds, o.Rounds)
	if o.Quick {
		pace = NewPace(quick, 1)
	}
	env, err := NewEnv(ctx, pkg, o.Dir, pace)
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, env.Close()) }()
	if env.Profiles = o.Profiles; env.Profiles != "" {
		if err := os.MkdirAll(env.Profiles, 0o755); err != nil {
			return "", err
		}
	}
	if err := run(env); err != nil {
		return "", err
	}
	text = env.Report.Text()
	if o.Write {
		if err := WriteSection(filepath.Join(env.Root, o.File), pkg, text); err != nil {
			return text, err
		}
	}
	return text, env.Report.Failed()
}
