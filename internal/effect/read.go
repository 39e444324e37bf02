package effect

import (
	"context"
	"sync"
	"time"

	"purveyor/internal/commerce"
	"purveyor/internal/storage"
)

// recipient is a partner with its endpoint.
type recipient struct {
	partner  commerce.Partner
	endpoint commerce.Endpoint
}

// Reads reads the rows that jobs are about.
type Reads interface {
	storage.Stores
	storage.Catalog
	storage.Partners
	storage.Endpoints
	storage.Events
	storage.Jobs
	storage.SandboxObjects
}

// recipients caches for a second where the events of partners go. It is bounded by
// the number of partners.
type recipients struct {
	Options
	known sync.Map // partner id -> *entry
}

type entry struct {
	mu        sync.Mutex // held while it is read
	recipient recipient
	until     time.Time
}

const recipientFreshness = time.Second

// get reads a recipient, or waits for a caller that is just reading it.
func (p *recipients) get(ctx context.Context, id string) (recipient, error) {
	known, _ := p.known.LoadOrStore(id, &entry{})
	e := known.(*entry)
	e.mu.Lock()
	defer e.mu.Unlock()
	now := p.Env.Now()
	if now.Before(e.until) {
		return e.recipient, nil
	}
	partner, err := p.Reads.Partner(ctx, id)
	if err != nil {
		return recipient{}, err
	}
	endpoints, err := p.Reads.Endpoints(ctx, []string{id})
	if err != nil {
		return recipient{}, err
	}
	e.recipient, e.until = recipient{partner, endpoints[id]}, now.Add(recipientFreshness)
	return e.recipient, nil
}

// forget makes the next caller read the recipient again.
func (p *recipients) forget(id string) { p.known.Delete(id) }
