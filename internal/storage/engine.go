package storage

import "context"

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

	Reader() Reader
	Close() error
}

// Reader is all reads outside of batches. Each call sees one state of the database, which
// contains every batch that was saved before the call began.
type Reader interface {
	Stores
	Catalog
	StockHistory
	Orders
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
	SandboxObjects

	// Ping returns an error if the database does not answer.
	Ping(ctx context.Context) error
}
