// Simulate plays days of a busy merchant in a simulated world, and looks for what must not
// be. One seed gives one history:
//
//	go run ./simulate -seed 1 -processes 3 -hours 24 -orders 10000
//	go run ./simulate -hunt 10m -hours 3 -orders 300
//	go run ./simulate -seed 7 -shrink
package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"os"
	"runtime/debug"
	"runtime/pprof"
	"slices"
	"strconv"
	"strings"
	"time"

	"purveyor/internal/simulation"
)

func main() {
	var o simulation.Options
	flag.Uint64Var(&o.Seed, "seed", 1, "what every choice is drawn from")
	flag.IntVar(&o.Processes, "processes", 3, "how many processes serve at a time")
	flag.IntVar(&o.Hours, "hours", 24, "in how many hours the orders come")
	flag.IntVar(&o.Orders, "orders", 10_000, "how many customers come")
	flag.BoolVar(&o.Calm, "calm", false, "nothing fails, and no process dies")
	flag.StringVar(&o.Database, "engine", "memory", "where the rows are: memory; or, at true speed, sqlite, postgres, or the URL of an empty database")
	flag.Uint64Var(&o.Luck, "luck", 0, "draws other faults for the same customers")
	flag.Func("only", "the numbers of the stories that are played, as in 4,17; all by default", func(text string) (err error) {
		for number := range strings.SplitSeq(text, ",") {
			n, bad := strconv.Atoi(number)
			o.Only, err = append(o.Only, n), errors.Join(err, bad)
		}
		return err
	})
	flag.Func("without", "the kinds of trouble that do not happen, as in kills,tags; of all: "+strings.Join(simulation.Troubles, ", "), func(text string) error {
		if o.Without = strings.Split(text, ","); text == "all" {
			o.Without = simulation.Troubles
		}
		for _, kind := range o.Without {
			if !slices.Contains(simulation.Troubles, kind) {
				return fmt.Errorf("%q is no kind of trouble", kind)
			}
		}
		return nil
	})
	story := flag.Bool("tell", false, "tell the story of what breaks first")
	flag.BoolVar(&o.Rows, "rows", false, "write every row that changes to the history, too")
	history := flag.String("history", "", "the file to write the history to")
	profile := flag.String("cpuprofile", "", "the file to write a profile to")
	within := flag.Duration("hunt", 0, "play one seed after another on all cores for this long")
	first := flag.Bool("first", false, "end the hunt at the first seed that fails")
	smaller := flag.Bool("shrink", false, "look for a shorter history of the seed that fails, and tell its story")
	flag.Parse()
	if o.Database == "memory" {
		o.Database = ""
	}
	debug.SetGCPercent(800)                        // simulated worlds collect garbage before
	slog.SetDefault(slog.New(slog.DiscardHandler)) // faults fill it
	if *within > 0 {
		if !hunt(o, *within, *first) {
			os.Exit(1)
		}
		return
	}
	ok, err := run(o, *history, *profile)
	if err != nil {
		fmt.Fprintln(os.Stderr, "simulate:", err)
		os.Exit(2)
	}
	switch {
	case !ok && *smaller:
		tellShrunk(o)
	case !ok && *story && o.Database == "":
		fmt.Print("\n", simulation.Tell(o))
	}
	if !ok {
		os.Exit(1)
	}
}

// run plays a history, and reports whether nothing was wrong.
func run(o simulation.Options, history, profile string) (ok bool, err error) {
	for _, to := range []struct {
		path string
		use  func(io.Writer) error
	}{{history, func(w io.Writer) error { o.History = w; return nil }}, {profile, pprof.StartCPUProfile}} {
		if to.path == "" {
			continue
		}
		f, err := os.Create(to.path)
		if err != nil {
			return false, err
		}
		defer func() { _ = f.Close() }()
		if err := to.use(f); err != nil {
			return false, err
		}
	}
	defer pprof.StopCPUProfile()
	began := time.Now()
	r, err := play(o)
	if err != nil {
		return false, err
	}
	print(o, r, time.Since(began))
	return r.Breaks == 0, nil
}

func print(o simulation.Options, r simulation.Report, took time.Duration) {
	fmt.Printf("seed %d: %d orders of %d customers, %d calls, %d batches, %d turns in %v of the world, and %.1f s here: %.0f orders a minute\n",
		o.Seed, r.Orders, o.Orders, r.Calls, r.Batches, r.Turns, r.Lasted.Round(time.Minute), took.Seconds(), float64(r.Orders)/took.Minutes())
	fmt.Printf("%d processes were killed\n", r.Kills)
	var faults []string
	for what := range r.Faults {
		faults = append(faults, what)
	}
	slices.Sort(faults)
	for _, what := range faults {
		fmt.Printf("%8d times %s\n", r.Faults[what], what)
	}
	fmt.Println("history", r.Digest)
	for _, what := range r.Broken {
		fmt.Println("BROKEN:", what)
	}
	if r.Breaks > 0 {
		fmt.Printf("%d things are broken. To play it again:\n\t%s\n", r.Breaks, command(o))
	}
}
