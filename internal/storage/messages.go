package storage

import (
	"context"

	"purveyor/internal/commerce"
)

// Messages reads messages that were not sent.
type Messages interface {
	// Outbox reads at most limit messages, newest first, that are older than the
	// one with the given id (empty: all).
	Outbox(ctx context.Context, before string, limit int) ([]commerce.UnsentMessage, error)

	OutboxMessage(ctx context.Context, id string) (commerce.UnsentMessage, error)
}
