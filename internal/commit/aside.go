package commit

import (
	"log/slog"
	"slices"
	"time"

	"purveyor/internal/storage/schema"
)

const (
	// lockPatience is how long a call waits for a locked row. It is above the time
	// after which PostgreSQL ends the transaction of a process that has stopped.
	lockPatience = 8 * time.Second
	// lockPause is the time between two tries that may meet a lock. Each such try
	// keeps all other calls waiting until the engine gives up on the lock.
	lockPause = time.Second
)

// aside holds the calls that met a row locked by another session, and the later calls that
// may need the same row. All other calls go on meanwhile.
type aside struct {
	calls []waiting
	// When the next call may be tried: of the calls that met a lock, and of the calls
	// that follow one of those.
	locked, followers time.Time
}

type waiting struct {
	*call
	owners []string // of the rows that it may change, if it was tried
	until  time.Time
	err    error
	tried  bool // alone, and it met the lock; else it follows a call that did
}

// add sets a call aside that met a lock when it was tried alone.
func (a *aside) add(p *call, err error, now time.Time) {
	a.calls = append(a.calls, waiting{p, ownersOf(p), now.Add(lockPatience), err, true})
	a.locked = now.Add(lockPause)
}

// locks is the number of calls that met a lock themselves.
func (a *aside) locks() (n int) {
	for _, w := range a.calls {
		if w.tried {
			n++
		}
	}
	return n
}

// next returns the index of the call to try next, and the time for it; -1 if no call is
// aside.
func (a *aside) next() (i int, at time.Time) {
	i = -1
	for n, w := range a.calls {
		t := a.followers
		if w.tried {
			t = a.locked
		}
		if i < 0 || t.Before(at) {
			i, at = n, t
		}
	}
	return i, at
}

// screen sets the calls of a batch aside that share an owner with a call that met
// a lock, and returns the other calls.
func (l *loop) screen(batch []*call) (others []*call) {
	a := &l.aside
	if a.locks() == 0 {
		return batch
	}
	for _, p := range batch {
		owners := ownersOf(p)
		i := slices.IndexFunc(a.calls, func(w waiting) bool {
			return slices.ContainsFunc(w.owners, func(o string) bool { return slices.Contains(owners, o) })
		})
		if i < 0 {
			others = append(others, p)
			continue
		}
		a.calls = append(a.calls, waiting{call: p, until: l.env.Now().Add(lockPatience), err: a.calls[i].err})
	}
	return others
}

// tryAside answers the calls that have waited for lockPatience, then tries one of
// the others alone. If that call meets a lock, it goes to the end of the line. If
// no call is left that met a lock, the others become a batch again.
func (l *loop) tryAside() {
	a, now := &l.aside, l.env.Now()
	calls := a.calls
	a.calls = nil
	for _, w := range calls {
		switch {
		case l.hurried.Load():
			w.answer(ErrClosed)
		case now.After(w.until):
			slog.Error("a command was not saved", "error", w.err)
			w.answer(w.err)
		default:
			a.calls = append(a.calls, w)
		}
	}
	if a.locks() == 0 {
		l.rejoin()
		return
	}
	i, _ := a.next()
	w := a.calls[i]
	a.calls = slices.Delete(a.calls, i, i+1)
	before := len(a.calls)
	l.attempt([]*call{w.call})
	if len(a.calls) > before { // it met a lock
		a.calls[before].until = w.until
		if !w.tried {
			a.followers = a.locked
		}
		return
	}
	a.followers = now
}

// rejoin commits the calls that are aside, in batches.
func (l *loop) rejoin() {
	calls := l.aside.calls
	l.aside.calls = nil
	for part := range slices.Chunk(calls, l.maxBatch) {
		batch := make([]*call, len(part))
		for i, w := range part {
			batch[i] = w.call
		}
		l.commit(batch)
	}
}

// ownersOf are the owners of the rows that a call may change.
func ownersOf(p *call) []string {
	return schema.Owners(&p.needs)
}
