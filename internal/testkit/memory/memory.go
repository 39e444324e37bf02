// Package memory is a storage engine that keeps its rows in maps. Tests that run
// a whole service by a simulated clock use it, because its calls depend on nothing
// but their arguments. It passes the conformance suite, but for what needs
// a disk: nothing outlives its Database, and it copies nothing.
package memory

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"purveyor/internal/commerce"
	"purveyor/internal/env"
	"purveyor/internal/storage"
	"purveyor/internal/storage/schema"
)

// Database is what engines, as those of several processes, share.
type Database struct {
	writer chan struct{} // has an element while no batch is open

	mu          sync.Mutex // guards what follows; it is never held while a caller waits
	tables      tables
	stamp       int64
	nextStoreNo int64
	windows     map[commerce.RateWindow]int64
	stored      map[storedIn]int64
	kept        schema.ReplyBytes // the sums of stored
	listed      struct {          // how the partners were read last, and after how many writes
		partners []commerce.Partner
		writes   int64
	}
	looked struct { // from when to when no job is due, after so many writes
		from, till commerce.Millis
		writes     int64
	}
}

type storedIn struct {
	partnerID string
	hour      int64
}

// New makes an empty database.
func New() *Database {
	d := &Database{writer: make(chan struct{}, 1), tables: newTables(), nextStoreNo: 1,
		windows: map[commerce.RateWindow]int64{}, stored: map[storedIn]int64{}, kept: schema.ReplyBytes{}}
	d.writer <- struct{}{}
	return d
}

// Open gives an engine of one process, which waits by e. now stamps its batches.
func (d *Database) Open(e env.Env, now func() time.Time) *Engine {
	return &Engine{Database: d, env: e, now: now}
}

// Engine implements storage.Engine.
type Engine struct {
	*Database
	env     env.Env
	now     func() time.Time
	replies schema.ReplyCount
}

// take waits for the turn to write, which lasts until give.
func (e *Engine) take(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	return e.env.AwaitIn(ctx, e.writer)
}

func (e *Engine) give() { e.writer <- struct{}{} }

// write runs f as a transaction of its own.
func (e *Engine) write(ctx context.Context, f func()) error {
	if err := e.take(ctx); err != nil {
		return err
	}
	defer e.give()
	e.mu.Lock()
	defer e.mu.Unlock()
	f()
	return nil
}

// Writers implements storage.Engine.
func (e *Engine) Writers() storage.Writers { return storage.Writers{Batches: 1} }

