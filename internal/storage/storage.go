// Package storage is the contract between the service and its database. An engine loads
// and saves rows and knows no rule: commerce and command decide which changes are allowed.
// Package storagetest is the conformance suite of engines.
package storage

import (
	"errors"

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
	// ErrNewerDatabase: the database was made by a newer program.
	ErrNewerDatabase = errors.New("database is newer than this program")
	// ErrNotFound: a Reader found no such row.
	ErrNotFound = errors.New("not found")
)
