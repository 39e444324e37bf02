// Command bench measures the service over real HTTP on loopback, each case
// beside its baseline in the same run, and prints a table with the ratios.
//
//	go run ./bench -quick                 a minute, for a first look
//	go run ./bench                        all cases on a small database
//	go run ./bench -large -dir FOLDER     and that cost does not grow with the data
//	go run ./bench -large -dir FOLDER -write   and docs/BENCHMARKS.md
package main

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"purveyor/bench/internal/load"
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
	ctx, stop := load.UntilSignal()
	defer stop()
	switch {
	case args[0] == "bare" && len(args) == 3:
		return load.ServeBare(ctx, args[1], args[2])
	case args[0] == "profiled" && len(args) == 4:
		return load.ServeProfiled(ctx, args[1], args[2], args[3])
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
	ctx, stop := load.UntilSignal()
	defer stop()
	env, err := load.NewEnv(ctx, "./bench", o.dir, o.pace())
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, env.Close()) }()
	b := &bench{env, o.profiles}
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
	text := b.Report.Text()
	fmt.Println(text)
	if o.write {
		if err := load.WriteSection(filepath.Join(b.Root, o.file), "./bench", text); err != nil {
			return err
		}
	}
	return b.Report.Failed()
}

var caseNames = []string{"product", "page", "order", "reports"}

// cases tells which cases are wanted.
func (o options) cases() func(string) bool {
	wanted := strings.Split(o.only, ",")
	return func(name string) bool { return o.only == "" || slices.Contains(wanted, name) }
}

func (o options) pace() load.Pace {
	if o.quick {
		return load.NewPace(1, 1)
	}
	return load.NewPace(o.seconds, o.rounds)
}

// bench is where and how long to measure.
type bench struct {
	*load.Env
	profiles string // folder for CPU profiles
}
