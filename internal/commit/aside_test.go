package commit_test

import (
	"errors"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"purveyor/internal/commerce"
	"purveyor/internal/commit"
	"purveyor/internal/storage"
)

// TestLockedRow: while another session keeps a row of one store locked, commands
// of other stores are answered within a second each, also those that wait
// in one batch with a command that needs the row. Commands for other rows of the
// store are answered, too, and those that need the row are answered when it is free.
func TestLockedRow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var l lock
		locked := touch{"locked", "p"}
		c := commit.New(&scripted{load: l.wait}, commit.Options{})
		l.set(true, locked.key())
		var held, same, others []*asked
		held = append(held, ask(c, locked))
		for i := range 50 { // six seconds of them
			same = append(same, ask(c, touch{"locked", fmt.Sprint("q", i)}))
			others = append(others, ask(c, touch{"free", fmt.Sprint("p", i)}))
			if i%10 == 0 {
				held = append(held, ask(c, locked))
			}
			time.Sleep(120 * time.Millisecond)
		}
		synctest.Wait()
		for _, a := range held {
			if a.answered() {
				t.Fatalf("a command that needs the locked row was answered after %v: %v", a.took, a.err)
			}
		}
		l.set(false, locked.key())
		freed := time.Now()
		expectNil(t, "needs the row", held...)
		if took := time.Since(freed); took > 1500*time.Millisecond {
			t.Errorf("the commands that need the row were answered %v after it was free", took)
		}
		expectWithin(t, "of the same store", 4*time.Second, same...)
		expectWithin(t, "of another store", time.Second, others...)
		stop(c)
	})
}

// TestLockedRowInABatch: the neighbours of a command in its batch take place
// although the row that it needs stays locked.
func TestLockedRowInABatch(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var l lock
		locked := touch{"locked", "p"}
		l.set(true, locked.key())
		c := commit.New(&scripted{load: func(needs []commerce.Needs) error {
			if len(needs[0].Stock) == 0 { // the idle command, behind which the others gather
				time.Sleep(time.Second)
			}
			return l.wait(needs)
		}}, commit.Options{})
		ask(c, idle{})
		synctest.Wait()
		held := ask(c, locked)
		var others []*asked
		for i := range 20 {
			others = append(others, ask(c, touch{"free", fmt.Sprint("p", i)}))
		}
		expectNil(t, "a neighbour", others...)
		expectIs(t, held.wait(), storage.ErrLocked)
		stop(c)
	})
}

// TestLockedRowsOfAStore: the session keeps all rows of a store locked.
func TestLockedRowsOfAStore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var l lock
		c := commit.New(&scripted{load: l.wait}, commit.Options{})
		var held, others []*asked
		for i := range 30 {
			cmd := touch{"locked", fmt.Sprint("p", i)}
			l.set(true, cmd.key())
			held = append(held, ask(c, cmd))
			others = append(others, ask(c, touch{"free", fmt.Sprint("p", i)}))
			time.Sleep(100 * time.Millisecond)
		}
		expectWithin(t, "of another store", time.Second, others...)
		l.mu.Lock()
		clear(l.held)
		l.mu.Unlock()
		expectNil(t, "needs a locked row", held...)
		stop(c)
	})
}

// TestLockedTable: another session keeps a whole table locked. Commands of many
// stores are refused while their callers still wait for an answer.
func TestLockedTable(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := commit.New(&scripted{load: func(needs []commerce.Needs) error {
			if len(needs[0].Stock) == 0 { // the idle command, behind which the others gather
				time.Sleep(time.Second)
				return nil
			}
			time.Sleep(300 * time.Millisecond)
			return errLocked
		}}, commit.Options{})
		ask(c, idle{})
		synctest.Wait()
		var list []*asked
		waited := 0
		for i := range 200 {
			list = append(list, ask(c, touch{fmt.Sprint("store ", i), "p"}))
		}
		for _, a := range list {
			expectIs(t, a.wait(), storage.ErrLocked)
			if a.took > 20*time.Second {
				t.Fatalf("answered after %v", a.took)
			}
			if a.took > 8*time.Second {
				waited++
			}
		}
		if waited != 16 {
			t.Errorf("%d commands met the lock, want 16", waited)
		}
		c.Close()
	})
}

// TestLockThatStays: a command waits for a row for some seconds, not for ever, and
// is told that nothing was saved. So are those that came after it, and the stop
// of the process does not wait for the lock.
func TestLockThatStays(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var l lock
		locked := touch{"locked", "p"}
		l.set(true, locked.key())
		c := commit.New(&scripted{load: l.wait}, commit.Options{})
		first := ask(c, locked)
		time.Sleep(5 * time.Second)
		second := ask(c, locked)
		for _, a := range []*asked{first, second} {
			expectIs(t, a.wait(), storage.ErrUnavailable)
			if a.took < 5*time.Second || a.took > 15*time.Second {
				t.Errorf("answered after %v", a.took)
			}
		}
		third := ask(c, locked)
		synctest.Wait()
		time.Sleep(time.Second)
		stop(c)
		expectIs(t, third.wait(), commit.ErrClosed)
	})
}

