package storage

import (
	"context"
	"time"

	"purveyor/internal/commerce"
)

// MostWatched is how many jobs, orders and reasons of each kind operators see counted.
const MostWatched = 20_000

// Watched reads what operators watch.
type Watched interface {
	// Gauges reads all of it at once. It counts up to a number of jobs of each state, of orders of
	// each status, and of reasons, so that it takes no longer on a large database. Waiting refunds are
	// counted apart: no crowd of other jobs hides one.
	Gauges(ctx context.Context, most int) (Gauges, error)
}

// Gauges are what operators watch in a database.
type Gauges struct {
	Vitals
	// Jobs are counted by kind and state, in any order, without those that were given up.
	Jobs []JobCount
	// Endpoints are all that have a row, in any order, without URLs and secrets. A callback URL has a
	// row from its first failure on.
	Endpoints []commerce.Endpoint
	Open      []OpenCount
	Attention []AttentionCount // in any order
}

// JobCount is how many jobs of a kind have a state.
type JobCount struct {
	Kind  commerce.JobKind
	State commerce.JobState
	Count int64
	First commerce.Millis // the lowest RunAt
	Made  commerce.Millis // when the oldest was made
}

// Vitals are the state of a database as an operator sees it. What an engine does not know, or
// does not have, is zero.
type Vitals struct {
	Bytes       int64         // of all that the database keeps
	FreeBytes   int64         // of the disk that it lies on; 0: not known
	ClockOffset time.Duration // how far the database's clock is ahead of ours
	Schema      int           // the number of the last migration that the database has

	LogBytes int64 // SQLite: of the write-ahead log

	Idle, Used, Most int            // PostgreSQL: connections of this process
	StandbyLag       *time.Duration // PostgreSQL: of the standby that is furthest behind; nil: there is none
}
