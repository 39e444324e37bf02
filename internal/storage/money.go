package storage

import (
	"context"

	"purveyor/internal/commerce"
)

// Money reads payments, refunds and the ledger.
type Money interface {
	Payment(ctx context.Context, key commerce.OrderKey) (commerce.Payment, error)
	Refund(ctx context.Context, key commerce.RefundKey) (commerce.Refund, error)

	// Ledger and Refunds of an order, oldest first.
	Ledger(ctx context.Context, key commerce.OrderKey) ([]commerce.LedgerEntry, error)

	Refunds(ctx context.Context, key commerce.OrderKey) ([]commerce.Refund, error)

	// Payments reads at most limit payments in the order of their keys, those
	// after the given one.
	Payments(ctx context.Context, after commerce.OrderKey, limit int) ([]commerce.Payment, error)
}
