package storage

import (
	"context"

	"purveyor/internal/commerce"
)

// Quotas grants portions of rate limits.
type Quotas interface {
	// GrantQuota grants want requests of the window, or as many as are left of
	// limit; both are above 0. The quotas of a window together never exceed the
	// limit, over all processes, and outlast a crash. Used is how many requests are
	// granted now, so the caller's are numbered from used-granted+1 to used. If
	// none is left, granted is 0 and used is at least limit. A call that fails may
	// have taken requests, which are lost then. Windows are forgotten when the
	// partner opens one that is more than WindowsKept minutes later.
	GrantQuota(ctx context.Context, window commerce.RateWindow, limit, want int64) (granted, used int64, err error)
}

// WindowsKept is for how many minutes a rate window stays, so that a process
// whose clock is behind still counts in it.
const WindowsKept = 10
