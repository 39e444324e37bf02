package parallel

import (
	"context"
	"errors"
	"runtime"
	"sync/atomic"
	"testing"
	"time"

	"purveyor/internal/env"
)

// TestLeaps: a day in which every task waits takes no time.
func TestLeaps(t *testing.T) {
	began, w := time.Now(), New(1)
	w.Run(func(e env.Env) {
		before := e.Now()
		ctx, cancel := e.WithTimeout(t.Context(), 20*time.Hour)
		defer cancel()
		if err := e.Sleep(ctx, 24*time.Hour); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("a sleep past its deadline returned %v", err)
		}
		if slept := e.Since(before); slept < 20*time.Hour || slept > 21*time.Hour {
			t.Errorf("it took %v until a deadline in 20 h", slept)
		}
	})
	if took := time.Since(began); took > time.Hour {
		t.Errorf("it took %v", took)
	}
}

// TestNoLeap: the clock does not leap while a task works, nor over a signal.
func TestNoLeap(t *testing.T) {
	w := New(1)
	w.Run(func(e env.Env) {
		p := w.Process("p")
		for range 2000 {
			done := make(chan struct{}, 1)
			p.Go(func() { done <- struct{}{} })
			if e.Wait(time.Hour, done) != 0 {
				t.Error("the clock leapt over a signal")
				break
			}
		}
		p.Kill()
		e.Await(p.Gone())
	})
}

// TestTakenSignal: nor does it leap where a task has taken its signal, and is not counted as
// running yet.
func TestTakenSignal(t *testing.T) {
	w := New(1)
	taken := &waiter{asked: make(chan struct{})}
	w.waiting[taken] = true
	w.set(&alarm{at: w.now().Add(time.Hour)})
	if w.leap(0); w.leapt.Load() != 0 {
		t.Error("the clock leapt")
	}
	p := w.Process("p")
	received := make(chan int)
	go func() { received <- p.receive(taken) }()
	for w.leapt.Load() == 0 { // until it waits
		runtime.Gosched()
		w.leap(0)
	}
	p.Kill()
	if got := <-received; got != -1 {
		t.Errorf("it received %d", got)
	}
}

// TestOutsideTakesTurns: of what is outside, one task runs at a time, and a process enters.
func TestOutsideTakesTurns(t *testing.T) {
	w, inside, n := New(1), atomic.Int64{}, 0
	w.Run(func(e env.Env) {
		p, over := w.Process("p"), make(chan struct{}, 20)
		alone := func() {
			if inside.Add(1) != 1 {
				t.Error("two run at a time")
			}
			n++
			inside.Add(-1)
		}
		for range 10 {
			e.Go(func() {
				for range 50 {
					alone()
					_ = e.Sleep(context.Background(), time.Millisecond)
				}
				over <- struct{}{}
			})
			p.Go(func() {
				for range 50 {
					w.Enter()
					alone()
					w.Leave()
				}
				over <- struct{}{}
			})
		}
		for range 20 {
			e.Await(over)
		}
		p.Kill()
	})
	if n != 1000 {
		t.Errorf("%d of 1000 turns are counted", n)
	}
}

// TestKill: tasks end where they wait, with their deferred functions, and a stopped process
// goes on later.
func TestKill(t *testing.T) {
	w := New(1)
	w.Run(func(e env.Env) {
		p, cleaned := w.Process("p"), atomic.Bool{}
		p.Skew(time.Hour)
		p.Go(func() {
			defer cleaned.Store(true)
			inner := p.Env()
			if ahead := inner.Now().Sub(e.Now()); ahead < 59*time.Minute {
				t.Errorf("the clock is %v ahead", ahead)
			}
			inner.Await(nil)
			t.Error("a killed task went on")
		})
		_ = e.Sleep(context.Background(), time.Second)
		p.Kill()
		e.Await(p.Gone())
		if !cleaned.Load() {
			t.Error("the deferred function did not run")
		}
		p.Go(func() { t.Error("a dead process began a task") })
		q, went := w.Process("q"), make(chan struct{})
		began := e.Now()
		q.Stop(time.Minute)
		q.Go(func() {
			_ = q.Env().Sleep(context.Background(), time.Second)
			close(went)
		})
		e.Await(went)
		if e.Since(began) < time.Minute {
			t.Error("a stopped process went on")
		}
		q.Kill()
	})
}
