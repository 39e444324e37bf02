// Command bench measures the service over real HTTP on loopback, each case
// beside its baseline in the same run, and prints a table with the ratios.
//
//	go run ./bench -quick                 a minute, for a first look
//	go run ./bench                        all cases on a small database
//	go run ./bench -large -dir FOLDER     and that cost does not grow with the data
//	go run ./bench -large -dir FOLDER -write   and docs/BENCHMARKS.md
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

type options struct {
	quick, small, large, write bool
	only, dir, file            string
	profiles                   string
	seconds                    float64
	rounds                     int
}

func main() {
	err := hidden(os.Args[1:])
	if errors.Is(err, errNotHidden) {
		err = measure()
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

var errNotHidden = errors.New("not a hidden command")

// hidden runs the parts of this program that are processes of their own.
func hidden(args []string) error {
	if len(args) == 0 {
		return errNotHidden
	}
	ctx, stop := untilSignal()
	defer stop()
	switch {
	case args[0] == "bare" && len(args) == 3:
		return serveBare(ctx, args[1], args[2])
	case args[0] == "profiled" && len(args) == 4:
		return serveProfiled(ctx, args[1], args[2], args[3])
	case args[0] == "direct" && len(args) == 2:
		var r directRun
		if err := json.Unmarshal([]byte(args[1]), &r); err != nil {
			return err
		}
		return r.run()
	}
	return errNotHidden
}

func measure() (err error) {
	var o options
	flag.BoolVar(&o.quick, "quick", false, "one short round of each case; the figures are rough")
	flag.BoolVar(&o.small, "small", true, "measure on the small database")
	flag.BoolVar(&o.large, "large", false, "also compare a large database with a small one")
	flag.StringVar(&o.only, "only", "", "cases to run, of product,page,order,reports; all if empty")
	flag.Float64Var(&o.seconds, "seconds", 3, "length of one run")
	flag.IntVar(&o.rounds, "rounds", 5, "rounds of each case")
	flag.StringVar(&o.dir, "dir", "", "folder on disk for databases; the large one stays there (default: a temporary folder)")
	flag.BoolVar(&o.write, "write", false, "rewrite the generated section of the file")
	flag.StringVar(&o.file, "file", "docs/BENCHMARKS.md", "the file that -write rewrites, from the root of the module")
	flag.StringVar(&o.profiles, "profile", "", "only write CPU profiles of the server into this folder, of the small database or with -large of the large one")
	flag.Parse()
	if flag.NArg() > 0 {
		return fmt.Errorf("%q is not understood", flag.Args())
	}
	for name := range strings.SplitSeq(o.only, ",") {
		if o.only != "" && !slices.Contains(caseNames, name) {
			return fmt.Errorf("-only: there is no case %q; choose from %s", name, strings.Join(caseNames, ","))
		}
	}
	if o.write && (o.quick || o.only != "" || !o.small) {
		return errors.New("-write is for whole runs, without -quick, -only and -small=false")
	}
	ctx, stop := untilSignal()
	defer stop()
	b, err := newBench(ctx, o)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(b.work)) }()
	if o.profiles != "" {
		return b.profile(o.cases(), o.large)
	}
	if o.small {
		if err := b.small(o.cases()); err != nil {
			return err
		}
	}
	if o.large {
		if err := b.large(o.cases()); err != nil {
			return err
		}
	}
	text := b.report.text()
	fmt.Println(text)
	if o.write {
		if err := writeSection(filepath.Join(b.root, o.file), text); err != nil {
			return err
		}
	}
	return b.report.failed()
}

var caseNames = []string{"product", "page", "order", "reports"}

// cases tells which cases are wanted.
func (o options) cases() func(string) bool {
	wanted := strings.Split(o.only, ",")
	return func(name string) bool { return o.only == "" || slices.Contains(wanted, name) }
}

func (o options) pace() pace {
	p := pace{measured: time.Duration(o.seconds * float64(time.Second)), rounds: max(o.rounds, 1)}
	if o.quick {
		p = pace{measured: time.Second, rounds: 1}
	}
	p.warm = min(p.measured/3, time.Second)
	return p
}

// newBench builds the service and makes a folder for its databases.
func newBench(ctx context.Context, o options) (*bench, error) {
	module, err := exec.CommandContext(ctx, "go", "list", "-m", "-f", "{{.Dir}}").Output()
	if err != nil {
		return nil, fmt.Errorf("run this inside of the module: %w", err)
	}
	b := &bench{ctx: ctx, root: strings.TrimSpace(string(module)), dir: o.dir, pace: o.pace(), profiles: o.profiles}
	if b.self, err = os.Executable(); err != nil {
		return nil, err
	}
	if o.dir != "" {
		if err := os.MkdirAll(o.dir, 0o700); err != nil {
			return nil, err
		}
	}
	if b.work, err = os.MkdirTemp(o.dir, "purveyor-bench-"); err != nil {
		return nil, err
	}
	if b.dir == "" {
		b.dir = b.work
	}
	b.program = filepath.Join(b.work, "purveyor")
	if _, err := run(ctx, "go", "build", "-C", b.root, "-o", b.program, "./cmd/purveyor"); err != nil {
		return nil, errors.Join(err, os.RemoveAll(b.work))
	}
	if b.report, err = newReport(b.work, os.Args[1:]); err != nil {
		return nil, errors.Join(err, os.RemoveAll(b.work))
	}
	return b, nil
}
