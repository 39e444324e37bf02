package geocode

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"purveyor/internal/commerce"
	"purveyor/internal/env"
)

var (
	door    = Place{Point: commerce.Point{Lat: 40.748, Lng: -73.985}, Precision: Rooftop}
	errDead = errors.New("it is dead")
)

// scripted is a geocoder whose answers the test sets.
type scripted struct {
	mu     sync.Mutex
	asked  int
	answer func(ctx context.Context) (Place, error)
}

func (s *scripted) Find(ctx context.Context, _ Query) (Place, error) {
	s.mu.Lock()
	s.asked++
	answer := s.answer
	s.mu.Unlock()
	return answer(ctx)
}

func (s *scripted) will(p Place, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.answer = func(context.Context) (Place, error) { return p, err }
}

// times returns the number of calls since it was last called.
func (s *scripted) times() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	n := s.asked
	s.asked = 0
	return n
}

func scriptedAs(p Place, err error) *scripted {
	s := &scripted{}
	s.will(p, err)
	return s
}

// notebook is a Memory that can fail.
type notebook struct {
	mu     sync.Mutex
	places map[string]Place
	source string
	err    error
}

func (n *notebook) Place(_ context.Context, key string) (Place, bool, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	p, ok := n.places[key]
	return p, ok, n.err
}

func (n *notebook) Keep(_ context.Context, key string, p Place, source string) error {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.err == nil {
		n.places[key], n.source = p, source
	}
	return n.err
}

var quiet = slog.New(slog.DiscardHandler)

func TestChain(t *testing.T) {
	rough := Place{Point: commerce.Point{Lat: 40.7, Lng: -74}, Precision: City}
	offline, err := Offline{}.Find(t.Context(), empireState)
	if err != nil || offline.Precision != ZIP {
		t.Fatal(offline, err)
	}
	nowhere := Text("1 Main St, Nowhere At All, CA")
	digits := Text("1 Main St, Nowhere At All, CA 94165")
	area, err := Offline{}.Find(t.Context(), digits)
	if err != nil || area.Precision != Area {
		t.Fatal(area, err)
	}
	for name, c := range map[string]struct {
		query     Query
		online    Place
		onlineErr error
		want      Place
		wantErr   error
		asked     int
	}{
		"known":                           {empireState, door, nil, door, nil, 1},
		"not known":                       {empireState, Place{}, ErrNotFound, offline, nil, 1},
		"cannot be asked":                 {empireState, Place{}, errDead, offline, nil, 1},
		"known roughly":                   {empireState, rough, nil, offline, nil, 1},
		"known roughly, and not offline":  {nowhere, rough, nil, rough, nil, 1},
		"known roughly, and less offline": {digits, rough, nil, rough, nil, 1},
		"known by its first digits":       {digits, Place{}, errDead, area, nil, 1},
		"unknown":                         {nowhere, Place{}, ErrNotFound, Place{}, ErrNotFound, 1},
		"perhaps known":                   {nowhere, Place{}, errDead, Place{}, errDead, 1},
		"no street":                       {Text("New York, NY 10118"), door, nil, offline, nil, 0},
		"no street in parts":              {Parts(commerce.Address{PostalCode: "10118"}), door, nil, offline, nil, 0},
		"other country":                   {Parts(commerce.Address{Line1: "1 Main St", City: "Oakland", PostalCode: "10118", Country: "DE"}), door, nil, Place{}, ErrNotFound, 0},
		"other script":                    {Text("東京 10118"), door, nil, Place{}, ErrNotFound, 0},
		"nothing":                         {Text(""), door, nil, Place{}, ErrNotFound, 0},
	} {
		online := scriptedAs(c.online, c.onlineErr)
		place, err := New(Options{Online: online, Log: quiet}).Find(t.Context(), c.query)
		if place != c.want || !errors.Is(err, c.wantErr) || (err == nil) != (c.wantErr == nil) || online.times() != c.asked {
			t.Errorf("%s: %+v, %v", name, place, err)
		}
	}
	if _, ok := New(Options{}).(Offline); !ok {
		t.Error("without an online geocoder it is not Offline")
	}
}

// A place of Offline that stands in for a failed online lookup is not cached.
func TestChainDoesNotRememberAFallback(t *testing.T) {
	online, memory := scriptedAs(Place{}, errDead), &notebook{places: map[string]Place{}}
	g := New(Options{Online: online, Source: "census", Memory: memory, Log: quiet})
	if p, err := g.Find(t.Context(), empireState); err != nil || p.Precision != ZIP || len(memory.places) != 0 {
		t.Errorf("%+v, %v, kept %v", p, err, memory.places)
	}
	online.will(door, nil)
	for range 2 {
		if p, err := g.Find(t.Context(), empireState); err != nil || p != door {
			t.Errorf("%+v, %v", p, err)
		}
	}
	if online.times() != 2 || memory.places[Key(empireState)] != door || memory.source != "census" {
		t.Errorf("kept %v of %q", memory.places, memory.source)
	}
}

