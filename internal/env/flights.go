package env

import (
	"context"
	"sync"
)

// Flights makes concurrent callers of one key share one call. The zero
// value is ready.
type Flights[V any] struct {
	mu      sync.Mutex
	flights map[string]*flight[V]
}

type flight[V any] struct {
	landed chan struct{} // closed when the rest may be read
	value  V
	err    error
}

// Do returns what call returns, which runs beside its callers: it goes on when
// one of them leaves because its ctx has ended.
func (f *Flights[V]) Do(ctx context.Context, e Env, key string, call func() (V, error)) (V, error) {
	f.mu.Lock()
	under, shared := f.flights[key]
	if !shared {
		under = &flight[V]{landed: make(chan struct{})}
		if f.flights == nil {
			f.flights = map[string]*flight[V]{}
		}
		f.flights[key] = under
	}
	f.mu.Unlock()
	if !shared {
		e.Go(func() {
			under.value, under.err = call()
			f.mu.Lock()
			delete(f.flights, key)
			f.mu.Unlock()
			close(under.landed)
		})
	}
	if err := e.AwaitIn(ctx, under.landed); err != nil {
		return *new(V), err
	}
	return under.value, under.err
}
