// Package batchget batches simultaneous lookups of single values into few reads, because
// the statement is most of the cost of a small read.
package batchget

import (
	"context"
	"maps"
	"runtime"
	"slices"
	"sync"
	"time"
)

// Loader reads values by key, as a dataloader does.
type Loader[K comparable, V any] struct {
	read func(context.Context, []K) (map[K]V, error)
	// Apart returns what a lookup must have in common with those that it shares a read with;
	// nil: nothing.
	Apart func(K) string

	mu      sync.Mutex
	waiting []*lookup[K, V]
	running int
}

type lookup[K comparable, V any] struct {
	key   K
	value V
	known bool
	err   error
	done  chan struct{}
}

const (
	mostRunning = 2   // reads at a time
	mostKeys    = 200 // in one read
	readTime    = 10 * time.Second
)

// New batches concurrent lookups into calls of read, which gets each key once and
// may omit unknown keys.
func New[K comparable, V any](read func(context.Context, []K) (map[K]V, error)) *Loader[K, V] {
	return &Loader[K, V]{read: read}
}

// Get returns the value of a key as it was when Get was called, or later; false if
// the key is unknown.
func (l *Loader[K, V]) Get(ctx context.Context, key K) (V, bool, error) {
	q := &lookup[K, V]{key: key, done: make(chan struct{})}
	l.mu.Lock()
	l.waiting = append(l.waiting, q)
	start := l.running < mostRunning
	if start {
		l.running++
	}
	l.mu.Unlock()
	if start {
		go l.run()
	}
	select {
	case <-q.done:
		return q.value, q.known, q.err
	case <-ctx.Done():
		var none V // the read goes on, and may be writing q
		return none, false, ctx.Err()
	}
}

// run answers lookups until none is waiting.
func (l *Loader[K, V]) run() {
	for {
		runtime.Gosched() // lookups that are about to be made join this read
		l.mu.Lock()
		n := min(len(l.waiting), mostKeys)
		if n == 0 {
			l.running--
			l.mu.Unlock()
			return
		}
		taken := l.waiting[:n:n]
		l.waiting = l.waiting[n:]
		l.mu.Unlock()
		var wg sync.WaitGroup
		for _, list := range l.apart(taken) {
			wg.Go(func() { l.answer(list) })
		}
		wg.Wait()
	}
}

// apart returns the lookups that share a read.
func (l *Loader[K, V]) apart(all []*lookup[K, V]) [][]*lookup[K, V] {
	if l.Apart == nil {
		return [][]*lookup[K, V]{all}
	}
	of := map[string][]*lookup[K, V]{}
	for _, q := range all {
		of[l.Apart(q.key)] = append(of[l.Apart(q.key)], q)
	}
	return slices.Collect(maps.Values(of))
}

func (l *Loader[K, V]) answer(list []*lookup[K, V]) {
	ctx, cancel := context.WithTimeout(context.Background(), readTime)
	defer cancel()
	keys := make([]K, 0, len(list))
	met := make(map[K]bool, len(list))
	for _, q := range list {
		if !met[q.key] {
			met[q.key] = true
			keys = append(keys, q.key)
		}
	}
	found, err := l.read(ctx, keys)
	for _, q := range list {
		q.value, q.known = found[q.key]
		q.err = err
		close(q.done)
	}
}
