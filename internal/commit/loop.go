package commit

import (
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"log/slog"
	"runtime/debug"
	"sync/atomic"

	"purveyor/internal/commerce"
	"purveyor/internal/env"
	"purveyor/internal/storage"
	"purveyor/internal/storage/schema"
)

// loop commits one batch after another. It is a step machine: Step commits one batch.
// The batch and the calls aside belong to the goroutine that calls Step.
type loop struct {
	*Committer
	queue chan *call
	woken chan struct{} // has an element when the queue may have got one
	batch []*call       // the memory of the batch under way
	aside aside
	away  away
	slots slots
	deeds []commerce.Deed // the memory of what the batch under way does
}

// loopOf chooses the loop of a command. Commands that change the same product go to the same
// loop if many do, so that loops do not wait for each other's locks. So do commands
// about the same order, or about the same partner alone, and in a cluster all of a store.
func (c *Committer) loopOf(p *call) *loop {
	n := uint32(len(c.loops))
	if n == 1 {
		return c.loops[0]
	}
	rows := contended(&p.needs, c.nodes)
	if len(rows) == 0 {
		return c.loops[c.next.Add(1)%n]
	}
	return c.loops[c.heat.hottest(rows)%n]
}

// contended returns the hashes of the rows for which the command may have to wait: its
// products, or else its orders, or else its endpoints. Other rows are changed rarely. With
// ofStores, products and orders count as their stores.
func contended(n *commerce.Needs, ofStores bool) (rows []uint32) {
	add := func(owner, row string) {
		h := fnv.New32a()
		_, _ = h.Write([]byte(owner)) // never fails
		if !ofStores {
			_, _ = h.Write([]byte(row))
		}
		rows = append(rows, h.Sum32())
	}
	for _, k := range n.Stock {
		add(k.StoreID, k.ProductID)
	}
	for i := 0; i < len(n.Orders) && len(n.Stock) == 0; i++ {
		add(n.Orders[i].StoreID, n.Orders[i].OrderID)
	}
	for i := 0; i < len(n.Endpoints) && len(rows) == 0; i++ {
		add(n.Endpoints[i], "")
	}
	return rows
}

// heat counts how often commands change a row, by the hash of its key. Rows with the
// same hash count as one.
type heat struct {
	counts [4096]atomic.Uint32
	total  atomic.Uint32
}

// cooling is how many counted changes it takes until all counts are halved.
const cooling = 1 << 15

// hottest counts one change of each row, and returns the hash of the row that changes most
// often; of equal ones the first.
func (h *heat) hottest(rows []uint32) (hash uint32) {
	most := uint32(0)
	for _, row := range rows {
		if n := h.counts[row%uint32(len(h.counts))].Add(1); n > most {
			most, hash = n, row
		}
	}
	if h.total.Add(uint32(len(rows)))%cooling < uint32(len(rows)) {
		for i := range h.counts {
			h.counts[i].Store(h.counts[i].Load() / 2)
		}
	}
	return hash
}

// wake makes the driver call Step.
func (l *loop) wake() {
	select {
	case l.woken <- struct{}{}:
	default: // it will anyway
	}
}

// Step commits the commands that wait, as one batch, and tries one of those that
// were set aside if it is time. It ends when the committer is closed and every
// admitted command is answered.
func (l *loop) Step() env.Next {
	batch, open := l.takeWaiting()
	l.commit(batch)
	clear(batch)
	if i, at := l.aside.next(); i >= 0 && !l.env.Now().Before(at) {
		l.tryAside()
	}
	if len(batch) == l.maxBatch || len(l.queue) > 0 {
		return env.AtOnce
	}
	if i, at := l.aside.next(); i >= 0 {
		return env.Next(max(l.env.Until(at), 0))
	}
	if !open {
		return env.Ended
	}
	return env.OnSignal
}

// takeWaiting takes the calls that wait, as many as a batch has room for. open is
// false when the queue is closed and empty.
func (l *loop) takeWaiting() (batch []*call, open bool) {
	batch = l.batch[:0]
	for len(batch) < l.maxBatch {
		select {
		case p, open := <-l.queue:
			if !open {
				return batch, false
			}
			batch = append(batch, p)
		default:
			return batch, true
		}
	}
	return batch, true
}

// commit answers every call of the batch, except the calls that it sets aside.
func (l *loop) commit(batch []*call) {
	if l.hurried.Load() {
		answerAll(batch, ErrClosed)
		return
	}
	others, suspects := l.present(l.screen(batch))
	if len(others) > 0 {
		l.attempt(others)
	}
	l.probe(suspects)
}

