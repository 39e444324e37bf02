package storage

import "context"

// Engine is all that an engine does. Only the program, which opens engines, and the
// tests of engines take it whole: every other package takes the interfaces that it
// uses.
type Engine interface {
	Batches
	Queue
	Expiry
	ReplyStore
	Quotas
	Transfer

	// Writable tries a write and rolls it back. It returns nil if the database
	// takes writes, else ErrUnavailable with the cause and what an operator can do.
	Writable(ctx context.Context) error

	Reader() Reader
	Close() error
}

// Reader is all reads outside of batches. Each call sees one state of the
// database, which holds every batch that was saved before the call began.
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

	// Ping tells whether the database answers.
	Ping(ctx context.Context) error
}
