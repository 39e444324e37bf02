package api

import (
	"context"
	"net/http"
	"sync"
	"time"

	"purveyor/internal/commerce"
	"purveyor/internal/env"
	"purveyor/internal/service"
	"purveyor/internal/web"
)

// How many streams are open at a time in this process: in all, of one partner in
// one mode, and on one order (BEHAVIOUR, streams).
const (
	maxStreams        = 4096
	maxPartnerStreams = 256
	maxOrderStreams   = 8
)

// streams counts the tracking streams that are open.
type streams struct {
	env    env.Env
	open   *web.Budget // by partner and mode
	mu     sync.Mutex
	orders map[commerce.OrderKey]*followed
}

// followed is an order with open streams, which share one read.
type followed struct {
	env     env.Env
	streams int // guarded by the lock of all streams

	looks env.Flights[service.Tracked]
	mu    sync.Mutex
	at    time.Time // of the last look; zero: none has succeeded
	now   service.Tracked
}

func newStreams(e env.Env) *streams {
	return &streams{env: e, open: web.NewBudget(maxStreams, maxPartnerStreams), orders: map[commerce.OrderKey]*followed{}}
}

// enter counts one more stream of an owner, or refuses it if there are too many. Each
// stream that entered must leave.
func (s *streams) enter(owner string, order commerce.OrderKey) (*followed, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	f := s.orders[order]
	if f == nil {
		f = &followed{env: s.env}
	}
	if f.streams >= maxOrderStreams || !s.open.Take(owner, 1) {
		return nil, &web.Error{Status: http.StatusTooManyRequests, Code: "too_many_streams", RetryAfter: 5,
			Message: "Too many streams are open; poll tracking, or try again"}
	}
	f.streams++
	s.orders[order] = f
	return f, nil
}

func (s *streams) leave(owner string, order commerce.OrderKey) {
	s.open.Give(owner, 1)
	s.mu.Lock()
	defer s.mu.Unlock()
	f := s.orders[order]
	if f.streams--; f.streams == 0 {
		delete(s.orders, order)
	}
}

// look returns the order as another stream has just read it, or calls read. A failed read
// is not shared, because it may have failed only because its caller has gone.
func (f *followed) look(ctx context.Context, read func() (service.Tracked, error)) (service.Tracked, error) {
	if now, ok := f.lastLook(); ok {
		return now, nil
	}
	return f.looks.Do(ctx, f.env, "", func() (service.Tracked, error) {
		if now, ok := f.lastLook(); ok { // another call has ended since
			return now, nil
		}
		now, err := read()
		if err == nil {
			f.mu.Lock()
			f.at, f.now = f.env.Now(), now
			f.mu.Unlock()
		}
		return now, err
	})
}

// lastLook returns the outcome of the last look, if that is recent.
func (f *followed) lastLook() (service.Tracked, bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.now, !f.at.IsZero() && f.env.Since(f.at) < streamPace/2
}
