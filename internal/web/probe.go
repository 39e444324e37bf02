package web

import (
	"context"
	"log/slog"
	"time"

	"purveyor/internal/env"
)

// Probe tests whether something works, at most once in probePause however often it is
// asked, and logs a warning once a minute while it does not.
type Probe struct {
	env  env.Env
	what string // what holds while it works, for the log
	try  func(context.Context) error

	turn   chan struct{} // has room while no caller runs the test; the fields below belong to that caller
	tried  time.Time
	err    error
	warned time.Time
}

const (
	probePause = time.Second
	// ProbeTime bounds one test.
	ProbeTime   = 5 * time.Second
	warningTime = time.Minute
)

// NewProbe makes a probe that has not been tested yet.
func NewProbe(e env.Env, what string, try func(context.Context) error) *Probe {
	return &Probe{env: e, what: what, try: try, turn: make(chan struct{}, 1)}
}

// OK reports whether the latest test succeeded.
func (p *Probe) OK() bool { return p.Err() == nil }

// Err is the error of the latest test. It tests again if that was more than a second ago.
func (p *Probe) Err() error {
	p.turn <- struct{}{}
	defer func() { <-p.turn }()
	if p.env.Since(p.tried) >= probePause {
		ctx, cancel := p.env.WithTimeout(context.Background(), ProbeTime)
		err := p.try(ctx)
		cancel()
		p.tried = p.env.Now()
		p.log(err)
		p.err = err
	}
	return p.err
}

func (p *Probe) log(err error) {
	switch {
	case err != nil && p.env.Since(p.warned) >= warningTime:
		p.warned = p.env.Now()
		slog.Warn("not ready", "fails", p.what, "error", err)
	case err == nil && p.err != nil:
		p.warned = time.Time{}
		slog.Info("ready again", "works", p.what)
	}
}
