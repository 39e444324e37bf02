package main

import (
	"fmt"
	"runtime"
	"sync"
	"time"

	"purveyor/internal/simulation"
)

// calmEach: every so many seeds are played without faults. Then even what is repeated without
// need is wrong.
const calmEach = 4

// hunt plays one seed after another on all cores, from o.Seed on, until the time is over. It
// reports whether nothing was wrong. With first, it ends at the first seed that fails.
func hunt(o simulation.Options, within time.Duration, first bool) bool {
	var (
		mu     sync.Mutex // guards what follows, and the output
		next   = o.Seed
		played int
		orders int
		failed []simulation.Options
		all    sync.WaitGroup
	)
	began := time.Now()
	take := func() (seed uint64, over bool) {
		mu.Lock()
		defer mu.Unlock()
		seed, next = next, next+1
		return seed, first && len(failed) > 0
	}
	for range runtime.GOMAXPROCS(0) {
		all.Go(func() {
			for time.Since(began) < within {
				o, over := o, false
				if o.Seed, over = take(); over {
					return
				}
				o.Calm = o.Calm || o.Seed%calmEach == 0
				r, err := play(o)
				if err != nil {
					r.Breaks, r.Broken = 1, []simulation.Break{{At: time.Now(), What: err.Error()}}
				}
				mu.Lock()
				played, orders = played+1, orders+r.Orders
				if r.Breaks > 0 {
					failed = append(failed, o)
					fmt.Printf("seed %d, after %v: %d things are broken, first\n%s\n", o.Seed, time.Since(began).Round(time.Second), r.Breaks, r.Broken[0])
				}
				mu.Unlock()
			}
		})
	}
	all.Wait()
	fmt.Printf("%d seeds with %d orders in %v; %d failed\n", played, orders, time.Since(began).Round(time.Second), len(failed))
	if len(failed) > 0 && !first {
		tellShrunk(failed[0])
	}
	return len(failed) == 0
}
