package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"html"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"regexp"
	"strings"
	"sync"
	"time"

	"github.com/valyala/fasthttp"
)

const (
	manyBoards   = 50
	usualBoards  = 20
	boardChanges = 40
	besideBoards = 0.95 // of the rate of reports without boards
)

// officeBoards times how long a change takes to all boards, what it costs, and what open boards
// take from reports. The service is a process of its own here.
func officeBoards(s *stage) {
	for _, c := range s.list {
		check(c.stop())
		c.data.giveCustomers()
		browser := c.signIn()
		s.changesOnBoards(c, browser)
		s.reportsBesideBoards(c, browser)
		check(c.stop())
	}
}

var (
	welcomeLink = regexp.MustCompile(`token=(\S+)`)
	streamOf    = regexp.MustCompile(`hx-sse:connect="([^"]+)"`)
	cardOf      = regexp.MustCompile(`id="o-([^"]+)"`)
)

// signIn makes an owner, starts the service and signs in.
func (c *contender) signIn() *http.Client {
	link := welcomeLink.FindSubmatch(c.output(c.program, "user", "create", "--database", c.data.url, "--email", "bench@e.example", "--role", "owner"))
	if link == nil {
		check(errors.New("user create has printed no link"))
	}
	browser := &http.Client{Jar: must(cookiejar.New(nil))}
	a := must(browser.PostForm("http://"+c.serve().addr+"/office/welcome", url.Values{"token": {string(link[1])}, "password": {"rye and barley 7"}}))
	defer func() { _ = a.Body.Close() }()
	if page := string(must(io.ReadAll(a.Body))); a.StatusCode != http.StatusOK || !strings.Contains(page, "Sign out") {
		check(fmt.Errorf("signing in: %d %s", a.StatusCode, page))
	}
	return browser
}

// board is the page of the board.
func (c *contender) board(browser *http.Client) string {
	a := must(browser.Get("http://" + c.service.addr + "/office/board"))
	defer func() { _ = a.Body.Close() }()
	page := string(must(io.ReadAll(a.Body)))
	if !streamOf.MatchString(page) {
		check(fmt.Errorf("the page has no board: %d %s", a.StatusCode, page))
	}
	return page
}

// boards are streams of boards that are open.
type boards struct {
	end  func()
	done sync.WaitGroup
	data chan string // each message of each board
}

// openBoards opens n boards, each from the page on.
func (c *contender) openBoards(browser *http.Client, n int) *boards {
	ctx, end := context.WithCancel(c.ctx)
	b := &boards{end: end, data: make(chan string, 10_000)}
	path := streamOf.FindStringSubmatch(c.board(browser))
	var ready sync.WaitGroup
	ready.Add(n)
	for range n {
		b.done.Go(func() {
			first := sync.OnceFunc(ready.Done)
			defer first()
			request := must(http.NewRequestWithContext(ctx, http.MethodGet, "http://"+c.service.addr+html.UnescapeString(path[1]), nil))
			a, err := browser.Do(request)
			if err != nil {
				return
			}
			defer func() { _ = a.Body.Close() }()
			lines := bufio.NewScanner(a.Body)
			lines.Buffer(nil, 4<<20)
			for lines.Scan() {
				if text, ok := strings.CutPrefix(lines.Text(), "data: "); ok && strings.HasPrefix(text, "<") {
					select {
					case b.data <- text:
					default: // nothing waits for them
					}
				} else if ok {
					first() // a tick
				}
			}
		})
	}
	ready.Wait()
	return b
}

func (b *boards) close() {
	b.end()
	b.done.Wait()
}

// wait waits until all boards were told of an order.
func (b *boards) wait(ctx context.Context, id string) {
	for told := 0; told < manyBoards; {
		select {
		case text := <-b.data:
			if strings.Contains(text, id) {
				told++
			}
		case <-ctx.Done():
			check(fmt.Errorf("only %d of %d boards were told of %s", told, manyBoards, id))
		}
	}
}

// changesOnBoards cancels orders that stand on the board, one after the other, without boards and
// with.
func (s *stage) changesOnBoards(c *contender, browser *http.Client) {
	const every = 250 * time.Millisecond
	p, changes := c.service, min(boardChanges, (c.data.Size.Orders/2-1)/2)
	change := func(told func(id string)) (took time.Duration) {
		client := connect(p.addr)
		defer client.CloseIdleConnections()
		var request fasthttp.Request
		var answer fasthttp.Response
		for _, card := range cardOf.FindAllStringSubmatch(c.board(browser), changes) {
			id := card[1]
			post{path: "/v1/orders/" + id + "/cancel", body: []byte(`{"reason":"sold out"}`), headers: []string{"X-Api-Key", c.key(), "Idempotency-Key", id}}.set(&request)
			check(client.Do(&request, &answer))
			began := time.Now()
			check(hasBytes(1)(answer.StatusCode(), answer.Body()))
			told(id)
			took = max(took, time.Since(began))
			time.Sleep(every - min(every, time.Since(began)))
		}
		return took
	}
	used := p.meter()
	change(func(string) {})
	alone := used()
	b := c.openBoards(browser, manyBoards)
	defer b.close()
	time.Sleep(time.Second) // what opening them took
	used = p.meter()
	time.Sleep(time.Duration(changes) * every)
	idle := used()
	used = p.meter()
	ctx, cancel := context.WithTimeout(s.ctx, time.Minute)
	defer cancel()
	slowest := change(func(id string) { b.wait(ctx, id) })
	all := used()
	s.report.limit(fmt.Sprintf("slowest change on %d boards, %s", manyBoards, c.name), float64(slowest.Milliseconds()), 1000, "ms")
	s.report.limit(fmt.Sprintf("CPU of a change on %d boards, %s", manyBoards, c.name), float64((all-idle-alone).Microseconds())/float64(changes)/1000, 5, "ms")
	s.report.note("%s: %d boards at rest take %.1f %% of a core.", c.name, manyBoards, 100*idle.Seconds()/(time.Duration(changes)*every).Seconds())
}

// reportsBesideBoards reports orders without boards and beside some.
func (s *stage) reportsBesideBoards(c *contender, browser *http.Client) {
	alone := c.side("reports, spread, without boards", reportSpread)
	beside := c.side(fmt.Sprintf("reports, spread, beside %d boards", usualBoards), func(c *contender) measurement {
		b := c.openBoards(browser, usualBoards)
		defer b.close()
		return reportSpread(c)
	})
	alternate(s.pace, alone, beside)
	s.report.show(alone)
	s.report.compare(beside, alone, besideBoards, "")
}
