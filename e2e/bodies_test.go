package e2e_test

import (
	"fmt"
	"net/http"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// One partner sends bodies that use all of the memory budget at once: the process
// stays small, and another partner reports orders meanwhile. The test logs the
// figures (go test -run TestCrowdedBodies -v ./e2e).
func TestCrowdedBodies(t *testing.T) {
	t.Parallel()
	atOnce, rounds := 240, 3 // atOnce: one minute of a partner with default limits
	if raceEnabled {
		atOnce, rounds = 8, 1
	}
	crowded := func(start, element, end string) string {
		var b strings.Builder
		b.WriteString(start)
		for i := 0; b.Len() < 1<<20-40; i++ {
			if i > 0 {
				b.WriteByte(',')
			}
			b.WriteString(strings.ReplaceAll(element, "#", strconv.FormatInt(int64(i), 36)))
		}
		return b.String() + end
	}
	s := newShop(t)
	p, c := s.serve()
	other := s.newPartner("--name", "Other", "--rate-limit", "10000000")
	for name, body := range map[string]string{
		"empty elements": crowded(`{"adjustments":[`, `{}`, `]}`),
		"unknown names":  crowded(`{`, `"#":1`, `}`),
		"unknown list":   crowded(`{"x":[`, `{}`, `]}`),
	} {
		quiet := reports(c.with(other.Keys.Live), name+" before", func(n int) bool { return n < 50 })
		statuses := [600]atomic.Int64{}
		done := make(chan struct{})
		go func() {
			defer close(done)
			for range rounds {
				var wg sync.WaitGroup
				for range atOnce {
					wg.Go(func() {
						a, err := c.send(post("/v1/inventory/adjustments", name, body))
						if err != nil {
							t.Errorf("%s: %v", name, err)
							return
						}
						statuses[a.status].Add(1)
					})
				}
				wg.Wait()
			}
		}()
		during := reports(c.with(other.Keys.Live), name, func(int) bool {
			select {
			case <-done:
				return false
			default:
				return true
			}
		})
		t.Logf("%d bodies of 1 MiB at once (%s): %d refused as wrong, %d as too many; the process took at most %d MiB; another partner's reports: median %v (%d), before %v (%d)",
			atOnce, name, statuses[http.StatusBadRequest].Load(), statuses[http.StatusTooManyRequests].Load(), p.peakMiB(), median(during), len(during), median(quiet), len(quiet))
		if (statuses[http.StatusBadRequest].Load() + statuses[http.StatusTooManyRequests].Load()) != int64(atOnce*rounds) {
			t.Errorf("%s: not all bodies were refused", name)
		}
	}
	if most := 400 * maxRSS() / (150 << 10); p.peakMiB() > most {
		t.Errorf("the process took %d MiB, want at most %d", p.peakMiB(), most)
	}
}

// reports reports orders one after another, and returns how long each took. It asks
// more, with the number so far, whether to report another one.
func reports(c *client, name string, more func(int) bool) (took []time.Duration) {
	for len(took) == 0 || more(len(took)) {
		began := time.Now()
		if a, err := c.send(report(fmt.Sprint(name, " ", len(took)), "p1")); err != nil || a.status != 201 {
			c.t.Errorf("report: %d, %v: %s", a.status, err, a.body)
		}
		took = append(took, time.Since(began))
	}
	return took
}

func median(list []time.Duration) time.Duration {
	slices.Sort(list)
	return list[len(list)/2].Round(10 * time.Microsecond)
}

// peakMiB returns the most memory that the process ever had; 0 if the system does not
// report it.
func (p *process) peakMiB() int {
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", p.cmd.Process.Pid))
	if err != nil {
		return 0
	}
	match := regexp.MustCompile(`VmHWM:\s+(\d+) kB`).FindSubmatch(status)
	if match == nil {
		p.t.Fatal("the system tells no VmHWM")
	}
	kib, err := strconv.Atoi(string(match[1]))
	if err != nil {
		p.t.Fatal(err)
	}
	return kib >> 10
}
