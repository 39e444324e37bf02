package storage

import (
	"context"

	"purveyor/internal/commerce"
)

// Partners reads partners and their keys.
type Partners interface {
	// KeyHolder finds the partner and mode of the key with this hash.
	KeyHolder(ctx context.Context, hash commerce.KeyHash) (commerce.Partner, commerce.Mode, error)

	Partner(ctx context.Context, id string) (commerce.Partner, error)
	Partners(ctx context.Context) ([]commerce.Partner, error)
}