// A geocoder that hangs costs three seconds, and affects only the first few requests.
func TestChainWithAHangingGeocoder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		online := &scripted{answer: func(ctx context.Context) (Place, error) {
			<-ctx.Done()
			return Place{}, ctx.Err()
		}}
		g := New(Options{Online: online, Log: quiet})
		find := func() time.Duration {
			start := time.Now()
			if p, err := g.Find(t.Context(), empireState); err != nil || p.Precision != ZIP {
				t.Errorf("%+v, %v", p, err)
			}
			synctest.Wait()
			return time.Since(start)
		}
		for range maxFailures {
			if took := find(); took != callLimit {
				t.Errorf("took %v", took)
			}
		}
		for range 100 {
			if took := find(); took != 0 {
				t.Errorf("took %v, though it is left alone", took)
			}
		}
		if n := online.times(); n != maxFailures {
			t.Errorf("asked %d times", n)
		}
		time.Sleep(leftAlone)
		online.will(door, nil)
		if p, err := g.Find(t.Context(), empireState); err != nil || p != door {
			t.Errorf("%+v, %v", p, err)
		}
	})
}

func TestGuard(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		online := scriptedAs(Place{}, errDead)
		var log bytes.Buffer
		g := NewGuard(env.Env{}, online, slog.New(slog.NewTextHandler(&log, nil)))
		asks := func(times int, want error) {
			t.Helper()
			for range 10 {
				if _, err := g.Find(t.Context(), empireState); !errors.Is(err, want) && !errors.Is(err, errLeftAlone) {
					t.Error(err)
				}
			}
			if n := online.times(); n != times {
				t.Errorf("asked %d times", n)
			}
		}
		asks(maxFailures, errDead)
		time.Sleep(leftAlone - time.Nanosecond)
		asks(0, errDead)
		time.Sleep(time.Nanosecond)
		asks(1, errDead) // one probe, and then a pause again
		time.Sleep(leftAlone)
		online.will(Place{}, ErrNotFound) // which is an answer
		asks(10, ErrNotFound)
		online.will(Place{}, &laterError{429, 5 * time.Minute})
		asks(1, online.err(t))
		time.Sleep(5*time.Minute - time.Nanosecond)
		asks(0, nil)
		time.Sleep(time.Nanosecond)
		online.will(Place{}, &laterError{503, 24 * time.Hour})
		asks(1, online.err(t))
		time.Sleep(maxPause)
		online.will(door, nil)
		asks(10, nil)
		online.will(Place{}, errBusy) // the call was not made
		asks(10, errBusy)
		if text := log.String(); strings.Count(text, "cannot be asked") != maxFailures+3 || strings.Count(text, "answers again") != 2 {
			t.Error(text)
		}
	})
}

func (s *scripted) err(t *testing.T) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	_, err := s.answer(t.Context())
	return err
}

// While one caller probes the geocoder, the others do not wait for it.
func TestGuardProbesAlone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		online := scriptedAs(Place{}, errDead)
		g := NewGuard(env.Env{}, online, quiet)
		for range maxFailures {
			_, _ = g.Find(t.Context(), empireState)
		}
		online.times()
		time.Sleep(leftAlone)
		release := make(chan struct{})
		online.mu.Lock()
		online.answer = func(context.Context) (Place, error) { <-release; return door, nil }
		online.mu.Unlock()
		probe := make(chan error)
		go func() {
			_, err := g.Find(t.Context(), empireState)
			probe <- err
		}()
		synctest.Wait()
		if _, err := g.Find(t.Context(), empireState); !errors.Is(err, errLeftAlone) || online.times() != 1 {
			t.Error(err)
		}
		close(release)
		if err := <-probe; err != nil {
			t.Error(err)
		}
		if p, err := g.Find(t.Context(), empireState); err != nil || p != door {
			t.Errorf("%+v, %v", p, err)
		}
	})
}

// Callers that leave do not count as failures of the geocoder.
func TestGuardIgnoresCallersThatLeave(t *testing.T) {
	online := &scripted{answer: func(ctx context.Context) (Place, error) { return Place{}, ctx.Err() }}
	g := NewGuard(env.Env{}, online, quiet)
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	for range 2 * maxFailures {
		if _, err := g.Find(gone, empireState); !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
	}
	if n := online.times(); n != 2*maxFailures {
		t.Errorf("asked %d times", n)
	}
}
