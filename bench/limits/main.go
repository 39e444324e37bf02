// Command limits measures how far the service goes on each engine, beside what
// the machine could do at most: pgbench with the same transaction one by one,
// and net/http writing the same bytes. It starts a PostgreSQL of its own.
//
//	go run ./bench/limits -quick                        seconds, for a first look
//	go run ./bench/limits                               all cases
//	go run ./bench/limits -orders 1000000 -dir FOLDER   and with so many orders beside none
//	go run ./bench/limits -orders 1000000 -dir FOLDER -write   and docs/BENCHMARKS.md
//	go run ./bench/limits -only reports,hot -old PROGRAM -rounds 10   beside an older build of the service
package main

import (
	"errors"
	"flag"

	"purveyor/bench/internal/load"
)

const pkg = "./bench/limits"

type options struct {
	load.Options
	orders int
	old    string
}

func main() { load.Main("limits", hidden, fromFlags) }

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

func fromFlags() (string, error) {
	var o options
	o.Register(caseNames)
	flag.IntVar(&o.orders, "orders", 0, "compare also databases with so many orders")
	flag.StringVar(&o.old, "old", "", "an older program of the service, to compare with, on databases of its own")
	if err := load.ParseFlags(); err != nil {
		return "", err
	}
	return o.measure()
}

// size is that of the empty databases: 100 products a store, so that a page of
// 100 is all that a store has.
func (o options) size() load.Size {
	if o.Quick {
		return load.Size{Stores: 10, Products: 10 * goods}
	}
	return load.Size{Stores: 100, Products: 100 * goods}
}

const goods = 100 // of one store

// measure returns the report, even where a request failed.
func (o options) measure() (text string, err error) {
	if err := o.Check(caseNames); err != nil {
		return "", err
	}
	if o.orders > 0 && o.Dir == "" {
		return "", errors.New("-orders takes time to fill databases: name a folder for them with -dir")
	}
	const quick = 0.1
	return o.Measure(pkg, quick, func(env *load.Env) (err error) {
		l := &limits{Env: env, size: o.size(), orders: o.orders, old: o.old}
		defer func() { err = errors.Join(err, l.close()) }()
		if err := l.open(); err != nil {
			return err
		}
		return l.run(o.Cases(caseNames))
	})
}
