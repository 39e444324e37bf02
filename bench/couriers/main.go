// Command couriers measures deliveries on each engine: the search for nearby
// stores, the preflight of a cart, what couriers tell, and thousands of couriers
// of the sandbox who move at once. It starts a PostgreSQL of its own.
//
//	go run ./bench/couriers -quick     seconds, for a first look
//	go run ./bench/couriers            all cases
//	go run ./bench/couriers -write     and docs/BENCHMARKS.md
package main

import (
	"errors"
	"flag"
	"time"

	"purveyor/bench/internal/load"
)

const pkg = "./bench/couriers"

var caseNames = []string{"nearby", "preflight", "notices", "moving"}

type options struct {
	load.Options
	moving int           // couriers who move at once
	step   time.Duration // between two steps of one of them
}

func main() { load.Main("couriers", load.Profiled, fromFlags) }

func fromFlags() (string, error) {
	var o options
	o.Register(caseNames)
	flag.IntVar(&o.moving, "couriers", 10_000, "couriers who move at once")
	flag.DurationVar(&o.step, "step", 5*time.Second, "time between two steps of one of them")
	o.RegisterProfile()
	if err := load.ParseFlags(); err != nil {
		return "", err
	}
	return o.measure()
}

// sizes are how much there is in each database and each run.
type sizes struct {
	small, near load.Size     // with orders, and with stores to be searched
	tracked     int           // deliveries that notices are about; a multiple of load.Callers
	moving      int           // couriers who move at once
	step        time.Duration // between two steps of one of them
}

func (o options) sizes() sizes {
	if o.Quick {
		return sizes{load.Size{Stores: 4, Products: 400}, load.Size{Stores: 500, Products: 500, Spread: true}, load.Callers, 40, 200 * time.Millisecond}
	}
	return sizes{load.Size{Stores: 16, Products: 10_000}, load.Size{Stores: 100_000, Products: 100_000, Spread: true}, 12 * load.Callers, o.moving, o.step}
}

// couriers is one run: everything that is measured against each other.
type couriers struct {
	*load.Env
	sizes
	databases *load.Databases
}

// measure returns the report, even where a request failed.
func (o options) measure() (text string, err error) {
	if err := o.Check(caseNames); err != nil {
		return "", err
	}
	const quick = 0.1
	return o.Measure(pkg, quick, func(env *load.Env) error {
		databases, err := env.OpenDatabases()
		if err != nil {
			return err
		}
		c := &couriers{env, o.sizes(), databases}
		return errors.Join(c.run(o.Cases(caseNames)), databases.Close())
	})
}
