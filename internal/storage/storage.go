// Package storage is the contract between the service and its database. An engine loads
// and saves rows and knows no rule: commerce and command decide which changes are allowed.
// Package storagetest is the conformance suite of engines.
package storage

import (
	"context"
	"errors"

	"purveyor/internal/commerce"
	"purveyor/internal/storage/schema"
)

// Errors of an engine. Any other error concerns one batch alone (it would break a
// constraint), and nothing of the batch was saved.
var (
	// ErrUnavailable: the database cannot be used right now (locked, full, gone).
	// Nothing was saved.
	ErrUnavailable = errors.New("storage unavailable")
	// ErrOutcomeUnknown: the batch may or may not have been saved. The stored replies
	// show which.
	ErrOutcomeUnknown = errors.New("outcome unknown")
	// ErrLocked: another session keeps a row locked that the batch needs, for longer
	// than a batch waits. It comes with ErrUnavailable. Batches that do not need the
	// row pass.
	ErrLocked = errors.New("a row is locked by another session")
	// ErrTimeout: a statement took longer than the server allows. It comes with
	// ErrUnavailable. Batches that do not need the statement may pass.
	ErrTimeout = errors.New("a statement took too long")
	// ErrNode: a node of a distributed database is away, or refused a statement. It comes
	// with ErrUnavailable. Batches and reads that do not need the node pass.
	ErrNode = errors.New("a node of the database is away")
	// ErrAgain: concurrent batches conflict: a deadlock, or two batches that add a row
	// with the same key. Nothing was saved. Another try is likely to succeed, and finds
	// the row that the other batch added.
	ErrAgain = errors.New("concurrent batches conflict")
	// ErrUnreadable: a requested row contains a value that this program cannot read. It
	// is not an ErrUnavailable: another try fails as well, and calls that do not need
	// the row succeed.
	ErrUnreadable = schema.ErrUnreadable
	// ErrUnusable: the database takes no writes until an operator changes something:
	// rights, a read-only setting, a damaged file. It comes with ErrUnavailable.
	ErrUnusable = errors.New("the database cannot be used as it is")
	// ErrNoDatabase: there is no database at this place, or it is empty.
	ErrNoDatabase = errors.New("there is no database")
	// ErrNewerDatabase: the database needs a newer program.
	ErrNewerDatabase = errors.New("database is newer than this program")
	// ErrOlderDatabase: the database lacks migrations, and was not to be migrated.
	ErrOlderDatabase = errors.New("the database is older than this program")
	// ErrNotFound: a Reader found no such row.
	ErrNotFound = errors.New("not found")
)

// Engine is the whole contract. Only the program, which opens engines, and the tests of
// engines use it whole. Every other package uses the small interfaces that it needs.
type Engine interface {
	Batches
	Queue
	Expiry
	ReplyStore
	Quotas
	Transfer

	// Writable tries a write and rolls it back. If the database does not accept writes,
	// it returns ErrUnavailable with the cause and advice for the operator.
	Writable(ctx context.Context) error

	// Vitals reads the state of the database as an operator sees it.
	Vitals(ctx context.Context) (Vitals, error)

	Reader() Reader
	Close() error
}

// Reader is all reads outside of batches. Each call sees one state of the database, which
// contains every batch that was saved before the call began.
type Reader interface {
	Stores
	Catalog
	ProductFollowing
	StockHistory
	Orders
	OrderFinder
	AttentionReader
	CourierFacts
	Money
	Replies
	Partners
	Endpoints
	Events
	Jobs
	Messages
	AuditReader
	People
	SandboxObjects
	Sums
	Overview
	Watched

	// TrackingSecret is the key of commerce.TrackingPages. It was drawn when the database was made.
	TrackingSecret(ctx context.Context) ([]byte, error)

	// Ping returns an error if the database does not answer.
	Ping(ctx context.Context) error
}

// Batches opens transactions. Any number of processes may use one database.
type Batches interface {
	// Writers returns how batches of this process can run beside each other.
	Writers() Writers
	// Load opens a batch: it waits for its turn to write, locks the rows that
	// are needed and reads them. The caller ends the batch with Save or Discard. A batch
	// that appends an event of a partner needs a row of that partner, or changes an order of it.
	Load(ctx context.Context, needs ...commerce.Needs) (Batch, error)
}

// Writers is how batches of one process can run beside each other.
type Writers struct {
	Batches int // that can be open at a time: 1 or more
	// Nodes: the rows of each store lie on one node of several, so a batch costs less if it
	// has fewer stores.
	Nodes bool
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

// Transfer copies whole databases.
type Transfer interface {
	// Snapshot calls f with one state of the database. Fill calls its function with an
	// empty database to add rows to: if both return nil, all rows are durable, else none
	// is kept. Fill needs a database that no process writes to.
	Snapshot(ctx context.Context, f func(schema.Snapshot) error) error
	Fill(ctx context.Context, f func(schema.Filling) error) error
}

// ErrChanged is the refusal to copy a database that is in use.
var ErrChanged = errors.New("the database was written to while it was copied, and nothing was kept; stop its services and try again")

// Copy copies everything into an empty database, all or nothing, and returns the number of
// rows of each table. It refuses a source that changes meanwhile, because the copy would
// lack the rows that came after the snapshot without a sign of it.
func Copy(ctx context.Context, from, to Transfer) (rows map[string]int64, err error) {
	err = from.Snapshot(ctx, func(s schema.Snapshot) error {
		return to.Fill(ctx, func(f schema.Filling) error {
			if rows, err = schema.Copy(s, f); err != nil {
				return err
			}
			return unchanged(ctx, from, s)
		})
	})
	return rows, err
}

func unchanged(ctx context.Context, from Transfer, s schema.Snapshot) error {
	before, err := s.State()
	if err != nil {
		return err
	}
	return from.Snapshot(ctx, func(s schema.Snapshot) error {
		after, err := s.State()
		if err == nil && after != before {
			err = ErrChanged
		}
		return err
	})
}
