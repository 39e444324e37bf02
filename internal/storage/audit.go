package storage

import (
	"context"

	"purveyor/internal/commerce"
)

// AuditReader reads what people did, and the changes of keys and endpoints.
type AuditReader interface {
	// Audit reads at most limit entries of a store, newest first, that are older than
	// the entry with the given id (empty: all). An empty store selects the entries
	// that are about no single store.
	Audit(ctx context.Context, storeID, before string, limit int) ([]commerce.AuditEntry, error)
}
