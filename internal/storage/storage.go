// Package storage is the contract between the service and its database. An
// engine loads and saves rows, and knows no rule: what may happen is decided
// in commerce and command. Package storagetest holds what every engine must
// prove.
package storage

import (
	"context"
	"errors"

	"purveyor/internal/commerce"
	"purveyor/internal/storage/schema"
)

// Errors of an engine. Everything else that it returns is an error of this
// one batch (a constraint that would be broken), of which nothing was saved.
var (
	// ErrUnavailable: the database cannot be used right now (locked, full, gone).
	// Nothing was saved.
	ErrUnavailable = errors.New("storage unavailable")
	// ErrOutcomeUnknown: the batch may or may not have been saved. Reading the
	// reply records tells.
	ErrOutcomeUnknown = errors.New("outcome unknown")
	// ErrLocked: another session keeps a row locked that the batch needs, for longer
	// than a batch waits. It comes with ErrUnavailable. Batches that do not need the
	// row pass.
	ErrLocked = errors.New("a row is locked by another session")
	// ErrTimeout: a statement took longer than the server allows. It comes with
	// ErrUnavailable. Batches that do not need the statement may pass.
	ErrTimeout = errors.New("a statement took too long")
	// ErrAgain: batches came into each other's way: a deadlock, or two that add a
	// row under one key. Nothing was saved. Another try is likely to pass, and
	// finds the row that the other batch added.
	ErrAgain = errors.New("batches came into each other's way")
	// ErrUnreadable: a row that was asked for holds what this program cannot read.
	// It is no ErrUnavailable: another try fails as well, and all that does not need
	// the row passes.
	ErrUnreadable = schema.ErrUnreadable
	// ErrUnusable: the database takes no writes until an operator changes something:
	// rights, a read-only setting, a damaged file. It comes with ErrUnavailable.
	ErrUnusable = errors.New("the database cannot be used as it is")
	// ErrNoDatabase: there is no database at this place, or it is empty.
	ErrNoDatabase = errors.New("there is no database")
	// ErrNewerDatabase: the database was made by a newer program.
	ErrNewerDatabase = errors.New("database is newer than this program")
)

// Engine keeps the rows. Any number of processes may use one database.
type Engine interface {
	// Load opens a batch: it waits for its turn to write, locks the rows that
	// are needed and reads them. The caller ends the batch with Save or Discard.
	Load(ctx context.Context, needs ...commerce.Needs) (Batch, error)

	// Sweep deletes stored replies made before the given time (Unix ms), a
	// bounded number at a call, and returns how many.
	Sweep(ctx context.Context, before int64) (int, error)

	// CountReplies writes down what this engine has stored of replies since the last
	// call, under the hour of now (Unix ms), and returns how many bytes each partner
	// has stored, over all processes and restarts. It is an estimate: what a process
	// stored after its last call is not counted if the process dies, and what Sweep
	// deletes is taken off by the hour.
	CountReplies(ctx context.Context, now int64) (schema.ReplyBytes, error)

	// ClaimJobs leases jobs to a worker, the one that came up first first. No two
	// claims give one job while a lease of it holds.
	ClaimJobs(ctx context.Context, c JobClaim) ([]commerce.Job, error)

	// ReleaseParked has parked jobs of an owner wait again, those that came up
	// first, at most limit, and returns how many. They keep their RunAt.
	ReleaseParked(ctx context.Context, owner string, limit int) (int, error)

	// SweepEvents deletes webhook events that were made before the given time
	// (Unix ms), their attempts and parked jobs, and outbox messages, jobs that were
	// given up, and dead jobs of that age: a bounded number at a call. Dead jobs of
	// commerce.HoldingKinds stay. It returns how many rows; 0 when there are no more.
	// What is deleted is overwritten where the engine has the file.
	SweepEvents(ctx context.Context, before int64) (int, error)

	// GrantQuota grants want requests of the window, or as many as are left of
	// limit; both are above 0. The quotas of a window together never exceed the
	// limit, over all processes, and outlast a crash. Used is how many requests are
	// granted now, so the caller's are numbered from used-granted+1 to used. If
	// none is left, granted is 0 and used is at least limit. A call that fails may
	// have taken requests, which are lost then. Windows are forgotten when the
	// partner opens one that is more than WindowsKept minutes later.
	GrantQuota(ctx context.Context, window commerce.RateWindow, limit, want int64) (granted, used int64, err error)

	// Snapshot calls f with one state of the database, and Fill with an empty
	// database that takes rows: durably and all of them when both return nil, else
	// none. Fill needs a database that no process writes to.
	Snapshot(ctx context.Context, f func(schema.Snapshot) error) error
	Fill(ctx context.Context, f func(schema.Filling) error) error

	// Writable tries a write and rolls it back. It returns nil if the database
	// takes writes, else ErrUnavailable with the cause and what an operator can do.
	Writable(ctx context.Context) error

	Reader() Reader
	Close() error
}

