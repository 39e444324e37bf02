package web

import "sync"

// Budget is an amount of memory or of connections that callers share. Each caller may
// take a share of it at most. The caller "" stands for many, so only the total bounds
// it.
type Budget struct {
	total, share int64

	mu      sync.Mutex
	taken   int64
	callers map[string]int64 // what each caller has taken; no entry: 0
}

// NewBudget makes a budget with nothing taken.
func NewBudget(total, share int64) *Budget {
	return &Budget{total: total, share: share, callers: map[string]int64{}}
}

// Take takes an amount for a caller. It returns false and takes nothing if less is left.
func (b *Budget) Take(caller string, n int64) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.taken+n > b.total || b.callers[caller]+n > b.share {
		return false
	}
	b.taken += n
	b.count(caller, n)
	return true
}

// Give returns what was taken.
func (b *Budget) Give(caller string, n int64) {
	if n == 0 {
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.taken -= n
	b.count(caller, -n)
}

// count adds to what a caller has taken. The lock is held.
func (b *Budget) count(caller string, n int64) {
	if caller == "" {
		return
	}
	if b.callers[caller] += n; b.callers[caller] == 0 {
		delete(b.callers, caller)
	}
}

// used returns what all callers and this one have taken.
func (b *Budget) used(caller string) (all, own int64) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.taken, b.callers[caller]
}
