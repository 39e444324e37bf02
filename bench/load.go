package main

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"sync"
	"time"

	"github.com/valyala/fasthttp"
	"golang.org/x/sync/errgroup"
)

// connections is how many connections the load generator keeps busy.
var connections = 64

const quickConnections = 4 // of a quick run

// caller makes the requests of one connection and looks at the answers.
type caller struct {
	next   func(*fasthttp.Request) bool // false: there are no more
	answer func(status int, body []byte) error
}

// meter starts measuring the processor time of a server. The function that it
// returns ends that.
type meter func() func() time.Duration

// unmetered is for one of several loads on a server at a time.
func unmetered() func() time.Duration { return func() time.Duration { return 0 } }

// run keeps the connection of every caller busy, each with one request at a time.
func run(addr string, p pace, callers []caller, m meter) measurement {
	return closedLoop(p, len(callers), m, func(i int, t *tally, from, until time.Time) {
		drive(addr, callers[i], t, from, until)
	})
}

// closedLoop runs n workers, which count what falls between two times. A run
// that was too short for a single answer is repeated with four times the length.
func closedLoop(p pace, n int, m meter, work func(i int, t *tally, from, until time.Time)) measurement {
	for {
		from := time.Now().Add(p.Warm)
		until := from.Add(p.Measured)
		wait := together(n, func(i int, t *tally) { work(i, t, from, until) })
		time.Sleep(time.Until(from))
		stop := m()
		time.Sleep(time.Until(until))
		used := stop()
		if sum := wait(); len(sum.latencies) > 0 || sum.errors > 0 || p.Measured > 5*time.Second {
			return sum.measurement(p.Measured, used)
		}
		p.Measured *= 4
	}
}

// runOut lets every caller make its requests until it has no more. All of them count.
func runOut(addr string, callers []caller, m meter) measurement {
	const patience = 20 * time.Minute
	began, stop := time.Now(), m()
	sum := together(len(callers), func(i int, t *tally) { drive(addr, callers[i], t, began, began.Add(patience)) })()
	return sum.measurement(time.Since(began), stop())
}

// finish makes all requests of callers, of which none may fail.
func finish(addr string, callers []caller) {
	if m := runOut(addr, callers, unmetered); m.Errors > 0 {
		check(errors.New(m.FirstError))
	}
}

// together starts n workers. The function that it returns waits for them.
func together(n int, work func(i int, t *tally)) (wait func() *tally) {
	tallies := make([]tally, n)
	var group sync.WaitGroup
	for i := range n {
		group.Go(func() { work(i, &tallies[i]) })
	}
	return func() *tally {
		group.Wait()
		sum := &tally{}
		for i := range tallies {
			sum.add(&tallies[i])
		}
		return sum
	}
}

// drive makes the requests of one caller. It gives up after five lost connections.
func drive(addr string, c caller, t *tally, from, until time.Time) {
	client := connect(addr)
	defer client.CloseIdleConnections()
	var request fasthttp.Request
	var answer fasthttp.Response
	for lost := 0; lost < 5 && time.Now().Before(until) && c.next(&request); {
		began := time.Now()
		err := client.Do(&request, &answer)
		ended := time.Now()
		if err != nil {
			lost++
		} else {
			err = c.answer(answer.StatusCode(), answer.Body())
		}
		if err != nil {
			t.fail(err)
		} else {
			t.done(began, ended, from, until)
		}
	}
}

// connect makes a client with one connection. fasthttp takes little time, which
// counts because the load generator shares the machine with the service. Its own
// dialer shares a cache of addresses among clients, on which the race detector fails.
func connect(addr string) *fasthttp.HostClient {
	dial := func(addr string) (net.Conn, error) { return net.Dial("tcp", addr) }
	return &fasthttp.HostClient{Addr: addr, Dial: dial, MaxConns: 1, MaxIdemponentCallAttempts: 1, ReadTimeout: 30 * time.Second, NoDefaultUserAgentHeader: true}
}

// steadily makes callers send so many requests per second together, at an even
// pace. A request that is late is sent at once.
func steadily(callers []caller, perSecond int) []caller {
	every := time.Duration(len(callers)) * time.Second / time.Duration(perSecond) // of one connection
	begin := time.Now()
	for i := range callers {
		due, next := begin.Add(every*time.Duration(i)/time.Duration(len(callers))), callers[i].next
		callers[i].next = func(r *fasthttp.Request) bool {
			time.Sleep(time.Until(due))
			due = due.Add(every)
			return next(r)
		}
	}
	return callers
}

