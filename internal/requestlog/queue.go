package requestlog

import (
	"encoding/binary"
	"sync"

	"purveyor/internal/commerce"
)

const (
	// queueRoom bounds the bytes of the rows that wait to be written or are being written.
	queueRoom = 8 << 20
	// partnerRoom is the part of it that one partner may take.
	partnerRoom = queueRoom / 2
	// A chunk ends with this row, or with this byte.
	chunkRows  = 256
	chunkBytes = 64 << 10
	// mostCounts bounds the minutes that are counted while the store takes no writes.
	mostCounts = 10_000
)

// queue has the rows that wait to be written, as chunks.
type queue struct {
	writer Writer

	mu       sync.Mutex
	partners map[string]*waiting
	sealed   []*chunk // they get no more rows
	counts   []Count  // of minutes that are over
	bytes    int      // that are allocated for all chunks, those that are being written among them
	number   uint32   // of the last row
	chunks   int64    // number of the last chunk
	rows     int      // that wait
	lost     int64    // rows that were dropped, ever
	kept     int64    // rows that were taken, ever
	spare    [][]byte // of chunks that were written
}

const (
	// mostSpare bounds the buffers that wait to be used again.
	mostSpare  = 32
	leastSpare = 8 << 10 // bytes
)

// waiting is what waits of one partner.
type waiting struct {
	open   *chunk // nil: the next row begins one
	bytes  int    // of its chunks, as in queue
	lost   int64  // rows that were dropped since its last chunk began
	lostAt commerce.Millis
	busy   int // a little more than the length of its last chunk, if that was full; else 0
	counts [2]Count
}

// chunk is a chunk that rows are added to.
type chunk struct {
	Chunk
	owner *waiting
	last  repeated
	row   uint32 // number of the last row
	// Where the last headers of a request stand in Rows.
	headers, headersEnd int
}

func newQueue(w Writer) *queue { return &queue{writer: w, partners: map[string]*waiting{}} }

// add adds the row of a call, and counts the call. A row that there is no room for is dropped. first
// reports whether nothing waited before.
func (q *queue) add(call *Call, r *row) (first bool) {
	at := commerce.MillisOf(call.At)
	q.mu.Lock()
	defer q.mu.Unlock()
	first = q.idle()
	w := q.waiting(call.Key.PartnerID)
	q.count(w, call.Key.Mode, at, call.Status)
	c := q.chunkFor(w, call.Key.PartnerID, at, r.size(call))
	if c == nil {
		w.lost, w.lostAt = w.lost+1, at
		q.lost++
		return first
	}
	at = max(at, c.Last) // a clock may go back a little
	q.number++
	r.appendTo(c, call, at-c.Last, uint64(q.number-c.row))
	c.Last, c.row = at, q.number
	c.Count++
	q.rows++
	q.kept++
	if c.Count == chunkRows || len(c.Rows) >= chunkBytes {
		w.busy = len(c.Rows) + len(c.Rows)/8
		q.seal(w)
	}
	return first
}

// countOnly counts a call that is not logged. lost is 1 if there is no room for it.
func (q *queue) countOnly(call *Call, lost int64) (first bool) {
	at := commerce.MillisOf(call.At)
	q.mu.Lock()
	defer q.mu.Unlock()
	first = q.idle()
	w := q.waiting(call.Key.PartnerID)
	q.count(w, call.Key.Mode, at, call.Status)
	if lost > 0 {
		w.lost, w.lostAt = w.lost+lost, at
		q.lost += lost
	}
	return first
}

// idle reports whether there is nothing to write. The lock is held, as in the functions below.
func (q *queue) idle() bool { return len(q.partners) == 0 && len(q.sealed) == 0 && len(q.counts) == 0 }

func (q *queue) waiting(partnerID string) *waiting {
	w := q.partners[partnerID]
	if w == nil {
		w = &waiting{}
		w.counts[0].PartnerID, w.counts[1].PartnerID = partnerID, partnerID
		q.partners[partnerID] = w
	}
	return w
}

