package geocode

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"time"

	"purveyor/internal/env"

	"github.com/maypok86/otter/v2"
)

const (
	maxPlaces   = 10_000 // in process memory, about 200 bytes each
	keepPlace   = 24 * time.Hour
	keepMissing = 5 * time.Minute // the address may belong to a new house, or the geocoder's data may be corrected
	memoryLimit = time.Second     // for one access
)

// Memory stores places longer than a process lives. Its keys are those of Key.
type Memory interface {
	// Place returns a stored place; false: there is no such entry.
	Place(ctx context.Context, key string) (Place, bool, error)
	// Keep stores a place that was found. Source is the name of the geocoder.
	Keep(ctx context.Context, key string, p Place, source string) error
}

// Cache stores what a geocoder found. Concurrent lookups of one address make one
// call.
type Cache struct {
	env     env.Env
	next    Geocoder
	source  string
	memory  Memory // may be nil
	log     *slog.Logger
	entries *otter.Cache[string, entry]
	flights env.Flights[entry]
}

type entry struct {
	place Place
	err   error // nil, or ErrNotFound
}

// NewCache stores what next finds, under the name source. Memory and log may be nil.
func NewCache(e env.Env, next Geocoder, source string, memory Memory, log *slog.Logger) *Cache {
	return &Cache{
		env: e, next: next, source: source, memory: memory, log: cmp.Or(log, slog.Default()),
		entries: otter.Must(&otter.Options[string, entry]{
			MaximumSize: maxPlaces,
			ExpiryCalculator: otter.ExpiryWritingFunc(func(e otter.Entry[string, entry]) time.Duration {
				if e.Value.err == nil {
					return keepPlace
				}
				return keepMissing
			}),
			Clock: clock{e},
		}),
	}
}

// clock does not tick: expired entries are removed when they are looked up or when
// room is needed.
type clock struct{ env env.Env }

func (c clock) NowNano() int64                    { return c.env.Now().UnixNano() }
func (clock) Tick(time.Duration) <-chan time.Time { return nil }

// Find returns the place of an address. If the caller leaves, the lookup continues
// for others and for later calls.
func (c *Cache) Find(ctx context.Context, q Query) (Place, error) {
	key := Key(q)
	if key == "" {
		return Place{}, ErrNotFound
	}
	if e, ok := c.entries.GetIfPresent(key); ok {
		return e.place, e.err
	}
	e, err := c.flights.Do(ctx, c.env, key, func() (entry, error) { return c.look(context.WithoutCancel(ctx), key, q) })
	if err != nil {
		return Place{}, err
	}
	return e.place, e.err
}

// look asks the memory, then the geocoder. Errors are not stored.
func (c *Cache) look(ctx context.Context, key string, q Query) (entry, error) {
	if e, ok := c.entries.GetIfPresent(key); ok { // a lookup has just ended
		return e, nil
	}
	if place, ok := c.recall(ctx, key); ok {
		return c.put(key, entry{place: place}), nil
	}
	place, err := c.next.Find(ctx, q)
	switch {
	case errors.Is(err, ErrNotFound):
		return c.put(key, entry{err: ErrNotFound}), nil
	case err != nil:
		return entry{}, err
	}
	c.keep(ctx, key, place)
	return c.put(key, entry{place: place}), nil
}

func (c *Cache) put(key string, e entry) entry {
	c.entries.Set(key, e)
	return e
}

func (c *Cache) recall(ctx context.Context, key string) (Place, bool) {
	if c.memory == nil {
		return Place{}, false
	}
	ctx, cancel := c.env.WithTimeout(ctx, memoryLimit)
	defer cancel()
	place, ok, err := c.memory.Place(ctx, key)
	if err != nil {
		c.log.Warn("places cannot be read", "error", err)
		return Place{}, false
	}
	return place, ok && place.Valid()
}

func (c *Cache) keep(ctx context.Context, key string, place Place) {
	if c.memory == nil {
		return
	}
	ctx, cancel := c.env.WithTimeout(ctx, memoryLimit)
	defer cancel()
	if err := c.memory.Keep(ctx, key, place, c.source); err != nil {
		c.log.Warn("a place cannot be kept", "error", err)
	}
}
