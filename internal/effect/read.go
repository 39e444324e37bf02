package effect

import (
	"context"
	"sync"
	"time"

	"purveyor/internal/commerce"
	"purveyor/internal/storage"
)

// party is who gets webhooks.
type party struct {
	partner  commerce.Partner
	endpoint commerce.Endpoint
}

// parties remembers for a second where the events of partners go. Partners bound it.
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

// get reads a party, or waits for a caller that is just reading it.
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
