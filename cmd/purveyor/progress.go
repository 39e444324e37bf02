package main

import (
	"fmt"
	"io"
	"strings"
	"sync"
	"time"
	"unicode/utf8"
)

// progress shows how far a long command has come: a bar on a terminal, elsewhere a line every few
// seconds, on standard error. A command that ends soon shows nothing. A command calls phase when
// it begins something, set as it goes on, and end before it prints its result or fails.
type progress struct {
	out      io.Writer
	terminal bool
	stop     chan struct{}
	ended    sync.WaitGroup

	mu          sync.Mutex
	what, unit  string
	done, total int64 // total 0: not known
	began       time.Time

	screen sync.Mutex // guards what is on it
	shown  int        // characters of the bar
}

// startProgress begins to show progress. The caller ends it.
func startProgress() *progress {
	p := newProgress()
	every := 5 * time.Second
	if p.terminal {
		every = 250 * time.Millisecond
	}
	ticker := time.NewTicker(every)
	p.ended.Go(func() {
		defer ticker.Stop()
		for {
			select {
			case now := <-ticker.C:
				p.show(now)
			case <-p.stop:
				return
			}
		}
	})
	return p
}

func newProgress() *progress {
	out, terminal := progressOutput()
	return &progress{out: out, terminal: terminal, stop: make(chan struct{}), began: time.Now()}
}

// phase begins another part of the work, of so many units; 0: it is not known how many. The unit
// "bytes" is shown in larger ones.
func (p *progress) phase(what string, total int64, unit string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.what, p.total, p.unit, p.done, p.began = what, total, unit, 0, time.Now()
}

// set says how much of the phase is done.
func (p *progress) set(done int64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.done = done
}

// end takes the bar off the screen. Further calls do nothing.
func (p *progress) end() {
	select {
	case <-p.stop:
		return
	default:
	}
	close(p.stop)
	p.ended.Wait()
	p.draw("")
}

// show prints the state of the phase.
func (p *progress) show(now time.Time) {
	p.mu.Lock()
	text := p.text(now)
	p.mu.Unlock()
	if p.terminal {
		p.draw(text)
		return
	}
	printTo(p.out, "%s\n", text)
}

// above has a text printed where the bar is. The bar comes back below it.
func (p *progress) above(print func()) {
	p.draw("")
	print()
}

// draw replaces the bar on the screen.
func (p *progress) draw(bar string) {
	p.screen.Lock()
	defer p.screen.Unlock()
	if !p.terminal || bar == "" && p.shown == 0 {
		return
	}
	width := utf8.RuneCountInString(bar)
	drawTo(p.out, bar, max(0, p.shown-width))
	p.shown = width
}

// text describes the phase: reading shop.json [=====     ] 50 %, 19.1 of 38.1 MB, 4 s left.
func (p *progress) text(now time.Time) string {
	const width = 20
	passed := now.Sub(p.began)
	var parts []string
	if p.total > 0 {
		done := min(p.done, p.total)
		parts = append(parts, fmt.Sprintf("%d %%", 100*done/p.total), amounts(done, p.total, p.unit))
		if done > 0 {
			left := time.Duration(float64(passed) * float64(p.total-done) / float64(done))
			parts = append(parts, fmt.Sprintf("%.0f s left", left.Seconds()))
		}
		filled := int(width * done / p.total)
		bar := ": "
		if p.terminal {
			bar = " [" + strings.Repeat("=", filled) + strings.Repeat(" ", width-filled) + "] "
		}
		return p.what + bar + strings.Join(parts, ", ")
	}
	if p.done > 0 {
		parts = append(parts, amounts(p.done, 0, p.unit))
	}
	parts = append(parts, fmt.Sprintf("%.0f s", passed.Seconds()))
	return p.what + ": " + strings.Join(parts, ", ")
}

// amounts says how much of a total is done; of an unknown one (0), only how much.
func amounts(done, total int64, unit string) string {
	shown := func(n int64) string { return fmt.Sprint(n) }
	if unit == "bytes" {
		unit = "MB"
		shown = func(n int64) string { return fmt.Sprintf("%.1f", float64(n)/1e6) }
	}
	if total == 0 {
		return shown(done) + " " + unit
	}
	return shown(done) + " of " + shown(total) + " " + unit
}
