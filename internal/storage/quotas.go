package storage

import (
	"context"

	"purveyor/internal/commerce"
)

// Quotas grants portions of rate limits.
type Quotas interface {
	// GrantQuota grants want requests of the window, or as many as are left of limit;
	// both are above 0. The quotas of all processes together never exceed the limit, also
	// after a crash. used is the number of requests that are granted now, so the caller's
	// requests have the numbers used-granted+1 to used. If no request is left, granted is
	// 0 and used is at least limit. A failed call may have taken requests, which are then
	// lost. A window is deleted when the partner opens one that is more than WindowsKept
	// minutes later.
	GrantQuota(ctx context.Context, window commerce.RateWindow, limit, want int64) (granted, used int64, err error)
}

// WindowsKept is how many minutes a rate window is kept, so that a process whose clock is
// behind still counts in it.
const WindowsKept = 10
