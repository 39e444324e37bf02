package web

import "sync"

// Budget is an amount of memory that callers share. Each caller may take a share of
// it at most.
type Budget struct {
	total, share int64 // bytes

	mu      sync.Mutex
	taken   int64
	callers map[string]int64 // bytes that each caller has taken; no entry: 0
}

// NewBudget makes a budget with nothing taken.
func NewBudget(total, share int64) *Budget {
	return &Budget{total: total, share: share, callers: map[string]int64{}}
}

// Take takes bytes for a caller. It returns false and takes nothing if less is left.
func (b *Budget) Take(caller string, n int64) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.taken+n > b.total || b.callers[caller]+n > b.share {
		return false
	}
	b.taken += n
	b.callers[caller] += n
	return true
}

// Give returns bytes that were taken.
func (b *Budget) Give(caller string, n int64) {
	if n == 0 {
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.taken -= n
	if b.callers[caller] -= n; b.callers[caller] == 0 {
		delete(b.callers, caller)
	}
}
