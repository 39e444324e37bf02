// Package load is what the benchmarks share: the load generator, the servers
// that it asks, the data they serve, and the report of what was measured.
package load

import (
	"fmt"
	"math/rand/v2"
	"sync"
	"time"
)

// Caller makes the requests of one connection and sees the answers to them.
type Caller interface {
	// Next is valid until the next call; nil: there is no other request.
	Next() []byte
	// Answered tells what is wrong with an answer, or takes note of it.
	Answered(status int, body []byte) error
}

// Measurement is what one run gave. It is exchanged between processes as JSON.
type Measurement struct {
	Rate       float64       // a second
	P50, P99   time.Duration // of one request
	Errors     int
	FirstError string
	ServerCPU  time.Duration // of one request; 0: not known
}

// Callers is how many connections there are, or goroutines without HTTP.
const Callers = 64

// Pace says how long a run is.
type Pace struct {
	Warm, Measured time.Duration
	Rounds         int
}

// NewPace is so many rounds of so many seconds, with a third before each that
// does not count.
func NewPace(seconds float64, rounds int) Pace {
	measured := time.Duration(seconds * float64(time.Second))
	return Pace{Warm: min(measured/3, time.Second), Measured: measured, Rounds: max(rounds, 1)}
}

// Tally is what one caller counted.
type Tally struct {
	latency histogram
	errors  int
	first   error
}

// Done counts a request that lay between two times.
func (t *Tally) Done(began, ended, from, until time.Time) {
	if began.After(from) && ended.Before(until) {
		t.latency.record(ended.Sub(began))
	}
}

// Took counts one that took so long.
func (t *Tally) Took(d time.Duration) { t.latency.record(d) }

// Fail counts a request that failed.
func (t *Tally) Fail(err error) {
	t.errors++
	if t.first == nil {
		t.first = err
	}
}

// Run keeps every caller's connection busy, each with one request at a time.
// cpu is what the server has used so far.
func Run(addr string, p Pace, list []Caller, cpu func() time.Duration) Measurement {
	return ClosedLoop(p, len(list), cpu, func(i int, t *Tally, from, until time.Time) {
		drive(addr, list[i], t, from, until)
	})
}

// ClosedLoop runs n workers, which count what falls between two times. A run
// that was too short for a single answer is made again, four times as long.
func ClosedLoop(p Pace, n int, cpu func() time.Duration, work func(i int, t *Tally, from, until time.Time)) Measurement {
	for {
		sum, used := closedLoop(p, n, cpu, work)
		if sum.latency.count > 0 || sum.errors > 0 || p.Measured > 5*time.Second {
			return sum.Measurement(p.Measured, used)
		}
		p.Measured *= 4
	}
}

// closedLoop is one run. It returns what was counted, and the time of the
// server's processor meanwhile.
func closedLoop(p Pace, n int, cpu func() time.Duration, work func(i int, t *Tally, from, until time.Time)) (*Tally, time.Duration) {
	tallies := make([]*Tally, n)
	from := time.Now().Add(p.Warm)
	until := from.Add(p.Measured)
	var group sync.WaitGroup
	for i := range n {
		tallies[i] = &Tally{}
		group.Go(func() { work(i, tallies[i], from, until) })
	}
	time.Sleep(time.Until(from))
	before := cpu()
	time.Sleep(time.Until(until))
	used := cpu() - before
	group.Wait()
	return sumOf(tallies), used
}

func sumOf(tallies []*Tally) *Tally {
	sum := &Tally{}
	for _, t := range tallies {
		sum.latency.add(&t.latency)
		sum.errors += t.errors
		if sum.first == nil {
			sum.first = t.first
		}
	}
	return sum
}

// RunOut has every caller make its requests until Next gives none, all of which
// count.
func RunOut(addr string, list []Caller, cpu func() time.Duration) Measurement {
	const patience = 5 * time.Minute
	tallies := make([]*Tally, len(list))
	began, before := time.Now(), cpu()
	var group sync.WaitGroup
	for i, c := range list {
		tallies[i] = &Tally{}
		group.Go(func() { drive(addr, c, tallies[i], began, began.Add(patience)) })
	}
	group.Wait()
	return sumOf(tallies).Measurement(time.Since(began), cpu()-before)
}

