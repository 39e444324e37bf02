package web

import (
	"context"
	"net/http"
	"sync"
	"time"

	"purveyor/internal/commerce"
)

// Leaser grants the requests of a minute to the processes that ask: the caller
// gets those numbered from used-granted+1 to used, and no other process does.
// When nothing is left of the limit, granted is 0 and used not below it.
type Leaser interface {
	LeaseRequests(ctx context.Context, window commerce.RateWindow, limit, want int64) (granted, used int64, err error)
}

// leases counts the requests of partners over all processes. Each request gets
// a number that no other has in its minute, and passes if that is within the
// limit; so the count is exact even while processes know different limits.
// Numbers are leased in portions, because a lease is written to the database.
type leases struct {
	leaser Leaser
	mu     sync.Mutex
	minute int64
	held   map[commerce.RateWindow]*portion // of this minute; partners bound it
}

// portion is what this process holds of a window: the numbers from next to
// used. When it holds none, used is how many are leased, as far as is known.
type portion struct {
	next, used int64
	pending    *lease // nil: none is under way
}

// lease is a lease under way; all who find the portion empty wait for it.
type lease struct {
	done chan struct{}
	err  error // to be read when done
}

const (
	// An eighth of what is left at a time: few leases, and little is stranded
	// in a process that then has no more requests.
	portionsOfRest = 8
	maxPortion     = 1_000_000
	// leasePatience is how long a request waits for the database.
	leasePatience = 2 * time.Second
)

func newLeases(leaser Leaser) *leases {
	return &leases{leaser: leaser, held: map[commerce.RateWindow]*portion{}}
}

// take counts one request of the caller, and sets the RateLimit headers.
func (l *leases) take(ctx context.Context, h http.Header, c Caller, now time.Time) error {
	w := commerce.RateWindow{PartnerID: c.Partner.ID, Mode: c.Mode, Minute: now.Unix() / 60}
	number, err := l.number(ctx, w, c.Partner.RateLimit)
	if err != nil {
		return err
	}
	return within(h, number, c.Partner.RateLimit, now)
}

// number numbers a request; above the limit if nothing is left of it.
func (l *leases) number(ctx context.Context, w commerce.RateWindow, limit int64) (int64, error) {
	for {
		l.mu.Lock()
		p := l.portion(w)
		if number := p.next; number <= min(p.used, limit) {
			p.next++
			l.mu.Unlock()
			return number, nil
		}
		if p.used >= limit {
			l.mu.Unlock()
			return limit + 1, nil
		}
		pending, first := p.pending, p.pending == nil
		if first {
			pending = &lease{done: make(chan struct{})}
			p.pending = pending
		}
		want := portionSize(p.used, limit)
		l.mu.Unlock()
		if first {
			l.fetch(p, w, limit, want)
		}
		select {
		case <-pending.done:
			if pending.err != nil {
				return 0, pending.err
			}
		case <-ctx.Done():
			return 0, ctx.Err()
		}
	}
}

// portion is what is held of a window. The lock is held.
func (l *leases) portion(w commerce.RateWindow) *portion {
	if w.Minute != l.minute {
		l.minute = w.Minute
		clear(l.held)
	}
	p := l.held[w]
	if p == nil {
		p = &portion{next: 1}
		l.held[w] = p
	}
	return p
}

// portionSize is 1 at first, which tells how much the others have left.
func portionSize(used, limit int64) int64 {
	if used == 0 {
		return 1
	}
	return min(max(1, (limit-used)/portionsOfRest), maxPortion)
}

// fetch leases for all who wait, and so also when the caller has gone.
func (l *leases) fetch(p *portion, w commerce.RateWindow, limit, want int64) {
	ctx, cancel := context.WithTimeout(context.Background(), leasePatience)
	defer cancel()
	granted, used, err := l.leaser.LeaseRequests(ctx, w, limit, want)
	l.mu.Lock()
	defer l.mu.Unlock()
	if err == nil {
		p.next, p.used = used-granted+1, used
	}
	p.pending.err = err
	close(p.pending.done)
	p.pending = nil
}
