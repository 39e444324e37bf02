package sweep

import (
	"context"
	"errors"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"purveyor/internal/commerce"
	"purveyor/internal/env"
)

// store has so many portions to sweep. The database is away at the call after that.
type store struct {
	mu       sync.Mutex
	portions int
	calls    []commerce.Millis // of Sweep: by what time
}

func (s *store) Sweep(_ context.Context, now commerce.Millis) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.calls = append(s.calls, now)
	s.portions--
	if s.portions == -2 {
		return 1, errors.New("the database is away")
	}
	return max(0, min(1, s.portions+1)), nil
}

func (s *store) swept() []commerce.Millis {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.calls)
}

// TestExpired: once a minute it sweeps until nothing is left, and ends with its
// context.
func TestExpired(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &store{portions: 3}
		ctx, cancel := context.WithCancel(t.Context())
		began := time.Now()
		go Expired(ctx, env.Env{}, s)
		time.Sleep(59 * time.Second)
		synctest.Wait()
		if len(s.swept()) > 0 {
			t.Error("it sweeps at once")
		}
		time.Sleep(2 * time.Second)
		synctest.Wait()
		if len(s.swept()) != 4 || s.swept()[0] != commerce.MillisOf(began.Add(time.Minute)) {
			t.Errorf("rows were swept by %v", s.swept())
		}
		time.Sleep(time.Minute)
		synctest.Wait()
		if len(s.swept()) != 5 {
			t.Errorf("rows were swept %d times after two minutes", len(s.swept()))
		}
		cancel()
		synctest.Wait()
	})
}

// TestSums: it asks once a minute, also after a failure.
func TestSums(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		var asked atomic.Int64
		go Sums(ctx, env.Env{}, func(context.Context) error { asked.Add(1); return errors.New("the database is away") })
		time.Sleep(pause - time.Second)
		synctest.Wait()
		if asked.Load() != 0 {
			t.Error("it asks at once")
		}
		time.Sleep(2 * pause)
		synctest.Wait()
		if asked.Load() != 2 {
			t.Errorf("asked %d times until the third minute", asked.Load())
		}
		cancel()
		synctest.Wait()
	})
}

// TestCount: it counts at once, every five seconds, and a last time at the end.
func TestCount(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		var counted atomic.Int64
		go Count(ctx, env.Env{}, func(ctx context.Context) error { counted.Add(1); return ctx.Err() })
		time.Sleep(6 * time.Second)
		synctest.Wait()
		if counted.Load() != 2 {
			t.Errorf("counted %d times in six seconds", counted.Load())
		}
		cancel()
		synctest.Wait()
		if counted.Load() != 3 {
			t.Error("the last count is missing")
		}
	})
}
