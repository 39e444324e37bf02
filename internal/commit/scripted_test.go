package commit_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"purveyor/internal/commerce"
	"purveyor/internal/commit"
	"purveyor/internal/storage"
	"purveyor/internal/storage/schema"
)

// scripted is an engine in memory that keeps nothing. A test says what comes of
// each load, and how long it takes. Its tests run in a bubble of synctest, where
// time passes only while every goroutine waits.
type scripted struct {
	storage.Engine
	writers int // 0: one
	nodes   bool
	load    func(needs []commerce.Needs) error
	save    func() error
	saved   func(*commerce.Rows) error // if save is nil

	mu    sync.Mutex
	sizes []int // commands of each load
	stamp int64
}

func (e *scripted) Load(_ context.Context, needs ...commerce.Needs) (storage.Batch, error) {
	e.mu.Lock()
	e.sizes = append(e.sizes, len(needs))
	e.stamp++
	b := &scriptedBatch{e: e, stamp: e.stamp}
	e.mu.Unlock()
	if e.load != nil {
		if err := e.load(needs); err != nil {
			return nil, err
		}
	}
	for i := range needs {
		schema.Require(&b.rows, &needs[i])
	}
	return b, nil
}

func (e *scripted) Writers() storage.Writers {
	return storage.Writers{Batches: max(e.writers, 1), Nodes: e.nodes}
}

func (e *scripted) loads() []int {
	e.mu.Lock()
	defer e.mu.Unlock()
	return append([]int{}, e.sizes...)
}

type scriptedBatch struct {
	e     *scripted
	rows  commerce.Rows
	stamp int64
}

func (b *scriptedBatch) Rows() *commerce.Rows   { return &b.rows }
func (b *scriptedBatch) Stamp() commerce.Millis { return commerce.Millis(b.stamp) }
func (b *scriptedBatch) Discard()               {}
func (b *scriptedBatch) Save(context.Context) error {
	if b.e.save != nil {
		return b.e.save()
	}
	if b.e.saved != nil {
		return b.e.saved(&b.rows)
	}
	return nil
}

// touch changes one stock row.
type touch struct{ store, product string }

func (c touch) key() commerce.ProductKey {
	return commerce.ProductKey{StoreID: c.store, ProductID: c.product}
}

func (c touch) Needs() commerce.Needs { return commerce.Needs{Stock: []commerce.ProductKey{c.key()}} }

func (c touch) Decide(*commerce.Rows, commerce.Millis) (int, commerce.Changes, error) {
	return 1, commerce.Changes{Stock: []commerce.Stock{{StoreID: c.store, ProductID: c.product}}}, nil
}

func (touch) Access(*commerce.Rows) error { return nil }

// onceTouched is a touch with an idempotency key.
func onceTouched(store, key string) commit.Command[commit.Reply] {
	return commit.Once(commerce.ReplyKey{PartnerID: "ptn", Op: "touch", Key: key}, [32]byte{}, touch{store, "p"},
		func(int) (int, []byte) { return 201, nil })
}

// asked is a command under way.
type asked struct {
	err  error
	took time.Duration
	done chan struct{}
}

func ask[R any](c *commit.Committer, cmd commit.Command[R]) *asked {
	a, began := &asked{done: make(chan struct{})}, time.Now()
	go func() {
		_, a.err = commit.Do(context.Background(), c, cmd)
		a.took = time.Since(began)
		close(a.done)
	}()
	return a
}

func (a *asked) answered() bool {
	select {
	case <-a.done:
		return true
	default:
		return false
	}
}

// errNoAnswer is what wait returns for a command that is never answered.
var errNoAnswer = errors.New("no answer within an hour")

// wait returns the answer.
func (a *asked) wait() error {
	select {
	case <-a.done:
		return a.err
	case <-time.After(time.Hour): // of the bubble, which is no time
		return errNoAnswer
	}
}

// stop closes the committer, also when it keeps a command for ever.
func stop(c *commit.Committer) {
	c.Hurry()
	c.Close()
}

var errLocked = fmt.Errorf("%w: %w", storage.ErrUnavailable, storage.ErrLocked)

// lock stands for a session that keeps rows locked.
type lock struct {
	mu   sync.Mutex
	held map[commerce.ProductKey]bool
}

func (l *lock) set(held bool, keys ...commerce.ProductKey) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.held == nil {
		l.held = map[commerce.ProductKey]bool{}
	}
	for _, k := range keys {
		l.held[k] = held
	}
}

// wait is a load that gives up on a locked row, as the engine does.
func (l *lock) wait(needs []commerce.Needs) error {
	for _, n := range needs {
		for _, k := range n.Stock {
			l.mu.Lock()
			held := l.held[k]
			l.mu.Unlock()
			if held {
				time.Sleep(300 * time.Millisecond)
				return errLocked
			}
		}
	}
	time.Sleep(time.Millisecond)
	return nil
}

func expectNil(t *testing.T, what string, list ...*asked) {
	t.Helper()
	for _, a := range list {
		if err := a.wait(); err != nil {
			t.Errorf("%s: %v", what, err)
		}
	}
}

func expectWithin(t *testing.T, what string, most time.Duration, list ...*asked) {
	t.Helper()
	expectNil(t, what, list...)
	for _, a := range list {
		if a.took > most {
			t.Errorf("%s: answered after %v", what, a.took)
		}
	}
}

func expectIs(t *testing.T, err, want error) {
	t.Helper()
	if !errors.Is(err, want) {
		t.Errorf("%v, want %v", err, want)
	}
}
