// Command mutate measures how much the tests of a package see: it changes the
// package in many small ways (mutants), one at a time, and looks whether a test fails.
//
//	./scripts/mutate ./internal/commerce
//
// All mutants are compiled into one test binary, in which an environment variable chooses
// one, so that a mutant costs a run of the tests that reach it and no build.
//
// A mutant that no test sees has a line in mutate/survivors, with the reason why none can:
// it is equivalent, or it changes only the speed, or only text for people. Without a line the
// command fails.
package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"time"
)

// suites are the tests that count for a package: its own first, then those of packages
// that use it.
var suites = map[string][]suite{
	"commerce": {{path: "./internal/commerce"}, {path: "./internal/command"}},
	"command": {
		{path: "./internal/command"},
		{path: "./internal/scenario", only: "^TestTranscripts$", short: true, depth: 2},
		{path: "./internal/simulation", only: "^TestSeeds$/^seed_10(00|20)$", depth: 2},
	},
	"commit": {
		{path: "./internal/commit", short: true},
		{path: "./internal/simulation", only: "^TestSeeds$/^seed_10(00|20)$", depth: 2},
	},
	"jobs": {
		{path: "./internal/jobs"},
		{path: "./internal/simulation", only: "^TestSeeds$/^seed_1000$", depth: 2},
	},
}

func main() {
	only := flag.String("only", "", "regular expression: try only mutants whose key matches")
	list := flag.Bool("list", false, "list the mutants and end")
	before := flag.String("exec", "", "words that begin the command line of each run of tests, as nice -n 15")
	keep := flag.String("work", "", "folder for the mutated sources and binaries (default: a temporary one)")
	own := flag.Bool("own", false, "only the tests of the package itself")
	flag.Parse()
	if flag.NArg() != 1 {
		fmt.Fprintln(os.Stderr, "usage: mutate [flags] PACKAGE")
		os.Exit(2)
	}
	ok, err := measure(flag.Arg(0), options{only: regexp.MustCompile(*only), list: *list, exec: strings.Fields(*before), work: *keep, own: *own})
	if err != nil {
		fmt.Fprintln(os.Stderr, "mutate:", err)
		os.Exit(1)
	}
	if !ok {
		os.Exit(1)
	}
}

type options struct {
	only *regexp.Regexp
	list bool
	exec []string
	work string
	own  bool
}

// measure tries all mutants of a package, and reports whether every survivor has its reason.
func measure(path string, o options) (bool, error) {
	work := o.work
	if work == "" {
		var err error
		if work, err = os.MkdirTemp("", "mutate"); err != nil {
			return false, err
		}
		defer os.RemoveAll(work)
	}
	if err := os.MkdirAll(work, 0o755); err != nil {
		return false, err
	}
	m, err := mutate(path, work)
	if err != nil {
		return false, err
	}
	if o.list {
		for _, x := range m.mutants {
			fmt.Printf("%d\t%s\t%s\n", x.id, x.line, x.key)
		}
		return true, nil
	}
	name := filepath.Base(m.Dir)
	tests := suites[name]
	if tests == nil {
		tests = []suite{{path: path}}
	}
	if o.own {
		tests = tests[:1]
	}
	reasons, err := readSurvivors(filepath.Join("mutate", "survivors", name+".txt"))
	if err != nil {
		return false, err
	}
	outcomes, err := tryAll(m, tests, o, newHints(filepath.Join(cacheDir(), name+".json")))
	if err != nil {
		return false, err
	}
	return report(os.Stdout, outcomes, reasons, o.only), nil
}

// outcome is what became of a mutant.
type outcome struct {
	mutant
	covered bool
	ended   result
}

// tryAll tries every mutant with the tests of one suite after the other.
func tryAll(m *mutated, tests []suite, o options, hints *hints) ([]outcome, error) {
	var outcomes []outcome
	for _, x := range m.mutants {
		if o.only.MatchString(x.key) {
			outcomes = append(outcomes, outcome{mutant: x})
		}
	}
	for _, s := range tests {
		r, err := newRunner(m, s, o.exec)
		if err != nil {
			return nil, err
		}
		begun, tried := time.Now(), 0
		for i := range outcomes {
			x := &outcomes[i]
			if x.ended != passed || !r.covers(x.id) {
				continue
			}
			if tried++; tried%200 == 0 {
				fmt.Fprintf(os.Stderr, "%s: %d mutants tried in %v\n", s.path, tried, time.Since(begun).Round(time.Second))
			}
			x.covered = true
			var killer string
			x.ended, killer = r.try(x.id, hints.Killers[s.path+" "+x.key])
			if x.ended != passed {
				hints.Killers[s.path+" "+x.key] = killer
			}
		}
		hints.save()
	}
	return outcomes, nil
}

// hints remember which test saw a mutant, so that it is the first to run next time.
type hints struct {
	path    string
	Killers map[string]string // SUITE KEY: test
}

func newHints(path string) *hints {
	h := &hints{path: path}
	if text, err := os.ReadFile(path); err == nil {
		_ = json.Unmarshal(text, h) // without hints it only takes longer
	}
	if h.Killers == nil {
		h.Killers = map[string]string{}
	}
	return h
}

func cacheDir() string {
	dir, err := os.UserCacheDir()
	if err != nil {
		dir = os.TempDir()
	}
	return filepath.Join(dir, "purveyor-mutate")
}

func (h *hints) save() {
	if text, err := json.Marshal(h); err == nil {
		_ = os.MkdirAll(filepath.Dir(h.path), 0o755)
		_ = os.WriteFile(h.path, text, 0o644)
	}
}
