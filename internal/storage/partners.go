package storage

import (
	"context"

	"purveyor/internal/commerce"
	"purveyor/internal/storage/schema"
)

// Partners reads partners and their keys.
type Partners interface {
	// KeyHolder finds the key with this hash and its partner.
	KeyHolder(ctx context.Context, hash commerce.KeyHash) (commerce.Partner, commerce.APIKey, error)

	Partner(ctx context.Context, id string) (commerce.Partner, error)
	Partners(ctx context.Context) ([]commerce.Partner, error)

	// Faults reads the faults of a partner, ended ones too. The zero Faults: it never had one.
	Faults(ctx context.Context, partnerID string) (commerce.Faults, error)

	// Certification reads the newest certification of a partner. The zero Certification: it never began one.
	Certification(ctx context.Context, partnerID string) (commerce.Certification, error)

	// APIKeys reads the keys of a partner, the newest first.
	APIKeys(ctx context.Context, partnerID string) ([]commerce.APIKey, error)
	// EndingKeys reads the keys of all partners that end after one time and until another,
	// in the order of their ends.
	EndingKeys(ctx context.Context, after, until commerce.Millis) ([]commerce.APIKey, error)
}

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

// The wanted number, $4, is at most the limit, $5. No row comes back when nothing is left.
const (
	grantSQL = `INSERT INTO rate_windows (partner_id, mode, minute, used, granted) VALUES ($1, $2, $3, $4, $4)
		ON CONFLICT (partner_id, mode, minute) DO UPDATE
		SET used = CASE WHEN excluded.used < $5 - rate_windows.used THEN rate_windows.used + excluded.used ELSE $5 END,
			granted = CASE WHEN excluded.used < $5 - rate_windows.used THEN excluded.used ELSE $5 - rate_windows.used END
		WHERE rate_windows.used < $5
		RETURNING granted, used`
	forgetWindows = `DELETE FROM rate_windows WHERE partner_id = $1 AND mode = $2 AND minute < $3`
)

// GrantBy is for engines: it grants a quota with a function that runs one
// statement, and calls row for each of its rows.
func GrantBy(run func(sql string, row func(schema.Scanner), args ...any) error, w commerce.RateWindow, limit, want int64) (granted, used int64, err error) {
	used = limit
	err = run(grantSQL, func(s schema.Scanner) { granted, used = s.Int(), s.Int() }, w.PartnerID, string(w.Mode), w.Minute, min(want, limit), limit)
	if err == nil && granted == used { // the first grant of a window deletes the old ones
		err = run(forgetWindows, func(schema.Scanner) {}, w.PartnerID, string(w.Mode), w.Minute-WindowsKept)
	}
	return granted, used, err
}