// TestGroupsAfterALock: commands that waited for a row share batches again when it
// is free, also while another row stays locked.
func TestGroupsAfterALock(t *testing.T) {
	for _, anotherStays := range []bool{false, true} {
		t.Run(fmt.Sprint("another row stays locked: ", anotherStays), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { groupsAfterALock(t, anotherStays) })
		})
	}
}

func groupsAfterALock(t *testing.T, anotherStays bool) {
	var l lock
	free, stays := touch{"freed", "p"}, touch{"locked", "p"}
	l.set(true, free.key(), stays.key())
	e := &scripted{load: l.wait}
	c := commit.New(e, commit.Options{})
	over := make(chan struct{})
	go func() { // there is always a command that needs the locked row
		for anotherStays {
			select {
			case <-over:
				return
			case <-time.After(time.Second):
				ask(c, stays)
			}
		}
	}()
	ask(c, free)
	time.Sleep(2 * time.Second)
	l.set(false, free.key())
	began, callers := time.Now(), sync.WaitGroup{}
	for i := range 20 { // each calls again as soon as it is answered
		callers.Go(func() {
			for range 1000 {
				if err := ask(c, touch{"freed", fmt.Sprint("p", i)}).wait(); err != nil {
					t.Error(err)
				}
			}
		})
	}
	callers.Wait()
	close(over)
	if took := time.Since(began); took > 6*time.Second { // alone they take 20 s and more
		t.Errorf("20,000 commands of 20 callers took %v in %d batches", took, len(e.loads()))
	}
	stop(c)
}

// TestSlowStatement: a statement that the server cuts off fails its own command.
// Where every command is that slow, they are not all tried.
func TestSlowStatement(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		allSlow := false
		e := &scripted{load: func(needs []commerce.Needs) error {
			for _, n := range needs {
				if len(n.Stock) == 0 { // the idle command, behind which the others gather
					time.Sleep(time.Second)
				} else if allSlow || n.Stock[0].StoreID == "slow" {
					time.Sleep(6 * time.Second)
					return fmt.Errorf("%w: %w", storage.ErrUnavailable, storage.ErrTimeout)
				}
			}
			return nil
		}}
		c := commit.New(e, commit.Options{})
		together := func() (bad *asked, good []*asked) {
			ask(c, idle{})
			synctest.Wait()
			bad = ask(c, touch{"slow", "p"})
			for i := range 20 {
				good = append(good, ask(c, touch{fmt.Sprint("store ", i), "p"}))
			}
			return bad, good
		}
		bad, good := together()
		expectIs(t, bad.wait(), storage.ErrUnavailable)
		expectNil(t, "a neighbour", good...)

		allSlow = true
		before := len(e.loads())
		bad, good = together()
		for _, a := range append(good, bad) {
			expectIs(t, a.wait(), storage.ErrUnavailable)
		}
		if tries := e.loads()[before:]; len(tries) > 5 || tries[1] != 21 {
			t.Errorf("batches of %v, want the idle one, all together, and no more than three alone", tries)
		}
		stop(c)
	})
}

// TestLockThatOutlastsALine: commands that stood in line behind a locked row, and were never tried
// themselves, are told of the lock, too.
func TestLockThatOutlastsALine(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var l lock
		locked := touch{"locked", "p"}
		l.set(true, locked.key())
		c := commit.New(&scripted{load: l.wait}, commit.Options{})
		ask(c, locked)
		time.Sleep(400 * time.Millisecond) // it has met the lock
		var list []*asked
		for range 20 {
			list = append(list, ask(c, locked))
		}
		for _, a := range list {
			expectIs(t, a.wait(), storage.ErrLocked)
		}
		stop(c)
	})
}

// TestBatchThatIsRefused: if a batch fails for another reason than a lock or the time it takes,
// each of its commands is tried, however long that takes. A database that is away is not asked again.
func TestBatchThatIsRefused(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		failure := errors.New("refused")
		e := &scripted{load: func(needs []commerce.Needs) error {
			time.Sleep(time.Second)
			if len(needs) > 1 || errors.Is(failure, storage.ErrUnavailable) {
				return failure
			}
			return nil
		}}
		c := commit.New(e, commit.Options{})
		defer c.Close()
		together := func() (calls []*asked) {
			ask(c, idle{}) // the others gather behind it
			synctest.Wait()
			for i := range 20 {
				calls = append(calls, ask(c, touch{"s", fmt.Sprint(i)}))
			}
			return calls
		}
		expectNil(t, "tried alone", together()...)
		failure = storage.ErrUnavailable
		before := len(e.loads())
		for _, a := range together() {
			expectIs(t, a.wait(), storage.ErrUnavailable)
		}
		if tries := e.loads()[before:]; len(tries) != 2 {
			t.Errorf("batches of %v, want the idle one and all together", tries)
		}
	})
}
