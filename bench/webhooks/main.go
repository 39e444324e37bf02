// Command webhooks measures how webhooks leave the service, on each engine, to
// a sink on loopback that checks what arrives. It starts a PostgreSQL of its own.
//
//	go run ./bench/webhooks -quick               seconds, for a first look
//	go run ./bench/webhooks                      all cases but the last
//	go run ./bench/webhooks -dir FOLDER          and on databases with a long record
//	go run ./bench/webhooks -dir FOLDER -write   and docs/BENCHMARKS.md
package main

import (
	"encoding/json"
	"errors"
	"flag"
	"slices"

	"purveyor/bench/internal/load"
)

const pkg = "./bench/webhooks"

var caseNames = []string{"drain", "latency", "reports", "record"}

type options struct {
	load.Options
	events  int // on record, of the full databases
	waiting int // in a drain
}

func main() { load.Main("webhooks", hidden, fromFlags) }

// hidden runs the parts of this program that are processes of their own, if
// one of them was called.
func hidden(args []string) (bool, error) {
	if len(args) != 2 || args[0] != "post" {
		return load.Profiled(args)
	}
	ctx, stop := load.UntilSignal()
	defer stop()
	var p posting
	if err := json.Unmarshal([]byte(args[1]), &p); err != nil {
		return true, err
	}
	return true, p.run(ctx)
}

func fromFlags() (string, error) {
	var o options
	o.Register(caseNames)
	flag.IntVar(&o.events, "events", 1_000_000, "webhooks on record in the full databases; a tenth as many wait for a dead endpoint")
	flag.IntVar(&o.waiting, "waiting", 10_000, "webhooks that wait in a drain; more of them give a profile more to show")
	o.RegisterProfile()
	if err := load.ParseFlags(); err != nil {
		return "", err
	}
	return o.measure()
}

// cases are those that are wanted. The record takes long to make, so that it
// needs a folder where it stays.
func (o options) cases() []string {
	cases := o.Cases(caseNames)
	if o.Only == "" && o.Dir == "" && !o.Quick {
		return slices.DeleteFunc(slices.Clone(cases), func(name string) bool { return name == "record" })
	}
	return cases
}

// sizes are how much there is in each database, and how much waits in a drain.
type sizes struct {
	empty, full load.Size
	waiting     int
	reportTurns int // of reports with and without webhooks, in each round
}

func (o options) sizes() sizes {
	s := sizes{empty: load.Size{Stores: 16, Products: 10_000}, waiting: o.waiting, reportTurns: 16}
	events := o.events
	if o.Quick {
		s = sizes{empty: load.Size{Stores: 4, Products: 400}, waiting: 80, reportTurns: 2}
		events = 400
	}
	s.full = s.empty
	s.full.Events, s.full.Parked = events, events/10
	return s
}

// measure returns the report, even where a request failed.
func (o options) measure() (text string, err error) {
	if err := o.Check(caseNames); err != nil {
		return "", err
	}
	if o.Dir == "" && !o.Quick && (o.Write || slices.Contains(o.cases(), "record")) {
		return "", errors.New("a long record takes time to make: name a folder for it with -dir")
	}
	const quick = 0.2
	return o.Measure(pkg, quick, func(env *load.Env) (err error) {
		w := &webhooks{Env: env, sizes: o.sizes()}
		defer func() { err = errors.Join(err, w.close()) }()
		if err := w.open(slices.Contains(o.cases(), "record")); err != nil {
			return err
		}
		return w.run(o.cases())
	})
}
