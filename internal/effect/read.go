package effect

import (
	"context"
	"sync"
	"time"

	"purveyor/internal/commerce"
	"purveyor/internal/storage"
)

// grouped reads by key: who asks while a question is under way shares the next.
type grouped[K comparable, V any] struct {
	read func(context.Context, []K) (map[K]V, error)

	mu     sync.Mutex
	next   *question[K, V] // nil: nobody waits
	asking bool
}

type question[K comparable, V any] struct {
	keys  []K
	done  chan struct{}
	found map[K]V
	err   error
}

// readTime bounds a question, which belongs to nobody who asks.
const readTime = 5 * time.Second

func (g *grouped[K, V]) get(k K) (v V, found bool, err error) {
	g.mu.Lock()
	if g.next == nil {
		g.next = &question[K, V]{done: make(chan struct{})}
	}
	q := g.next
	q.keys = append(q.keys, k)
	if !g.asking {
		g.asking = true
		go g.ask()
	}
	g.mu.Unlock()
	<-q.done
	v, found = q.found[k]
	return v, found, q.err
}

func (g *grouped[K, V]) ask() {
	for {
		g.mu.Lock()
		q := g.next
		g.next = nil
		g.asking = q != nil
		g.mu.Unlock()
		if q == nil {
			return
		}
		ctx, cancel := context.WithTimeout(context.Background(), readTime)
		q.found, q.err = g.read(ctx, q.keys)
		cancel()
		close(q.done)
	}
}

// party is who gets webhooks.
type party struct {
	partner  commerce.Partner
	endpoint commerce.Endpoint
}

// parties remembers for a second whom events go to. Partners bound it.
type parties struct {
	reader storage.Reader
	mu     sync.Mutex
	known  map[string]*entry
}

type entry struct {
	mu    sync.Mutex // held while it is read
	party party
	until time.Time
}

const partyFreshness = time.Second

func (p *parties) get(ctx context.Context, id string) (party, error) {
	e := p.entry(id)
	e.mu.Lock()
	defer e.mu.Unlock()
	now := time.Now()
	if now.Before(e.until) {
		return e.party, nil
	}
	partner, err := p.reader.Partner(ctx, id)
	if err != nil {
		return party{}, err
	}
	endpoints, err := p.reader.Endpoints(ctx, []string{id})
	if err != nil {
		return party{}, err
	}
	e.party, e.until = party{partner, endpoints[id]}, now.Add(partyFreshness)
	return e.party, nil
}

// forget has the next who asks read again.
func (p *parties) forget(id string) {
	e := p.entry(id)
	e.mu.Lock()
	defer e.mu.Unlock()
	e.until = time.Time{}
}

func (p *parties) entry(id string) *entry {
	p.mu.Lock()
	defer p.mu.Unlock()
	e := p.known[id]
	if e == nil {
		e = &entry{}
		p.known[id] = e
	}
	return e
}
