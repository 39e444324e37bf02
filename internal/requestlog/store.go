// Package requestlog keeps the requests of partners for some weeks, apart from the rows of the
// service: what was asked, what was answered, without secrets. It never delays a request. What it
// has no room for is dropped and counted.
package requestlog

import (
	"cmp"
	"context"
	"encoding/binary"
	"slices"

	"purveyor/internal/commerce"
)

// Store keeps chunks in tables of a day, which are dropped whole. It knows no rule, and does not
// look into chunks. Package requestlogtest is its conformance suite.
type Store interface {
	// Write adds chunks to a day, and what is counted to the counts of their minutes: all, or
	// nothing. A chunk that is there already stays as it is.
	Write(ctx context.Context, day Day, chunks []Chunk, counts []Count) error

	// Chunks reads the newest chunks of a partner that the query selects, at most its limit, the
	// newest first: in the order of their places.
	Chunks(ctx context.Context, q Query) ([]Chunk, error)

	// Counts reads the counts of a partner from a minute on, of one day, in the order of minutes
	// and modes.
	Counts(ctx context.Context, day Day, partnerID string, from commerce.Millis) ([]Count, error)

	// Days are the days that have tables, the oldest first.
	Days(ctx context.Context) ([]Day, error)

	// Drop drops the tables of a day, if there are any.
	Drop(ctx context.Context, day Day) error

	// Size is how many bytes all days take.
	Size(ctx context.Context) (int64, error)

	Close() error
}

// Day is a day in UTC, as a number like 20261126.
type Day int

// DayOf is the day of a time.
func DayOf(at commerce.Millis) Day {
	y, m, d := at.Time().UTC().Date()
	return Day(y*10_000 + int(m)*100 + d)
}

// Chunk has the rows of one partner that one process wrote at once. The times of its rows are at
// most Span apart.
type Chunk struct {
	PartnerID string
	Place
	First commerce.Millis // of the rows: the time of the oldest. That of the newest is Place.Last
	Count int64           // of the rows
	Lost  int64           // rows that there was no room for, since the chunk before this one
	Rows  []byte
	// Refs are digests of the trace ids and the orders in the rows. A chunk is found by them only
	// if it has Indexed; the others have to be looked through.
	Refs    []int64
	Indexed bool
}

// Span is the longest time between the first and the last row of a chunk, in ms.
const Span commerce.Millis = 1000

// Place is the place of a chunk among those of its partner.
type Place struct {
	Last   commerce.Millis // the time of the newest row
	Writer Writer          // the process
	Number int64           // of the chunk, in its process
}

// Writer is a random name of a process, in 48 bits.
type Writer int64

// Count is how many requests of a partner were answered in a minute, logged or not.
type Count struct {
	PartnerID string
	Mode      commerce.Mode
	Minute    commerce.Millis // its begin
	Requests  int64
	Refused   int64 // with 4xx, but for 429
	Limited   int64 // with 429
	Failed    int64 // with 5xx
}

// Query selects chunks of a day.
type Query struct {
	Day       Day
	PartnerID string
	Before    Place           // exclusive
	From      commerce.Millis // of the newest row
	// Until leaves out chunks without a row up to this time.
	Until commerce.Millis
	// Ref, if it is not 0, selects the chunks that have this digest, and those that are not
	// indexed.
	Ref   int64
	Limit int
}

// entryID makes the id of a row. Ids sort by the time of the row, then by process and number.
func entryID(at commerce.Millis, w Writer, number uint32) string {
	var e commerce.Entropy
	var tag [8]byte
	binary.BigEndian.PutUint64(tag[:], uint64(w))
	copy(e[:6], tag[2:])
	binary.BigEndian.PutUint32(e[6:], number)
	return commerce.NewID(commerce.PrefixRequest, at, e)
}

// compare orders places, the oldest first.
func (p Place) compare(q Place) int {
	return cmp.Or(cmp.Compare(p.Last, q.Last), cmp.Compare(p.Writer, q.Writer), cmp.Compare(p.Number, q.Number))
}

// Newest sorts chunks that a store has read by several statements, the newest first, and returns
// at most limit of them.
func Newest(list []Chunk, limit int) []Chunk {
	slices.SortStableFunc(list, func(a, b Chunk) int { return b.compare(a.Place) })
	return list[:min(len(list), limit)]
}

// InOrder sorts counts by their keys.
func InOrder(counts []Count) []Count {
	return slices.SortedFunc(slices.Values(counts), func(a, b Count) int {
		return cmp.Or(cmp.Compare(a.PartnerID, b.PartnerID), cmp.Compare(a.Minute, b.Minute), cmp.Compare(a.Mode, b.Mode))
	})
}