// attempt runs a batch. If the batch fails as a whole, its commands are tried one
// by one, so that a bad command does not fail its neighbours. It reports whether the
// whole batch was saved.
func (l *loop) attempt(batch []*call) (saved bool) {
	errs, err := l.tries(batch)
	ofAll := errors.Is(err, storage.ErrUnavailable) && !errors.Is(err, storage.ErrLocked) && !errors.Is(err, storage.ErrTimeout)
	switch {
	case err == nil:
		for i, p := range batch {
			p.answer(errs[i])
		}
	case errors.Is(err, storage.ErrOutcomeUnknown):
		slog.Error("the outcome of a batch is unknown", "commands", len(batch), "error", err)
		l.findOutcomes(batch, err)
	case errors.Is(err, storage.ErrNode):
		slog.Error("a batch was not saved, because a node is away", "commands", len(batch), "error", err)
		l.apart(batch, err)
	case len(batch) == 1 && errors.Is(err, storage.ErrLocked):
		slog.Warn("a command waits for a row that another session keeps locked", "error", err)
		l.aside.add(batch[0], err, l.env.Now())
	case len(batch) == 1 || ofAll:
		slog.Error("a batch was not saved", "commands", len(batch), "error", err)
		answerAll(batch, err)
	default:
		slog.Error("a batch was not saved; its commands are tried alone", "commands", len(batch), "error", err)
		l.oneByOne(batch, err)
	}
	return err == nil
}

// oneByOne tries the commands of a failed batch. It gives up on the rest when the
// server times out for lockPatience, or when maxLocks commands have met a locked
// row (another session may keep whole tables locked).
func (l *loop) oneByOne(batch []*call, err error) {
	until, most := l.env.Now().Add(lockPatience), l.aside.locks()+maxLocks
	for _, p := range batch {
		if errors.Is(err, storage.ErrTimeout) && l.env.Now().After(until) || l.aside.locks() >= most {
			p.answer(err)
			continue
		}
		l.commit([]*call{p})
	}
}

// findOutcomes finds out whether the commands of a batch are saved after all. It runs
// each command that has a reply record again: the command finds its record and
// returns the stored answer, or finds none and takes place now. The outcome of
// other commands stays unknown. For all commands together, it waits up to outcomePatience for
// a database that restarts or fails over, but not for a node, whose return may take long.
func (l *loop) findOutcomes(batch []*call, unknown error) {
	deadline := l.env.Now().Add(outcomePatience)
	for _, p := range batch {
		if !p.keyed {
			p.answer(unknown)
			continue
		}
		errs, err := l.tries([]*call{p})
		for errors.Is(err, storage.ErrUnavailable) && !errors.Is(err, storage.ErrNode) && !l.hurried.Load() && l.env.Now().Before(deadline) {
			l.env.Wait(outcomePause)
			errs, err = l.tries([]*call{p})
		}
		if errors.Is(err, storage.ErrNode) {
			l.away.add(nodesOf(p), err, l.env.Now())
		}
		if err != nil {
			p.answer(errors.Join(unknown, err))
			continue
		}
		p.answer(errs[0])
	}
}

func answerAll(batch []*call, err error) {
	for _, p := range batch {
		p.answer(err)
	}
}

// tries calls try, and repeats it while other batches conflict with this one, and while
// its jobs need another slot.
func (l *loop) tries(batch []*call) (errs []error, err error) {
	errs, err = l.try(batch)
	for n, moves := 1, 1; errors.Is(err, storage.ErrAgain) && n < maxTries && moves < commerce.JobSlots; {
		if errors.Is(err, storage.ErrNode) {
			moves++
		} else {
			n++
		}
		errs, err = l.try(batch)
	}
	return errs, err
}

// try loads, decides and saves. err is the failure of the whole batch; errs are the
// refusals of single commands, valid only when err is nil.
func (l *loop) try(batch []*call) (errs []error, err error) {
	defer func() {
		if v := recover(); v != nil { // a change outside of the command's needs
			slog.Error("a batch panicked", "panic", v, "stack", string(debug.Stack()))
			err = fmt.Errorf("a batch of %d commands panicked: %v", len(batch), v)
		}
	}()
	ctx := context.Background() // admitted commands run to their end
	watch := l.stopwatch(batch)
	defer watch.told()
	needs := make([]commerce.Needs, len(batch))
	for i, p := range batch {
		needs[i] = p.needs
	}
	l.reached(batch, "load")
	tx, err := l.engine.Load(ctx, needs...)
	watch.loaded()
	if err != nil {
		return nil, err
	}
	defer tx.Discard()
	rows, now := tx.Rows(), tx.Stamp()
	l.reached(batch, "decide")
	errs = make([]error, len(batch))
	ids := idSource{env: l.env, now: now, slot: l.slot(now), encode: l.encode}
	var changes commerce.Changes
	for i, p := range batch {
		p.jobs = nil // of an earlier try
		if changes, errs[i] = p.decide(rows, now); errs[i] != nil {
			continue
		}
		ids.complete(&changes)
		p.jobs = changes.NewJobs
		for i := range p.jobs {
			p.jobs[i].TraceParent = p.parent
		}
		watch.did(&changes, now)
		schema.Apply(rows, &changes)
	}
	watch.decided()
	if !schema.Changed(rows) {
		return errs, nil
	}
	reserved, saved := l.reserve(rows.Appended.NewJobs), false
	defer func() {
		if len(reserved) > 0 {
			l.starter.EndReservation(reserved, saved)
		}
	}()
	l.reached(batch, "save")
	err = tx.Save(ctx)
	saved = err == nil
	watch.saved(saved)
	if failed := errors.Is(err, storage.ErrNode) && errors.Is(err, storage.ErrAgain); (failed || saved) && len(rows.Appended.NewJobs) > 0 {
		l.slotTried(ids.slot, failed)
	}
	return errs, err
}
