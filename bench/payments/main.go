// Command payments measures card payments on each engine: checkouts in the
// payment sandbox, the notices that say that they are paid, and what others
// notice of a slow processor. It starts a PostgreSQL of its own.
//
//	go run ./bench/payments -quick     seconds, for a first look
//	go run ./bench/payments            all cases
//	go run ./bench/payments -write     and docs/BENCHMARKS.md
package main

import (
	"errors"

	"purveyor/bench/internal/load"
)

const pkg = "./bench/payments"

var caseNames = []string{"checkout", "notices", "slow"}

type options struct{ load.Options }

func main() { load.Main("payments", load.Profiled, fromFlags) }

func fromFlags() (string, error) {
	var o options
	o.Register(caseNames)
	o.RegisterProfile()
	if err := load.ParseFlags(); err != nil {
		return "", err
	}
	return o.measure()
}

// sizes are how much there is in each database, how many orders are paid in a
// run, and how many wait for a slow processor.
type sizes struct {
	load.Size
	paid, waiting int
}

func (o options) sizes() sizes {
	if o.Quick {
		return sizes{load.Size{Stores: 4, Products: 400}, 80, 20}
	}
	return sizes{load.Size{Stores: 16, Products: 10_000}, 8000, 500}
}

// payments is one run: everything that is measured against each other.
type payments struct {
	*load.Env
	sizes
	list []*load.Contender
}

// measure returns the report, even where a request failed.
func (o options) measure() (text string, err error) {
	if err := o.Check(caseNames); err != nil {
		return "", err
	}
	const quick = 0.1
	return o.Measure(pkg, quick, func(env *load.Env) (err error) {
		databases, err := env.OpenDatabases()
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, databases.Close()) }()
		p := &payments{Env: env, sizes: o.sizes()}
		if p.list, err = databases.Both("empty", p.Size); err != nil {
			return err
		}
		return p.run(o.Cases(caseNames))
	})
}