// Load implements storage.Engine. There is one writer at a time.
func (e *Engine) Load(ctx context.Context, needs ...commerce.Needs) (storage.Batch, error) {
	if err := e.take(ctx); err != nil {
		return nil, err
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	b := &batch{e: e, stamp: max(e.stamp+1, e.now().UnixMilli())}
	for i := range needs {
		schema.Require(&b.rows, &needs[i])
	}
	e.tables.load(&b.rows)
	if b.rows.NextStoreNo == commerce.NeedStoreNo {
		b.rows.NextStoreNo = e.nextStoreNo
	}
	return b, nil
}

type batch struct {
	e     *Engine
	rows  commerce.Rows
	stamp int64
	over  bool
}

func (b *batch) Rows() *commerce.Rows   { return &b.rows }
func (b *batch) Stamp() commerce.Millis { return commerce.Millis(b.stamp) }

// Discard implements storage.Batch.
func (b *batch) Discard() {
	if !b.over {
		b.over = true
		b.e.give()
	}
}

// Save implements storage.Batch. It changes nothing before it knows that nothing
// is refused.
func (b *batch) Save(context.Context) error {
	defer b.Discard()
	e, r := b.e, &b.rows
	e.mu.Lock()
	defer e.mu.Unlock()
	if err := e.tables.save(r); err != nil {
		return err
	}
	e.replies.Add(packed(&r.Replies))
	e.stamp, e.nextStoreNo = b.stamp, max(e.nextStoreNo, r.NextStoreNo)
	return nil
}

// packed is how many bytes replies take as engines store them. The rows stay as
// they are.
func packed(rows *commerce.Table[commerce.ReplyKey, commerce.Reply]) schema.ReplyBytes {
	var bodies [][]byte
	for i := range rows.Changed() {
		if _, v, _ := rows.Change(i); v != nil {
			bodies = append(bodies, v.Body)
		}
	}
	bytes := schema.PackReplies(rows)
	for i := range rows.Changed() {
		if _, v, _ := rows.Change(i); v != nil {
			v.Body, bodies = bodies[0], bodies[1:]
		}
	}
	return bytes
}

// refusal is the error of a batch that breaks a constraint.
func refusal(what string, row any) error {
	return fmt.Errorf("the row %+v breaks a constraint: %s", row, what)
}

// Snapshot and Fill are for copies, which this engine does not make.
func (e *Engine) Snapshot(context.Context, func(schema.Snapshot) error) error {
	return errors.ErrUnsupported
}

// Fill implements storage.Engine.
func (e *Engine) Fill(context.Context, func(schema.Filling) error) error {
	return errors.ErrUnsupported
}

// Writable implements storage.Engine.
func (e *Engine) Writable(ctx context.Context) error { return e.write(ctx, func() {}) }

// Reader implements storage.Engine.
func (e *Engine) Reader() storage.Reader { return reader{e.Database} }

// Close implements storage.Engine.
func (e *Engine) Close() error { return nil }

// GrantQuota implements storage.Engine.
func (e *Engine) GrantQuota(_ context.Context, w commerce.RateWindow, limit, want int64) (granted, used int64, err error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	used = e.windows[w]
	if used >= limit {
		return 0, limit, nil
	}
	granted = min(want, limit-used)
	e.windows[w] = used + granted
	if used == 0 { // it opens the window
		for o := range e.windows {
			if o.PartnerID == w.PartnerID && o.Mode == w.Mode && o.Minute < w.Minute-storage.WindowsKept {
				delete(e.windows, o)
			}
		}
	}
	return granted, used + granted, nil
}

// CountReplies implements storage.Engine.
func (e *Engine) CountReplies(ctx context.Context, now commerce.Millis) (schema.ReplyBytes, error) {
	all := schema.ReplyBytes{}
	err := e.write(ctx, func() {
		for partner, n := range e.replies.Take() {
			e.stored[storedIn{partner, schema.HourOf(now)}] += n
			e.kept[partner] += n
		}
		maps.Copy(all, e.kept)
	})
	return all, err
}

// ClaimJobs implements storage.Engine.
func (e *Engine) ClaimJobs(ctx context.Context, c storage.JobClaim) (list []commerce.Job, err error) {
	e.mu.Lock()
	nothing := len(e.due(c)) == 0
	e.mu.Unlock()
	if nothing {
		return nil, ctx.Err()
	}
	err = e.write(ctx, func() {
		jobs := e.tables[schema.Jobs.Name]
		list = sorted(jobs, e.due(c), c.Limit, byRunAt)
		for i, j := range list {
			list[i] = j.LeasedTo(c.Worker, c.Until)
			put(jobs, j.Key(), stored(clone(jobs.plan, &list[i])))
		}
	})
	return list, err
}

// due are the jobs that a claim may take.
func (e *Engine) due(c storage.JobClaim) (due []*row) {
	for _, r := range e.tables[schema.Jobs.Name].groups[c.Slot] {
		j := r.value.(*commerce.Job)
		if j.Due(c.Now) && !j.Leased(c.Now) && (c.Ahead || j.RunAt <= c.Now) &&
			slices.Contains(c.Classes, j.Lane().JobClass) && !slices.Contains(c.Except, j.Lane()) {
			due = append(due, r)
		}
	}
	return due
}

// ReleaseParked implements storage.Engine.
func (e *Engine) ReleaseParked(ctx context.Context, owner string, limit int) (n int, err error) {
	err = e.write(ctx, func() {
		jobs := e.tables[schema.Jobs.Name]
		for _, j := range selected(jobs, limit, func(j *commerce.Job) bool { return j.State == commerce.JobParked && j.Owner == owner }, byRunAt) {
			j.State = commerce.JobWaiting
			put(jobs, j.Key(), &j)
			n++
		}
	})
	return n, err
}

// Orders are all that there are, in the order of their ids.
func (d *Database) Orders() []commerce.Order {
	all, _ := list(reader{d}, &schema.Orders, -1, func(*commerce.Order) bool { return true },
		func(a, b *commerce.Order) int { return cmp.Compare(a.ID, b.ID) })
	return all
}

// OpenReplies are the stored replies whose answer is not decided yet.
func (d *Database) OpenReplies() []commerce.Reply {
	open, _ := list(reader{d}, &schema.Replies, -1, func(r *commerce.Reply) bool { return r.Open() },
		func(a, b *commerce.Reply) int { return cmp.Compare(a.Key, b.Key) })
	return open
}

// SandboxObjects are all that there are, in the order of their ids.
func (d *Database) SandboxObjects() []commerce.SandboxObject {
	all, _ := list(reader{d}, &schema.SandboxObjects, -1, func(*commerce.SandboxObject) bool { return true },
		func(a, b *commerce.SandboxObject) int { return cmp.Compare(a.ID, b.ID) })
	return all
}
