package storage

import (
	"context"

	"purveyor/internal/commerce"
)

// Money reads payments, refunds and the ledger.
type Money interface {
	Payment(ctx context.Context, key commerce.OrderKey) (commerce.Payment, error)
	Refund(ctx context.Context, key commerce.RefundKey) (commerce.Refund, error)

	// Ledger and Refunds read the entries and refunds of an order, oldest first.
	Ledger(ctx context.Context, key commerce.OrderKey) ([]commerce.LedgerEntry, error)

	Refunds(ctx context.Context, key commerce.OrderKey) ([]commerce.Refund, error)

	// Payments reads at most limit payments behind the given key, in the order of keys.
	Payments(ctx context.Context, after commerce.OrderKey, limit int) ([]commerce.Payment, error)
}
