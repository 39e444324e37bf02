package sim

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"purveyor/internal/env"
)

// TestOneSeedGivesOneHistory: tasks that wait, draw and signal each other do the
// same in every run of one seed, and something else with another.
func TestOneSeedGivesOneHistory(t *testing.T) {
	run := func(seed uint64) string {
		s := New(seed)
		s.Run(func(e env.Env) {
			token := make(chan struct{}, 1)
			var tasks []func()
			for i := range 20 {
				tasks = append(tasks, func() {
					for range 10 {
						got := e.Wait(time.Duration(e.Jitter()*float64(time.Second)), token)
						s.Tracef("%d %d %s", i, got, e.Text())
						select {
						case token <- struct{}{}:
						default:
						}
					}
				})
			}
			e.Together(tasks...)
		})
		return s.Trace()
	}
	first := run(7)
	if again := run(7); again != first {
		t.Errorf("two histories:\n%s\n%s", first, again)
	}
	if run(8) == first {
		t.Error("another seed gave the same history")
	}
}

// TestTimePassesWhileAllWait: a sleep of an hour takes none, and contexts end by
// the same clock.
func TestTimePassesWhileAllWait(t *testing.T) {
	s := New(1)
	s.Run(func(e env.Env) {
		began := e.Now()
		ctx, cancel := e.WithTimeout(context.Background(), time.Hour)
		defer cancel()
		inner, stop := e.WithTimeout(ctx, 2*time.Hour)
		defer stop()
		if err := e.Sleep(inner, 3*time.Hour); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("slept: %v", err)
		}
		if took := e.Since(began); took < time.Hour || took > time.Hour+time.Second {
			t.Errorf("it took %v", took)
		}
		cut, cutNow := e.WithTimeout(context.Background(), time.Hour)
		e.Go(cutNow)
		if err := e.Sleep(cut, 2*time.Hour); !errors.Is(err, context.Canceled) {
			t.Errorf("cut: %v", err)
		}
	})
}

// TestKill: the tasks of a dead process do nothing more but what they deferred.
func TestKill(t *testing.T) {
	s := New(1)
	var log []string
	s.Run(func(e env.Env) {
		p := s.Process("p")
		for i := range 2 {
			p.Go(func() {
				defer func() { log = append(log, fmt.Sprint("deferred ", i)) }()
				_ = p.Env().Sleep(context.Background(), time.Hour)
				log = append(log, "woke")
			})
		}
		_ = e.Sleep(context.Background(), time.Minute)
		p.Kill()
		e.Await(p.Died())
		_ = e.Sleep(context.Background(), 2*time.Hour)
	})
	if fmt.Sprint(log) != "[deferred 0 deferred 1]" {
		t.Error(log)
	}
}

// TestStop: the tasks of a stopped process go on when it does, and not before.
func TestStop(t *testing.T) {
	s := New(1)
	s.Run(func(e env.Env) {
		p, signal := s.Process("p"), make(chan struct{})
		began, woke, heard := e.Now(), time.Time{}, time.Time{}
		p.Go(func() {
			_ = p.Env().Sleep(context.Background(), time.Second)
			woke = e.Now()
		})
		p.Go(func() {
			p.Env().Await(signal)
			heard = e.Now()
		})
		_ = e.Sleep(context.Background(), time.Millisecond)
		p.Stop(time.Minute)
		close(signal)
		_ = e.Sleep(context.Background(), time.Hour)
		for what, at := range map[string]time.Time{"it woke": woke, "it heard the signal": heard} {
			if took := at.Sub(began); took < time.Minute || took > time.Minute+time.Second {
				t.Errorf("%s after %v", what, took)
			}
		}
	})
}

// TestSkew: the clock of a process is its own, and its deadlines follow it.
func TestSkew(t *testing.T) {
	s := New(1)
	s.Run(func(e env.Env) {
		p, done := s.Process("p"), make(chan struct{})
		p.Skew(time.Hour)
		began := e.Now()
		p.Go(func() {
			defer close(done)
			inner := p.Env()
			if ahead := inner.Now().Sub(e.Now()); ahead != time.Hour {
				t.Errorf("the clock is %v ahead", ahead)
			}
			ctx, cancel := inner.WithTimeout(context.Background(), time.Minute)
			defer cancel()
			_ = inner.Sleep(ctx, 2*time.Hour)
		})
		e.Await(done)
		if took := e.Since(began); took < time.Minute || took > time.Minute+time.Second {
			t.Errorf("a timeout of a minute took %v", took)
		}
	})
}
