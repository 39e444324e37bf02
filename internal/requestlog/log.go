package requestlog

import (
	"context"
	"encoding/binary"
	"hash/fnv"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"purveyor/internal/commerce"
	"purveyor/internal/env"
)

const (
	// flushPause is how long rows wait for others to be written with them.
	flushPause = 200 * time.Millisecond
	// retryPause is the time until the next try after the store has failed.
	retryPause = time.Second
	// writeTime bounds one write.
	writeTime = 10 * time.Second
	// lastWrite bounds the write at the stop.
	lastWrite = time.Second
	// carePause is the time between two looks at the days and the size of the store, and between
	// two warnings in the log.
	carePause = time.Minute
	// mostIndexed is the most rows of a write that are indexed. Beyond, an index would cost
	// requests too much.
	mostIndexed = 512
	// KeptDays is how many days are kept beside the current one.
	KeptDays = 28
)

// Log is the log of requests. It is safe for concurrent use.
type Log struct {
	env   env.Env
	store Store
	now   func() time.Time
	most  int64 // bytes of the store
	queue *queue
	wake  chan struct{} // something waits
	full  atomic.Bool   // the store has its most bytes in the tables of one day

	writing sync.Mutex // held by the writer
	taken   batch      // what the last write could not write
	began   time.Time  // since when something waits; zero: nothing does
	cared   time.Time  // when the days were last looked at
	told    int64      // of the dropped rows, those that the log was told of
	failing bool
}

// batch is what is written at once.
type batch struct {
	chunks []*chunk
	counts []Count
}

// Options of a log; each zero value is a default.
type Options struct {
	Now  func() time.Time // that of the environment
	Most int64            // bytes of the store; no bound
}

// New makes a log that writes to a store once Run runs.
func New(e env.Env, store Store, o Options) *Log {
	if o.Now == nil {
		o.Now = e.Now
	}
	var b [8]byte
	e.Read(b[2:])
	return &Log{env: e, store: store, now: o.Now, most: o.Most, queue: newQueue(Writer(binary.BigEndian.Uint64(b[:]))), wake: make(chan struct{}, 1)}
}

// Add adds a call to the log. It does not wait, and keeps nothing of the call.
func (l *Log) Add(c *Call) {
	if l.full.Load() {
		l.lose(c)
		return
	}
	r := spareRows.Get().(*row)
	r.encode(c)
	if l.queue.add(c, r) {
		l.wakeUp()
	}
	spareRows.Put(r)
}

// spareRows are rows whose buffers are used again.
var spareRows = sync.Pool{New: func() any { return new(row) }}

// Count counts a call that is not logged.
func (l *Log) Count(c *Call) {
	if l.queue.countOnly(c, 0) {
		l.wakeUp()
	}
}

// lose counts a call that there is no room for.
func (l *Log) lose(c *Call) {
	if l.queue.countOnly(c, 1) {
		l.wakeUp()
	}
}

func (l *Log) wakeUp() {
	select {
	case l.wake <- struct{}{}:
	default:
	}
}

// Rows returns how many rows were taken and how many were dropped since the log was made.
func (l *Log) Rows() (kept, dropped int64) {
	l.queue.mu.Lock()
	defer l.queue.mu.Unlock()
	return l.queue.kept, l.queue.lost
}

// Run writes what waits until ctx ends, and then a last time.
func (l *Log) Run(ctx context.Context) {
	l.env.Drive(func() env.Next { return l.step(ctx) }, l.wake, ctx.Done())
}

// step does what is to be done now.
func (l *Log) step(ctx context.Context) env.Next {
	if ctx.Err() != nil {
		last, cancel := l.env.WithTimeout(context.WithoutCancel(ctx), lastWrite)
		defer cancel()
		_ = l.Flush(last) // what it cannot write is lost with the process
		return env.Ended
	}
	now := l.env.Now()
	if now.Sub(l.cared) >= carePause {
		l.cared = now
		l.care(ctx)
	}
	if !l.waits() {
		l.began = time.Time{}
		return env.Next(carePause)
	}
	if l.began.IsZero() {
		l.began = now
	}
	if wait := flushPause - now.Sub(l.began); wait > 0 && wait <= flushPause {
		return env.Next(wait)
	}
	l.began = time.Time{}
	if err := l.Flush(ctx); err != nil && ctx.Err() == nil {
		if !l.failing {
			slog.Warn("the log of requests cannot be written; rows wait, and are dropped when there are too many", "error", err)
		}
		l.failing = true
		return env.Next(retryPause)
	}
	l.failing = false
	return env.AtOnce
}