// Measurement is what a tally says of a time, and of what the server's
// processor used meanwhile.
func (t *Tally) Measurement(measured, used time.Duration) Measurement {
	m := Measurement{
		Rate: float64(t.latency.count) / measured.Seconds(),
		P50:  t.latency.quantile(0.5), P99: t.latency.quantile(0.99),
		Errors: t.errors,
	}
	if t.first != nil {
		m.FirstError = t.first.Error()
	}
	if t.latency.count == 0 {
		m.Errors++ // a ratio to nothing would look like a figure
		m.FirstError += " nothing was answered in time"
		return m
	}
	m.ServerCPU = used / time.Duration(t.latency.count)
	return m
}

// maxBroken is how many connections one caller may lose before it gives up.
const maxBroken = 5

func drive(addr string, c Caller, t *Tally, from, until time.Time) {
	for range maxBroken {
		err := driveConnection(addr, c, t, from, until)
		if err == nil {
			return
		}
		t.Fail(err)
	}
}

// driveConnection returns an error when the connection broke.
func driveConnection(addr string, c Caller, t *Tally, from, until time.Time) error {
	conn, err := dial(addr, until.Add(15*time.Second))
	if err != nil {
		return err
	}
	defer conn.close()
	for time.Now().Before(until) {
		request := c.Next()
		if request == nil {
			return nil
		}
		began := time.Now()
		status, body, err := conn.roundTrip(request)
		if err != nil {
			return err
		}
		ended := time.Now()
		if err := c.Answered(status, body); err != nil {
			t.Fail(err)
		} else {
			t.Done(began, ended, from, until)
		}
	}
	return nil
}

// reads asks for paths that are drawn at random.
type reads struct {
	requests [][]byte
	least    int // the shortest body that can be right
	rng      *rand.Rand
}

func (r *reads) Next() []byte { return r.requests[r.rng.IntN(len(r.requests))] }

func (r *reads) Answered(status int, body []byte) error { return CheckRead(status, body, r.least) }

// CheckRead tells what is wrong with an answer to a GET.
func CheckRead(status int, body []byte, least int) error {
	if status != 200 || len(body) < least {
		return fmt.Errorf("status %d with %d bytes: %.200s", status, len(body), body)
	}
	return nil
}

// Readers are callers that ask for the same paths.
func Readers(requests [][]byte, least int) []Caller {
	list := make([]Caller, Callers)
	for i := range list {
		list[i] = &reads{requests, least, NewRand()}
	}
	return list
}

// NewRand is a generator of its own for each caller, so that none waits.
func NewRand() *rand.Rand { return rand.New(rand.NewPCG(rand.Uint64(), rand.Uint64())) }

// Each asks for every path once and hands over its body; the first thing
// that is wrong ends it.
func Each(addr, key string, paths []string, f func(i int, body []byte) error) error {
	errs := make(chan error, Callers)
	var mu sync.Mutex
	for worker := range Callers {
		go func() {
			errs <- eachOf(addr, key, paths, worker, func(i int, body []byte) error {
				mu.Lock()
				defer mu.Unlock()
				return f(i, body)
			})
		}()
	}
	var first error
	for range Callers {
		if err := <-errs; first == nil {
			first = err
		}
	}
	return first
}

func eachOf(addr, key string, paths []string, worker int, f func(i int, body []byte) error) error {
	if worker >= len(paths) {
		return nil
	}
	conn, err := dial(addr, time.Now().Add(5*time.Minute))
	if err != nil {
		return err
	}
	defer conn.close()
	var request []byte
	for i := worker; i < len(paths); i += Callers {
		request = appendGet(request[:0], paths[i], key)
		status, body, err := conn.roundTrip(request)
		if err == nil {
			err = CheckRead(status, body, 1)
		}
		if err == nil {
			err = f(i, body)
		}
		if err != nil {
			return fmt.Errorf("GET %s: %w", paths[i], err)
		}
	}
	return nil
}
