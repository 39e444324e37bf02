// Command limits measures how far the service goes on each engine, beside what
// the machine could do at most: pgbench with the same transaction one by one,
// and net/http writing the same bytes. It starts a PostgreSQL of its own.
//
//	go run ./bench/limits -quick                        seconds, for a first look
//	go run ./bench/limits                               all cases
//	go run ./bench/limits -orders 1000000 -dir FOLDER   and with so many orders beside none
//	go run ./bench/limits -orders 1000000 -dir FOLDER -write   and docs/BENCHMARKS.md
package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"purveyor/bench/internal/load"
)

const pkg = "./bench/limits"

type options struct {
	seconds      float64
	rounds       int
	only, dir    string
	orders       int
	file         string
	quick, write bool
}

func main() {
	done, err := hidden(os.Args[1:])
	if !done {
		err = fromFlags()
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "limits:", err)
		os.Exit(1)
	}
}

// hidden runs the part of this program that is a process of its own, if that
// is what was called.
func hidden(args []string) (bool, error) {
	if len(args) != 3 || args[0] != "bare" {
		return false, nil
	}
	ctx, stop := load.UntilSignal()
	defer stop()
	return true, load.ServeBare(ctx, args[1], args[2])
}

func fromFlags() error {
	var o options
	flag.Float64Var(&o.seconds, "seconds", 3, "length of one run")
	flag.IntVar(&o.rounds, "rounds", 5, "rounds of each case")
	flag.StringVar(&o.only, "only", "", "cases to run, of "+strings.Join(caseNames, ",")+"; all if empty")
	flag.StringVar(&o.dir, "dir", "", "folder on disk for databases; the full ones stay there (default: a temporary folder)")
	flag.IntVar(&o.orders, "orders", 0, "compare also databases with so many orders")
	flag.BoolVar(&o.quick, "quick", false, "one short round of each case on few products; the figures say nothing")
	flag.BoolVar(&o.write, "write", false, "rewrite the generated section of the file")
	flag.StringVar(&o.file, "file", "docs/BENCHMARKS.md", "the file that -write rewrites, from the root of the module")
	flag.Parse()
	if flag.NArg() > 0 {
		return fmt.Errorf("%q is not understood", flag.Args())
	}
	text, err := o.measure()
	if text != "" {
		fmt.Println(text)
	}
	return err
}

func (o options) check() error {
	for _, name := range o.cases() {
		if !slices.Contains(caseNames, name) {
			return fmt.Errorf("-only: there is no case %q; choose from %s", name, strings.Join(caseNames, ","))
		}
	}
	switch {
	case o.orders > 0 && o.dir == "":
		return errors.New("-orders takes time to fill databases: name a folder for them with -dir")
	case o.write && (o.quick || o.only != ""):
		return errors.New("-write is for whole runs, without -quick and -only")
	}
	return nil
}

func (o options) cases() []string {
	if o.only == "" {
		return caseNames
	}
	return strings.Split(o.only, ",")
}

func (o options) pace() load.Pace {
	if o.quick {
		return load.NewPace(0.1, 1)
	}
	return load.NewPace(o.seconds, o.rounds)
}

// size is that of the empty databases: 100 products a store, so that a page of
// 100 is all that a store has.
func (o options) size() load.Size {
	if o.quick {
		return load.Size{Stores: 10, Products: 10 * goods}
	}
	return load.Size{Stores: 100, Products: 100 * goods}
}

const goods = 100 // of one store

// measure returns the report, even where a request failed.
func (o options) measure() (text string, err error) {
	if err := o.check(); err != nil {
		return "", err
	}
	ctx, stop := load.UntilSignal()
	defer stop()
	env, err := load.NewEnv(ctx, pkg, o.dir, o.pace())
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, env.Close()) }()
	l := &limits{Env: env, size: o.size(), orders: o.orders}
	defer func() { err = errors.Join(err, l.close()) }()
	if err := l.open(); err != nil {
		return "", err
	}
	if err := l.run(o.cases()); err != nil {
		return "", err
	}
	text = env.Report.Text()
	if o.write {
		if err := load.WriteSection(filepath.Join(env.Root, o.file), pkg, text); err != nil {
			return text, err
		}
	}
	return text, env.Report.Failed()
}