// Batch is one transaction over the rows that were loaded for it. No other
// batch, of this process or another, changes meanwhile a row that this one may
// change; a row that another adds under the same key fails the later of the two.
type Batch interface {
	// Rows as stored. What the caller applies to them is what Save writes.
	Rows() *commerce.Rows

	// Stamp is the time of the batch in Unix ms: above every stamp of a batch that
	// was saved before this one was loaded, and above every stamp that a page of
	// products has shown. Rows that change carry it, so that a feed by
	// (updated_on, id) skips nothing.
	Stamp() int64

	// Save writes all changed and appended rows and commits. When it returns
	// nil, they are durable: neither a crash of the process nor the loss of
	// power takes them away. When it fails, nothing was saved, except with
	// ErrOutcomeUnknown. The batch is over in any case.
	Save(ctx context.Context) error

	// Discard ends the batch and writes nothing. After Save it does nothing.
	Discard()
}

// WindowsKept is for how many minutes a rate window stays, so that a process
// whose clock is behind still counts in it.
const WindowsKept = 10

// ErrNotFound is what a Reader answers for a row that is not there.
var ErrNotFound = errors.New("not found")

// Reader answers reads outside of batches. Each call sees one state of the
// database, which holds every batch that was saved before the call began.
type Reader interface {
	Store(ctx context.Context, id string) (commerce.Store, error)
	StoreByNo(ctx context.Context, no int64) (commerce.Store, error)
	Stores(ctx context.Context, f StoreFilter) ([]commerce.Store, error)

	// Sites reads where the stores of an area are, in any order.
	Sites(ctx context.Context, f SiteFilter) ([]commerce.Site, error)

	// Categories in the order of their names; of stores: those that have products
	// in at least one of them.
	Categories(ctx context.Context, f CategoryFilter) ([]commerce.Category, error)

	// Product reads one product by id, with the version in which it was read.
	Product(ctx context.Context, id string) (commerce.Item, Version, error)

	// Items reads products of a store by id; those not known are absent.
	Items(ctx context.Context, storeID string, ids []string) (map[string]commerce.Item, error)

	// ProductPage reads one page of a list. Products whose documents the caller has
	// are not read: their items have a key and a stamp only.
	ProductPage(ctx context.Context, f ProductFilter, have Documents) (ProductPage, error)

	// Unchanged reports whether reading the set again would give what it gave in this
	// version. It never misses a change that was committed before the call began, by
	// any process. It may report a change where there is none. If nothing changed, the
	// caller passes the returned version next time, so that the engine need not look
	// at the same batches again.
	Unchanged(ctx context.Context, s ReadSet, v Version) (Version, bool, error)

	// Stock reads the stock rows of products by id; those not known are absent.
	Stock(ctx context.Context, productIDs []string) (map[string]commerce.Stock, error)

	// StockPage reads at most limit stock rows in the order of their keys, those
	// after the given one; of one store, or of all (empty).
	StockPage(ctx context.Context, storeID string, after commerce.ProductKey, limit int) ([]commerce.Stock, error)

	// StockMoves reads stock moves of a product, newest first, at most limit of
	// them from the position on. Moves never change, so from the NewestMove of a
	// stock row they are those that the row counts, whatever was moved since. Fewer
	// than limit moves: the next older one does not exist, or is missing.
	StockMoves(ctx context.Context, key commerce.ProductKey, from commerce.MovePosition, limit int) ([]commerce.StockMove, error)

	Order(ctx context.Context, key commerce.OrderKey) (commerce.Order, error)
	ExternalOrder(ctx context.Context, key commerce.ExternalKey) (commerce.OrderKey, error)

	// Reply reads what is stored for an idempotency key.
	Reply(ctx context.Context, key commerce.ReplyKey) (commerce.Reply, error)

	Payment(ctx context.Context, key commerce.OrderKey) (commerce.Payment, error)
	Refund(ctx context.Context, key commerce.RefundKey) (commerce.Refund, error)

	// Ledger and Refunds of an order, oldest first.
	Ledger(ctx context.Context, key commerce.OrderKey) ([]commerce.LedgerEntry, error)
	Refunds(ctx context.Context, key commerce.OrderKey) ([]commerce.Refund, error)

	// Payments reads at most limit payments in the order of their keys, those
	// after the given one.
	Payments(ctx context.Context, after commerce.OrderKey, limit int) ([]commerce.Payment, error)

	// Delivery of an order.
	Delivery(ctx context.Context, key commerce.OrderKey) (commerce.Delivery, error)

	// Attention reads why the merchant is or was asked to look at an order, in the
	// order of the codes.
	Attention(ctx context.Context, key commerce.OrderKey) ([]commerce.Attention, error)

	// OpenAttention reads at most limit open reasons of a store in the order of
	// (Since, OrderID, Code), those after the given position.
	OpenAttention(ctx context.Context, storeID string, after AttentionPosition, limit int) ([]commerce.Attention, error)

	// GeocodedAddress is where an address was found to be; address is its digest.
	GeocodedAddress(ctx context.Context, address string) (commerce.GeocodedAddress, error)

	// StrayCallbacks are those kept about a delivery that is none of ours, oldest
	// first.
	StrayCallbacks(ctx context.Context, deliveryID string) ([]commerce.StrayCallback, error)

	SandboxObject(ctx context.Context, id string) (commerce.SandboxObject, error)

	// Timeline reads the newest events of an order, at most limit, oldest first.
	Timeline(ctx context.Context, key commerce.OrderKey, limit int) ([]commerce.TimelineEvent, error)

	// KeyHolder finds whose key has this hash.
	KeyHolder(ctx context.Context, hash commerce.KeyHash) (commerce.Partner, commerce.Mode, error)
	Partner(ctx context.Context, id string) (commerce.Partner, error)
	Partners(ctx context.Context) ([]commerce.Partner, error)

	Job(ctx context.Context, key commerce.JobKey) (commerce.Job, error)

	// Jobs in the order of (RunAt, Slot, ID).
	Jobs(ctx context.Context, f JobFilter) ([]commerce.Job, error)

	// NextDue tells whether a job is due now that no worker has leased, and when the
	// next one comes up after now: by its time or, in a slot where none is due,
	// because a lease ends; 0 when none does.
	NextDue(ctx context.Context, now int64) (due bool, next int64, err error)

	// Endpoints reads how partners' endpoints fare; those of which nothing is
	// stored are healthy and not in the map.
	Endpoints(ctx context.Context, partnerIDs []string) (map[string]commerce.Endpoint, error)

	// HeldEndpoints are those that are held and not paused, all of them, in the
	// order of HeldUntil.
	HeldEndpoints(ctx context.Context) ([]commerce.Endpoint, error)

	// WebhookEvents reads events by key; those not known are absent.
	WebhookEvents(ctx context.Context, keys []commerce.EventKey) (map[commerce.EventKey]commerce.WebhookEvent, error)

	// EventPage reads events of a partner. In the order of ids none is ever
	// skipped: a page ends before what an open batch may still write.
	EventPage(ctx context.Context, f EventFilter) (EventPage, error)

	// Attempts of an event, oldest first.
	Attempts(ctx context.Context, key commerce.EventKey) ([]commerce.WebhookAttempt, error)

	// Outbox reads at most limit messages, newest first, that are older than the
	// one with the given id (empty: all).
	Outbox(ctx context.Context, before string, limit int) ([]commerce.UnsentMessage, error)
	OutboxMessage(ctx context.Context, id string) (commerce.UnsentMessage, error)

	// Ping tells whether the database answers.
	Ping(ctx context.Context) error
}

// AttentionPosition is a place in the order of a store's open reasons: behind
// the reason with this time, order and code.
type AttentionPosition struct {
	Since   int64 // Unix ms
	OrderID string
	Code    commerce.AttentionCode
}

// StoreFilter selects stores; they come in the order of their ids.
type StoreFilter struct {
	Active bool
	IDs    []string // nil: all
	After  string   // id; empty: from the beginning
	Limit  int
}

// SiteFilter selects the sites of stores in an area.
type SiteFilter struct {
	Active bool
	Area   []commerce.Strip // none of which overlap
}

// CategoryFilter selects categories.
type CategoryFilter struct {
	StoreIDs []string // nil: all
	Active   *bool    // nil: both
}
