package storage

import (
	"context"

	"purveyor/internal/commerce"
)

// Batches opens transactions. Any number of processes may use one database.
type Batches interface {
	// Load opens a batch: it waits for its turn to write, locks the rows that
	// are needed and reads them. The caller ends the batch with Save or Discard.
	Load(ctx context.Context, needs ...commerce.Needs) (Batch, error)
}

// Batch is one transaction over the rows that were loaded for it. Until it ends, no other
// batch of any process changes a row that this batch may change. If two batches add rows
// with the same key, the later batch fails.
type Batch interface {
	// Rows returns the rows as stored. The caller applies changes to them, which Save
	// writes.
	Rows() *commerce.Rows

	// Stamp is the time of the batch in Unix ms: above every stamp of a batch that
	// was saved before this one was loaded, and above every stamp that a page of
	// products has shown. Rows that change carry it, so that a feed by
	// (updated_on, id) skips nothing.
	Stamp() commerce.Millis

	// Save writes all changed and appended rows and commits. When it returns
	// nil, they are durable: neither a crash of the process nor the loss of
	// power takes them away. When it fails, nothing was saved, except with
	// ErrOutcomeUnknown. The batch is over in any case.
	Save(ctx context.Context) error

	// Discard ends the batch and writes nothing. After Save it does nothing.
	Discard()
}
