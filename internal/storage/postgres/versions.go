package postgres

import (
	"context"
	"sync"

	"purveyor/internal/commerce"

	"github.com/jackc/pgx/v5/pgxpool"
)

// versions looks up stamps of single products. Those that are asked for at once
// are read by one statement: a statement each is what reading a product costs
// most.
type versions struct {
	pool *pgxpool.Pool

	mu      sync.Mutex
	waiting []*lookup
	running int
}

type lookup struct {
	key   commerce.ProductKey
	stamp int64 // 0: there is no such product
	err   error
	done  chan struct{}
}

const (
	mostLookups  = 2   // statements at a time
	mostGathered = 200 // keys in a statement
)

func newVersions(pool *pgxpool.Pool) *versions { return &versions{pool: pool} }

// up is the stamp of a product that was stored when it was called, or later;
// 0 if there is none.
func (v *versions) up(ctx context.Context, key commerce.ProductKey) (int64, error) {
	l := &lookup{key: key, done: make(chan struct{})}
	v.mu.Lock()
	v.waiting = append(v.waiting, l)
	start := v.running < mostLookups
	if start {
		v.running++
	}
	v.mu.Unlock()
	if start {
		go v.run()
	}
	select {
	case <-l.done:
		return l.stamp, l.err
	case <-ctx.Done():
		return 0, ctx.Err()
	}
}

// run answers until nobody waits.
func (v *versions) run() {
	for {
		v.mu.Lock()
		n := min(len(v.waiting), mostGathered)
		if n == 0 {
			v.running--
			v.mu.Unlock()
			return
		}
		taken := v.waiting[:n:n]
		v.waiting = v.waiting[n:]
		v.mu.Unlock()
		err := v.read(taken)
		for _, l := range taken {
			l.err = err
			close(l.done)
		}
	}
}

func (v *versions) read(list []*lookup) error {
	ctx, cancel := context.WithTimeout(context.Background(), readTime)
	defer cancel()
	stores, ids := make([]string, len(list)), make([]string, len(list))
	byKey := make(map[commerce.ProductKey][]*lookup, len(list))
	for i, l := range list {
		stores[i], ids[i] = l.key.StoreID, l.key.ProductID
		byKey[l.key] = append(byKey[l.key], l)
	}
	rows, err := query(ctx, v.pool, `SELECT s.store_id, s.product_id, s.updated_on FROM unnest($1::text[], $2::text[]) AS u (store_id, product_id)
		JOIN stock AS s ON s.store_id = u.store_id AND s.product_id = u.product_id AND s.store_id = ANY($1)`, stores, ids)
	if err != nil {
		return err
	}
	return each(rows, func(s *scanner) {
		key := commerce.ProductKey{StoreID: s.Text(), ProductID: s.Text()}
		stamp := s.Int()
		for _, l := range byKey[key] {
			l.stamp = stamp
		}
	})
}
