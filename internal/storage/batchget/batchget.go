// Package batchget batches simultaneous lookups of single values into few reads, because
// the statement is most of the cost of a small read.
package batchget

import (
	"context"
	"runtime"
	"sync"
	"time"
)

// Loader reads values by key, as a dataloader does.
type Loader[K comparable, V any] struct {
	read func(context.Context, []K) (map[K]V, error)
	// Apart names the lane of a key. Lookups of one lane share reads; a lane does not wait for
	// the reads of another. Nil: there is one lane.
	Apart func(K) string

	mu    sync.Mutex
	lanes map[string]*lane[K, V] // those with a read under way
}

type lane[K comparable, V any] struct {
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
	mostRunning = 2   // reads of a lane at a time
	mostKeys    = 200 // in one read
	readTime    = 10 * time.Second
)

// New batches concurrent lookups into calls of read, which gets each key once and
// may omit unknown keys.
func New[K comparable, V any](read func(context.Context, []K) (map[K]V, error)) *Loader[K, V] {
	return &Loader[K, V]{read: read, lanes: map[string]*lane[K, V]{}}
}

// Get returns the value of a key as it was when Get was called, or later; false if
// the key is unknown.
func (l *Loader[K, V]) Get(ctx context.Context, key K) (V, bool, error) {
	q, name := &lookup[K, V]{key: key, done: make(chan struct{})}, ""
	if l.Apart != nil {
		name = l.Apart(key)
	}
	l.mu.Lock()
	at := l.lanes[name]
	if at == nil {
		at = &lane[K, V]{}
		l.lanes[name] = at
	}
	at.waiting = append(at.waiting, q)
	start := at.running < mostRunning
	if start {
		at.running++
	}
	l.mu.Unlock()
	if start {
		go l.run(name, at)
	}
	select {
	case <-q.done:
		return q.value, q.known, q.err
	case <-ctx.Done():
		var none V // the read goes on, and may be writing q
		return none, false, ctx.Err()
	}
}

// run answers the lookups of a lane until none is waiting.
func (l *Loader[K, V]) run(name string, at *lane[K, V]) {
	for {
		runtime.Gosched() // lookups that are about to be made join this read
		l.mu.Lock()
		n := min(len(at.waiting), mostKeys)
		if n == 0 {
			if at.running--; at.running == 0 {
				delete(l.lanes, name)
			}
			l.mu.Unlock()
			return
		}
		taken := at.waiting[:n:n]
		at.waiting = at.waiting[n:]
		l.mu.Unlock()
		l.answer(taken)
	}
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