// count counts an answered request in its minute.
func (q *queue) count(w *waiting, mode commerce.Mode, at commerce.Millis, status int) {
	c := &w.counts[0]
	if mode == commerce.Test {
		c = &w.counts[1]
	}
	const minute = 60_000
	if begin := at - at%minute; c.Minute != begin {
		q.endMinute(c)
		c.Mode, c.Minute = mode, begin
	}
	c.Requests++
	switch {
	case status == 429:
		c.Limited++
	case status >= 500:
		c.Failed++
	case status >= 400:
		c.Refused++
	}
}

// endMinute moves a count to those that are written, unless they are too many.
func (q *queue) endMinute(c *Count) {
	if c.Requests > 0 && len(q.counts) < mostCounts {
		q.counts = append(q.counts, *c)
	}
	*c = Count{PartnerID: c.PartnerID}
}

// chunkFor returns the chunk for a row of a partner of so many bytes, with room for it; nil: there
// is no room.
func (q *queue) chunkFor(w *waiting, partnerID string, at commerce.Millis, size int) *chunk {
	if c := w.open; c != nil && (at > c.First+Span || at < c.Last-Span) {
		q.seal(w)
	}
	c := w.open
	if c == nil {
		c = &chunk{owner: w, Chunk: Chunk{PartnerID: partnerID}}
	}
	const header = 1 + binary.MaxVarintLen64
	if size, have := len(c.Rows)+header+size, cap(c.Rows); size > have && !q.grow(w, c, max(2*have, size, w.busy)) {
		return nil
	}
	if w.open == nil {
		q.begin(c, at)
	}
	return c
}

// grow gives a chunk room for so many bytes. It returns false if there is none.
func (q *queue) grow(w *waiting, c *chunk, size int) bool {
	have := cap(c.Rows)
	if more := size - have; q.bytes+more > queueRoom || w.bytes+more > partnerRoom {
		return false
	}
	rows := []byte(nil)
	if n := len(q.spare); n > 0 && size >= leastSpare && cap(q.spare[n-1]) >= size {
		rows, q.spare = q.spare[n-1], q.spare[:n-1]
	} else {
		rows = make([]byte, 0, size)
	}
	c.Rows = append(rows, c.Rows...)
	q.bytes += cap(c.Rows) - have
	w.bytes += cap(c.Rows) - have
	return true
}

// begin makes a chunk the open one of its partner.
func (q *queue) begin(c *chunk, at commerce.Millis) {
	q.chunks++
	c.First, c.Place = at, Place{Last: at, Writer: q.writer, Number: q.chunks}
	c.row = q.number
	c.Rows = binary.AppendUvarint(append(c.Rows, form), uint64(q.number))
	c.Lost, c.owner.lost = c.owner.lost, 0
	c.owner.open = c
}

// seal ends the open chunk of a partner.
func (q *queue) seal(w *waiting) {
	if w.open != nil {
		w.open.last = repeated{}
		q.sealed = append(q.sealed, w.open)
		w.open = nil
	}
}

// take takes all that waits.
func (q *queue) take() (chunks []*chunk, counts []Count, rows int) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for id, w := range q.partners {
		q.seal(w)
		if w.lost > 0 { // there was no room for a chunk that could tell
			q.chunks++
			q.sealed = append(q.sealed, &chunk{owner: w, Chunk: Chunk{PartnerID: id, First: w.lostAt, Place: Place{w.lostAt, q.writer, q.chunks}, Lost: w.lost}})
		}
		q.endMinute(&w.counts[0])
		q.endMinute(&w.counts[1])
	}
	chunks, counts, rows = q.sealed, q.counts, q.rows
	q.sealed, q.counts, q.rows = nil, nil, 0
	clear(q.partners)
	return chunks, counts, rows
}

// written frees the room of chunks.
func (q *queue) written(chunks []*chunk) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for _, c := range chunks {
		q.bytes -= cap(c.Rows)
		if size := cap(c.Rows); size >= leastSpare && size <= 2*chunkBytes && len(q.spare) < mostSpare {
			q.spare = append(q.spare, c.Rows[:0])
		}
		c.Rows = nil
	}
}
