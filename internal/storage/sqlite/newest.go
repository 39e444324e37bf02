package sqlite

import (
	"context"
	"sync/atomic"

	"purveyor/internal/storage/gather"
)

// newest tells the stamp of the newest batch, whichever process has saved it.
// It is read from the database only after something was committed there.
type newest struct {
	read  *gather.Lookups[struct{}, int64]
	index walIndex
	known bool // there is an index
	seen  atomic.Pointer[stampSeen]
}

// stampSeen is a stamp that was read after the index had looked so. The batch
// may be a later one: then the index looks otherwise by now.
type stampSeen struct {
	header walHeader
	stamp  int64
}

func newNewest(path string, read func(context.Context) (int64, error)) *newest {
	n := &newest{read: gather.New(func(ctx context.Context, _ []struct{}) (map[struct{}]int64, error) {
		stamp, err := read(ctx)
		return map[struct{}]int64{{}: stamp}, err
	})}
	n.index, n.known = walIndexOf(path)
	return n
}

// stamp is of the newest batch that was saved before the call, or of a later one.
func (n *newest) stamp(ctx context.Context) (int64, error) {
	if !n.known {
		stamp, _, err := n.read.Get(ctx, struct{}{})
		return stamp, err
	}
	header := n.index.read()
	if s := n.seen.Load(); s != nil && s.header == header {
		return s.stamp, nil
	}
	stamp, _, err := n.read.Get(ctx, struct{}{})
	if err == nil {
		n.seen.Store(&stampSeen{header, stamp})
	}
	return stamp, err
}