// each gets every path once and hands over its body. The first error ends it.
func each(addr, key string, paths []string, f func(i int, body []byte) error) {
	check(tryEach(addr, key, paths, f))
}

func tryEach(addr, key string, paths []string, f func(i int, body []byte) error) error {
	var group errgroup.Group
	var mu sync.Mutex
	for worker := range min(connections, len(paths)) {
		group.Go(func() error {
			client := connect(addr)
			defer client.CloseIdleConnections()
			var request fasthttp.Request
			var answer fasthttp.Response
			for i := worker; i < len(paths); i += connections {
				get(&request, paths[i], key)
				err := client.Do(&request, &answer)
				if err == nil {
					err = hasBytes(1)(answer.StatusCode(), answer.Body())
				}
				if err == nil {
					mu.Lock()
					err = f(i, answer.Body())
					mu.Unlock()
				}
				if err != nil {
					return fmt.Errorf("GET %s: %w", paths[i], err)
				}
			}
			return nil
		})
	}
	return group.Wait()
}

func get(r *fasthttp.Request, path, key string) {
	r.SetRequestURI(path)
	r.Header.SetHost("bench")
	r.Header.Set("X-Api-Key", key)
}

// post is a POST request. Headers are a name and a value in turn.
type post struct {
	path    string
	body    []byte
	headers []string
}

func (p post) set(r *fasthttp.Request) {
	r.Header.SetMethod("POST")
	r.SetRequestURI(p.path)
	r.Header.SetHost("bench")
	r.Header.SetContentType("application/json")
	for i := 0; i < len(p.headers); i += 2 {
		r.Header.Set(p.headers[i], p.headers[i+1])
	}
	r.SetBodyRaw(p.body)
}

// choice draws a path.
type choice func(*rand.Rand) string

func anyOf(paths []string) choice {
	return func(rng *rand.Rand) string { return paths[rng.IntN(len(paths))] }
}

// getters read paths that are drawn at random, for as long as a run takes.
func getters(of choice, key string, least int) []caller {
	return drawers(hasBytes(least), func(r *fasthttp.Request, rng *rand.Rand) { get(r, of(rng), key) })
}

// drawers send requests that are drawn at random, for as long as a run takes.
func drawers(check func(status int, body []byte) error, draw func(*fasthttp.Request, *rand.Rand)) []caller {
	list := make([]caller, connections)
	for i := range list {
		rng := newRand()
		list[i] = caller{func(r *fasthttp.Request) bool { draw(r, rng); return true }, check}
	}
	return list
}

// posters share requests that must be answered 200, each once. Request i goes to
// caller i modulo the number of connections, so that a caller keeps an order.
func posters(posts []post) []caller {
	list := make([]caller, connections)
	for i := range list {
		at := i - connections
		list[i] = caller{func(r *fasthttp.Request) bool {
			if at += connections; at >= len(posts) {
				return false
			}
			posts[at].set(r)
			return true
		}, hasBytes(0)}
	}
	return list
}

// hasBytes expects status 200 and a body that is not shorter.
func hasBytes(least int) func(int, []byte) error {
	return func(status int, body []byte) error {
		if status != 200 || len(body) < least {
			return fmt.Errorf("status %d with %d bytes: %.200s", status, len(body), body)
		}
		return nil
	}
}

// hasText expects status 200 and a body with this text.
func hasText(text string) func(int, []byte) error {
	return func(status int, body []byte) error {
		if status != 200 || !bytes.Contains(body, []byte(text)) {
			return fmt.Errorf("status %d: %.300s", status, body)
		}
		return nil
	}
}

// newRand is a generator for one caller.
func newRand() *rand.Rand { return rand.New(rand.NewPCG(rand.Uint64(), rand.Uint64())) }

// token is 128 random bits in hex.
func token(rng *rand.Rand) string { return fmt.Sprintf("%016x%016x", rng.Uint64(), rng.Uint64()) }

// textOf is the text that follows a field's name, up to the next quote.
func textOf(body []byte, field string) string {
	_, rest, _ := bytes.Cut(body, []byte(field))
	text, _, _ := bytes.Cut(rest, []byte{'"'})
	return string(text)
}
