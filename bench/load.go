package main

import (
	"fmt"
	"math/rand/v2"
	"sync"
	"time"
)

// caller makes the requests of one connection and sees the answers to them.
type caller interface {
	next() []byte // valid until the next call
	// answered tells what is wrong with an answer, or takes note of it.
	answered(status int, body []byte) error
}

// measurement is what one run gave. It is exchanged between processes as JSON.
type measurement struct {
	Rate       float64       // a second
	P50, P99   time.Duration // of one request
	Errors     int
	FirstError string
	ServerCPU  time.Duration // of one request; 0: not known
}

const callers = 64 // connections, or goroutines without HTTP

// pace says how long a run is.
type pace struct {
	warm, measured time.Duration
	rounds         int
}

// tally is what one caller counted.
type tally struct {
	latency histogram
	errors  int
	first   error
}

func (t *tally) fail(err error) {
	t.errors++
	if t.first == nil {
		t.first = err
	}
}

// load keeps every caller's connection busy, each with one request at a time.
// cpu is what the server has used so far.
func load(addr string, p pace, list []caller, cpu func() time.Duration) measurement {
	return closedLoop(p, len(list), cpu, func(i int, t *tally, from, until time.Time) {
		drive(addr, list[i], t, from, until)
	})
}

// closedLoop runs n workers, which count what falls between two times.
func closedLoop(p pace, n int, cpu func() time.Duration, work func(i int, t *tally, from, until time.Time)) measurement {
	tallies := make([]*tally, n)
	from := time.Now().Add(p.warm)
	until := from.Add(p.measured)
	var group sync.WaitGroup
	for i := range n {
		tallies[i] = &tally{}
		group.Go(func() { work(i, tallies[i], from, until) })
	}
	time.Sleep(time.Until(from))
	before := cpu()
	time.Sleep(time.Until(until))
	used := cpu() - before
	group.Wait()

	sum := &tally{}
	for _, t := range tallies {
		sum.latency.add(&t.latency)
		sum.errors += t.errors
		if sum.first == nil {
			sum.first = t.first
		}
	}
	m := measurement{
		Rate: float64(sum.latency.count) / p.measured.Seconds(),
		P50:  sum.latency.quantile(0.5), P99: sum.latency.quantile(0.99),
		Errors: sum.errors,
	}
	if sum.first != nil {
		m.FirstError = sum.first.Error()
	}
	if sum.latency.count == 0 {
		m.Errors++ // a ratio to nothing would look like a figure
		m.FirstError += " nothing was answered in time"
		return m
	}
	m.ServerCPU = used / time.Duration(sum.latency.count)
	return m
}

// maxBroken is how many connections one caller may lose before it gives up.
const maxBroken = 5

func drive(addr string, c caller, t *tally, from, until time.Time) {
	for range maxBroken {
		err := driveConnection(addr, c, t, from, until)
		if err == nil {
			return
		}
		t.fail(err)
	}
}

// driveConnection returns an error when the connection broke.
func driveConnection(addr string, c caller, t *tally, from, until time.Time) error {
	conn, err := dial(addr, until.Add(15*time.Second))
	if err != nil {
		return err
	}
	defer conn.close()
	began := time.Now()
	for began.Before(until) {
		status, body, err := conn.roundTrip(c.next())
		if err != nil {
			return err
		}
		ended := time.Now()
		if err := c.answered(status, body); err != nil {
			t.fail(err)
		} else if began.After(from) && ended.Before(until) {
			t.latency.record(ended.Sub(began))
		}
		began = ended
	}
	return nil
}

// reads asks for paths that are drawn at random.
type reads struct {
	requests [][]byte
	least    int // the shortest body that can be right
	rng      *rand.Rand
}

func (r *reads) next() []byte { return r.requests[r.rng.IntN(len(r.requests))] }

func (r *reads) answered(status int, body []byte) error { return checkRead(status, body, r.least) }

func checkRead(status int, body []byte, least int) error {
	if status != 200 || len(body) < least {
		return fmt.Errorf("status %d with %d bytes: %.200s", status, len(body), body)
	}
	return nil
}

func readers(requests [][]byte, least int) []caller {
	list := make([]caller, callers)
	for i := range list {
		list[i] = &reads{requests, least, newRand()}
	}
	return list
}

// newRand is a generator of its own for each caller, so that none waits.
func newRand() *rand.Rand { return rand.New(rand.NewPCG(rand.Uint64(), rand.Uint64())) }

// each asks for every path once and hands over its body; the first thing
// that is wrong ends it.
func each(addr, key string, paths []string, f func(i int, body []byte) error) error {
	errs := make(chan error, callers)
	var mu sync.Mutex
	for worker := range callers {
		go func() {
			errs <- eachOf(addr, key, paths, worker, func(i int, body []byte) error {
				mu.Lock()
				defer mu.Unlock()
				return f(i, body)
			})
		}()
	}
	var first error
	for range callers {
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
	for i := worker; i < len(paths); i += callers {
		request = appendGet(request[:0], paths[i], key)
		status, body, err := conn.roundTrip(request)
		if err == nil {
			err = checkRead(status, body, 1)
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