func (l *Log) waits() bool {
	l.writing.Lock()
	defer l.writing.Unlock()
	if len(l.taken.chunks)+len(l.taken.counts) > 0 {
		return true
	}
	l.queue.mu.Lock()
	defer l.queue.mu.Unlock()
	return !l.queue.idle()
}

// Flush writes all that was added before.
func (l *Log) Flush(ctx context.Context) error {
	l.writing.Lock()
	defer l.writing.Unlock()
	if err := l.write(ctx); err != nil { // what the last write could not write
		return err
	}
	var rows int
	l.taken.chunks, l.taken.counts, rows = l.queue.take()
	if rows <= mostIndexed {
		l.taken.index()
	}
	return l.write(ctx)
}

// write writes the batch that was taken, day by day.
func (l *Log) write(ctx context.Context) error {
	ctx, cancel := l.env.WithTimeout(ctx, writeTime)
	defer cancel()
	for len(l.taken.chunks)+len(l.taken.counts) > 0 {
		day, chunks, counts, rest := l.taken.firstDay()
		list := make([]Chunk, len(chunks))
		for i, c := range chunks {
			list[i] = c.Chunk
		}
		if err := l.store.Write(ctx, day, list, counts); err != nil {
			return err
		}
		l.queue.written(chunks)
		l.taken = rest
	}
	return nil
}

// firstDay divides a batch into the part of one day and the rest.
func (b batch) firstDay() (day Day, chunks []*chunk, counts []Count, rest batch) {
	if len(b.chunks) > 0 {
		day = DayOf(b.chunks[0].Last)
	} else {
		day = DayOf(b.counts[0].Minute)
	}
	for _, c := range b.chunks {
		if DayOf(c.Last) == day {
			chunks = append(chunks, c)
		} else {
			rest.chunks = append(rest.chunks, c)
		}
	}
	for _, c := range b.counts {
		if DayOf(c.Minute) == day {
			counts = append(counts, c)
		} else {
			rest.counts = append(rest.counts, c)
		}
	}
	return day, chunks, counts, rest
}

// index has all chunks of a batch found by the trace ids and orders of their rows.
func (b batch) index() {
	for _, c := range b.chunks {
		seen := map[int64]bool{}
		err := c.rows(func(r *stored) {
			for _, ref := range []int64{refOf(c.PartnerID, "trace", r.TraceID), refOf(c.PartnerID, "order", r.OrderID)} {
				if ref != 0 && !seen[ref] {
					seen[ref] = true
					c.Refs = append(c.Refs, ref)
				}
			}
		})
		c.Indexed = err == nil
	}
}

// refOf is the digest of a trace id or an order; 0: there is none.
func refOf(partnerID, kind, value string) int64 {
	if value == "" {
		return 0
	}
	h := fnv.New64a()
	for _, part := range []string{partnerID, kind, value} {
		_, _ = h.Write([]byte(part + "\x00")) // never fails
	}
	return int64(h.Sum64() | 1)
}

// care keeps the store tidy, and warns of rows that were dropped.
func (l *Log) care(ctx context.Context) {
	if _, lost := l.Rows(); lost > l.told {
		slog.Warn("the log of requests had no room for some", "dropped", lost-l.told)
		l.told = lost
	}
	if err := l.Tidy(ctx); err != nil && ctx.Err() == nil {
		slog.Warn("old days of the log of requests were not dropped", "error", err)
	}
}

// Tidy drops days that are over their time, or beyond the size of the store.
func (l *Log) Tidy(ctx context.Context) error {
	ctx, cancel := l.env.WithTimeout(ctx, writeTime)
	defer cancel()
	days, err := l.store.Days(ctx)
	oldest := DayOf(commerce.MillisOf(l.now().AddDate(0, 0, -KeptDays)))
	for len(days) > 0 && err == nil && days[0] < oldest {
		err = l.store.Drop(ctx, days[0])
		days = days[1:]
	}
	for l.most > 0 && err == nil {
		var size int64
		size, err = l.store.Size(ctx)
		l.full.Store(err == nil && size > l.most && len(days) <= 1)
		if err != nil || size <= l.most || len(days) <= 1 {
			break
		}
		slog.Warn("the log of requests is full, so its oldest day is dropped early", "day", int(days[0]), "bytes", size)
		err = l.store.Drop(ctx, days[0])
		days = days[1:]
	}
	return err
}

// Close closes the store. Run must have ended.
func (l *Log) Close() error { return l.store.Close() }
