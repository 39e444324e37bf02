package main

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"
)

// suite are the tests of one package, which decide whether a mutant is seen.
type suite struct {
	path  string // of the package
	only  string // the tests, as for -test.run; empty: all
	short bool   // as -test.short: without PostgreSQL
	depth int    // subtests up to this level are tests of their own; 0: none
}

// test is a test that the runner starts by itself.
type test struct {
	name    string
	took    time.Duration
	reaches map[int]bool // the mutants
}

// runner runs the tests of one suite against mutants.
type runner struct {
	suite
	binary string
	dir    string
	flags  []string
	exec   []string // begins every command line
	tests  []test
}

// rapidFlags make property tests draw the same in every run.
var rapidFlags = []string{"-rapid.seed=1", "-rapid.nofailfile", "-rapid.shrinktime=0s"}

func newRunner(m *mutated, s suite, before []string) (*runner, error) {
	r := &runner{suite: s, exec: before}
	dir, err := command("go", "list", "-f", "{{.Dir}}", s.path).Output()
	if err != nil {
		return nil, err
	}
	r.dir = strings.TrimSpace(string(dir))
	if r.binary, err = m.compile(s.path); err != nil {
		return nil, err
	}
	uses, err := command("go", "list", "-test", "-deps", s.path).Output()
	if err != nil {
		return nil, err
	}
	if strings.Contains(string(uses), "\npgregory.net/rapid\n") {
		r.flags = rapidFlags
	}
	return r, r.cover(filepath.Join(m.work, "reached"))
}

// result is how a run of tests ended.
type result int

const (
	passed result = iota
	failed
	timedOut
)

// run runs tests. A run that takes longer than the limit is ended.
func (r *runner) run(limit time.Duration, pattern string, env []string, flags ...string) (result, []byte) {
	// The tests end by themselves; what begins the command line may wait for long.
	grace := 10 * time.Second
	if len(r.exec) > 0 {
		grace = time.Hour
	}
	ctx, cancel := context.WithTimeout(context.Background(), limit+grace)
	defer cancel()
	args := slices.Concat(r.exec, []string{r.binary, "-test.run", pattern, "-test.failfast", "-test.timeout", limit.String()}, r.flags, flags)
	if r.short {
		args = append(args, "-test.short")
	}
	cmd := exec.CommandContext(ctx, args[0], args[1:]...)
	cmd.Dir, cmd.Env, cmd.WaitDelay = r.dir, append(os.Environ(), env...), time.Second
	cmd.Env = append(cmd.Env, "GOMAXPROCS=1", "GOTRACEBACK=none")
	out, err := cmd.CombinedOutput()
	switch {
	case ctx.Err() != nil || bytes.Contains(out, []byte("panic: test timed out after")):
		return timedOut, out
	case err != nil:
		return failed, out
	}
	return passed, out
}

// cover runs every test alone and notes which mutants it reaches, and how long it takes.
func (r *runner) cover(path string) error {
	ended, out := r.run(20*time.Minute, cmp.Or(r.only, "."), nil, "-test.v")
	if ended != passed {
		return fmt.Errorf("the tests of %s fail without a mutant:\n%s", r.path, out)
	}
	for _, name := range r.names(out) {
		os.Remove(path)
		begun := time.Now()
		if ended, out := r.run(10*time.Minute, pattern(name), []string{"MUTANTS_REACHED=" + path}); ended != passed {
			return fmt.Errorf("%s fails alone, without a mutant:\n%s", name, out)
		}
		t := test{name, time.Since(begun), map[int]bool{}}
		text, err := os.ReadFile(path)
		if err != nil && !os.IsNotExist(err) {
			return err
		}
		for lines := bufio.NewScanner(strings.NewReader(string(text))); lines.Scan(); {
			var first, count int
			fmt.Sscan(lines.Text(), &first, &count)
			for id := first; id < first+count; id++ {
				t.reaches[id] = true
			}
		}
		r.tests = append(r.tests, t)
	}
	slices.SortStableFunc(r.tests, func(a, b test) int { return cmp.Compare(a.took, b.took) })
	return nil
}

var passLine = regexp.MustCompile(`(?m)^ *--- PASS: (\S+) `)

// names of the tests that ran. A test with subtests of their own is left out.
func (r *runner) names(out []byte) (names []string) {
	all := map[string]bool{}
	for _, match := range passLine.FindAllStringSubmatch(string(out), -1) {
		parts := strings.Split(match[1], "/")
		all[strings.Join(parts[:min(len(parts), max(r.depth, 1))], "/")] = true
	}
	for name := range all {
		parent := false
		for other := range all {
			parent = parent || strings.HasPrefix(other, name+"/")
		}
		if !parent {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// pattern matches tests that have the same parent.
func pattern(names ...string) string {
	cut := strings.LastIndexByte(names[0], '/') + 1
	var last []string
	for _, n := range names {
		last = append(last, regexp.QuoteMeta(n[cut:]))
	}
	parents := ""
	for _, p := range strings.Split(names[0][:cut], "/")[:strings.Count(names[0][:cut], "/")] {
		parents += "^" + regexp.QuoteMeta(p) + "$/"
	}
	return parents + "^(" + strings.Join(last, "|") + ")$"
}

// covers reports whether a test reaches a mutant.
func (r *runner) covers(id int) bool {
	return slices.ContainsFunc(r.tests, func(t test) bool { return t.reaches[id] })
}

// quick tests run together.
const quick = 30 * time.Millisecond

// surely is how many times longer than expected a test must run, the second time, to count as hanging.
const surely = 6

// try runs the tests that reach a mutant until one fails, first the one that is named, which
// most likely does, then the quick ones together, then the others.
func (r *runner) try(id int, first string) (result, string) {
	var groups [][]test
	var together []test
	for _, t := range r.tests {
		switch {
		case !t.reaches[id] || t.name == first:
		case t.took <= quick && !strings.Contains(t.name, "/"):
			together = append(together, t)
		default:
			groups = append(groups, []test{t})
		}
	}
	if len(together) > 0 {
		groups = slices.Insert(groups, 0, together)
	}
	for _, t := range r.tests {
		if t.name == first && t.reaches[id] {
			groups = slices.Insert(groups, 0, []test{t})
		}
	}
	for _, g := range groups {
		limit := 1500 * time.Millisecond
		var names []string
		for _, t := range g {
			limit += 4 * t.took
			names = append(names, t.name)
		}
		chosen := []string{fmt.Sprint("MUTANT=", id)}
		ended, out := r.run(limit, pattern(names...), chosen)
		if ended == timedOut { // on a busy machine a test may only be slow
			ended, out = r.run(surely*limit, pattern(names...), chosen)
		}
		if ended != passed {
			return ended, blamed(out, g)
		}
	}
	return passed, ""
}

var failLine = regexp.MustCompile(`(?m)^ *--- FAIL: (\S+) `)

// blamed is the test of the group that failed; empty: it is not known.
func blamed(out []byte, g []test) string {
	if len(g) == 1 {
		return g[0].name
	}
	if match := failLine.FindSubmatch(out); match != nil {
		return string(match[1])
	}
	return ""
}
