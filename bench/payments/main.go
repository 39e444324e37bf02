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
	"flag"
	"fmt"
	"os"

	"purveyor/bench/internal/load"
)

const pkg = "./bench/payments"

var caseNames = []string{"checkout", "notices", "slow"}

type options struct{ load.Options }

func main() {
	done, err := hidden(os.Args[1:])
	if !done {
		err = fromFlags()
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "payments:", err)
		os.Exit(1)
	}
}

// hidden runs the part of this program that is a process of its own, if that
// is what was called.
func hidden(args []string) (bool, error) {
	if len(args) != 4 || args[0] != "profiled" {
		return false, nil
	}
	ctx, stop := load.UntilSignal()
	defer stop()
	return true, load.ServeProfiled(ctx, args[1], args[2], args[3])
}

func fromFlags() error {
	var o options
	o.Register(caseNames)
	o.RegisterProfile()
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

// sizes are how much there is in each database, how many orders are paid in a
// run, and how many wait for a slow processor.
type sizes struct {
	load.Size
	paid, waiting int
}

func (o options) sizes() sizes {
	if o.Quick {
		return sizes{load.Size{Stores: 4, Products: 400}, 200, 50}
	}
	return sizes{load.Size{Stores: 16, Products: 10_000}, 8000, 500}
}

// measure returns the report, even where a request failed.
func (o options) measure() (text string, err error) {
	if err := o.Check(caseNames); err != nil {
		return "", err
	}
	const quick = 0.1
	return o.Measure(pkg, quick, func(env *load.Env) (err error) {
		p := &payments{Env: env, sizes: o.sizes()}
		defer func() { err = errors.Join(err, p.close()) }()
		if err := p.open(); err != nil {
			return err
		}
		return p.run(o.Cases(caseNames))
	})
}
