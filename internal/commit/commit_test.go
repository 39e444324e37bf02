package commit_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"runtime"
	"sync"
	"testing"
	"time"

	"purveyor/internal/command"
	"purveyor/internal/commerce"
	"purveyor/internal/commit"
	"purveyor/internal/storage"
	"purveyor/internal/storage/schema"
	"purveyor/internal/storage/storagetest"
	"purveyor/internal/testkit/fixture"
)

// TestMain keeps the log of the failures that are provoked here out of sight.
func TestMain(m *testing.M) {
	slog.SetDefault(slog.New(slog.DiscardHandler))
	os.Exit(m.Run())
}

// idle is a command that does nothing.
type idle struct{}

func (idle) Needs() commerce.Needs { return commerce.Needs{} }
func (idle) Decide(*commerce.Rows, commerce.Millis) (int, commerce.Changes, error) {
	return 0, commerce.Changes{}, nil
}

// together runs the commands of each loop in one batch: the writers are held, an idle
// command waits for each, and all others gather behind these before they are let go.
func (s *shop) together(run ...func()) {
	s.T.Helper()
	var hold []storage.Batch
	for range s.engine.Writers().Batches {
		b, err := s.engine.Engine.Load(context.Background())
		if err != nil {
			s.T.Fatal(err)
		}
		hold = append(hold, b)
	}
	all := s.engine.Loads.Load() + int64(s.Committer.IdleInEachLoop())
	for s.engine.Loads.Load() < all {
		runtime.Gosched()
	}
	var wg sync.WaitGroup
	for _, f := range run {
		wg.Go(f)
	}
	for s.Committer.Waiting() < len(run) {
		runtime.Gosched()
	}
	for _, b := range hold {
		b.Discard()
	}
	wg.Wait()
}

func TestSameKeyTogether(t *testing.T) { onEveryEngine(t, testSameKeyTogether) }

func testSameKeyTogether(t *testing.T, open opener) {
	s := openShop(t, open, 1, 100)
	const callers = 50
	replies := make([]commit.Reply, callers)
	var run []func()
	for i := range callers {
		run = append(run, func() {
			var err error
			if replies[i], err = commit.Do(t.Context(), s.Committer, s.once("k", s.Report(0, 1))); err != nil {
				t.Error(err)
			}
		})
	}
	s.together(run...)
	firsts := 0
	for _, r := range replies {
		if !r.Replayed {
			firsts++
		}
		if !bytes.Equal(r.Body, replies[0].Body) || r.Status != 201 {
			t.Errorf("answers differ: %d %s and %s", r.Status, r.Body, replies[0].Body)
		}
	}
	if firsts != 1 || s.Stock(0).Quantity != 99 {
		t.Errorf("%d first answers, %d left; want 1 and 99", firsts, s.Stock(0).Quantity)
	}
}

func TestKeyReused(t *testing.T) { onEveryEngine(t, testKeyReused) }

func testKeyReused(t *testing.T, open opener) {
	s := openShop(t, open, 1, 100)
	must(commit.Do(t.Context(), s.Committer, s.once("k", s.Report(0, 1))))
	other := commit.Once(commerce.ReplyKey{PartnerID: "ptn_1", Op: "report", Key: "k"}, [32]byte{1}, s.Report(0, 1),
		func(commerce.Order) (int, []byte) { return 201, nil })
	_, err := commit.Do(t.Context(), s.Committer, other)
	var refusal *commerce.Error
	if !errors.As(err, &refusal) || refusal.Code != "idempotency_key_reused" || s.Stock(0).Quantity != 99 {
		t.Errorf("%v, %d left", err, s.Stock(0).Quantity)
	}
}

// TestRefusalIsNotStored: a refused command leaves its key free.
func TestRefusalIsNotStored(t *testing.T) { onEveryEngine(t, testRefusalIsNotStored) }

func testRefusalIsNotStored(t *testing.T, open opener) {
	s := openShop(t, open, 1, 1)
	tooMany := s.once("k", s.Report(0, 2))
	if _, err := commit.Do(t.Context(), s.Committer, tooMany); err == nil {
		t.Fatal("sold more than there was")
	}
	must(commit.Do(t.Context(), s.Committer, command.AdjustInventory{Actor: fixture.Actor(commerce.Live), Lines: []command.AdjustmentLine{{Product: fixture.ProductKey(0), Delta: 1}}}))
	r, err := commit.Do(t.Context(), s.Committer, tooMany)
	if err != nil || r.Replayed {
		t.Errorf("the repeat after a refusal: %+v, %v", r, err)
	}
}

// TestNeighbours: in one batch, each command sees what those before it did,
// and a refusal or a bug of one leaves the others alone.
func TestNeighbours(t *testing.T) { onEveryEngine(t, testNeighbours) }

func testNeighbours(t *testing.T, open opener) {
	s := openShop(t, open, 1, 5)
	var mu sync.Mutex
	sold, refused := 0, 0
	sell := func() {
		_, err := commit.Do(t.Context(), s.Committer, s.Report(0, 1))
		mu.Lock()
		defer mu.Unlock()
		if err == nil {
			sold++
		} else {
			refused++
		}
	}
	bug := func() {
		if _, err := commit.Do(t.Context(), s.Committer, buggy{}); err == nil {
			t.Error("a panic was no error")
		}
	}
	outside := func() {
		if _, err := commit.Do(t.Context(), s.Committer, trespasser{}); err == nil {
			t.Error("a change outside of the needs was no error")
		}
	}
	s.together(sell, sell, bug, sell, sell, outside, sell, sell, bug, sell, sell)
	if sold != 5 || refused != 3 || s.Stock(0).Quantity != 0 {
		t.Errorf("sold %d, refused %d, left %d; want 5, 3, 0", sold, refused, s.Stock(0).Quantity)
	}
}

// buggy looks at a row that it did not ask for.
type buggy struct{}

func (buggy) Needs() commerce.Needs { return commerce.Needs{} }
func (buggy) Decide(rows *commerce.Rows, _ commerce.Millis) (int, commerce.Changes, error) {
	rows.Partners.Get("outside of the needs")
	return 0, commerce.Changes{}, nil
}

// trespasser changes a row that it did not ask for.
type trespasser struct{}

func (trespasser) Needs() commerce.Needs { return commerce.Needs{} }
func (trespasser) Decide(*commerce.Rows, commerce.Millis) (int, commerce.Changes, error) {
	return 0, commerce.Changes{Categories: []commerce.Category{{ID: "outside of the needs"}}}, nil
}

// TestBatchRefusedByTheEngine: commands are tried alone, and all take place.
func TestBatchRefusedByTheEngine(t *testing.T) { onEveryEngine(t, testBatchRefusedByTheEngine) }

func testBatchRefusedByTheEngine(t *testing.T, open opener) {
	s := openShop(t, open, 1, 100)
	s.engine.Fail(storagetest.Refused)
	saves := s.engine.Saves.Load()
	var run []func()
	for range 10 {
		run = append(run, func() { must(commit.Do(t.Context(), s.Committer, s.Report(0, 1))) })
	}
	s.together(run...)
	if got := s.Stock(0).Quantity; got != 90 {
		t.Errorf("%d left, want 90", got)
	}
	if got := s.engine.Saves.Load() - saves; got != 11 {
		t.Errorf("%d saves, want one of the batch and ten of its commands", got)
	}
}

// TestUnknownOutcome fails every save once before and once after it is persisted. The
// reply record of a keyed command decides its outcome: it takes effect exactly once
// and is answered. A command without one is answered that the outcome is unknown.
func TestUnknownOutcome(t *testing.T) { onEveryEngine(t, testUnknownOutcome) }

func testUnknownOutcome(t *testing.T, open opener) {
	s := openShop(t, open, 1, 100)
	left := int64(100)
	for i := range 6 {
		for _, how := range []storagetest.Failure{storagetest.BeforeSave, storagetest.AfterSave} {
			k := fmt.Sprint(i, how)
			s.engine.Fail(how)
			first, err := commit.Do(t.Context(), s.Committer, s.once(k, s.Report(0, 1)))
			if err != nil || first.Status != 201 {
				t.Fatalf("failure %d: %+v, %v", how, first, err)
			}
			left--
			again, err := commit.Do(t.Context(), s.Committer, s.once(k, s.Report(0, 1)))
			if err != nil || !again.Replayed || !bytes.Equal(again.Body, first.Body) {
				t.Errorf("failure %d, repeated: %+v, %v; first was %s", how, again, err, first.Body)
			}
			if got := s.Stock(0).Quantity; got != left {
				t.Fatalf("failure %d: %d left, want %d", how, got, left)
			}
			s.engine.Fail(how)
			if _, err := commit.Do(t.Context(), s.Committer, s.Report(0, 1)); !errors.Is(err, storage.ErrOutcomeUnknown) {
				t.Errorf("without a key, failure %d: %v", how, err)
			}
			if how == storagetest.AfterSave {
				left--
			}
		}
	}
}

// TestUnknownOutcomeOfADatabaseThatIsAway: the database goes away with the
// commit and comes back a moment later; the caller is told what happened.
func TestUnknownOutcomeOfADatabaseThatIsAway(t *testing.T) {
	onEveryEngine(t, testUnknownOutcomeOfADatabaseThatIsAway)
}

func testUnknownOutcomeOfADatabaseThatIsAway(t *testing.T, open opener) {
	s := openShop(t, open, 1, 100)
	s.engine.AwayFor.Store(3)
	for i, how := range []storagetest.Failure{storagetest.BeforeSave, storagetest.AfterSave} {
		s.engine.Fail(how)
		reply, err := commit.Do(t.Context(), s.Committer, s.once(fmt.Sprint(i), s.Report(0, 1)))
		if err != nil || reply.Status != 201 || reply.Replayed != (how == storagetest.AfterSave) {
			t.Errorf("failure %d: %+v, %v", how, reply, err)
		}
		if got := s.Stock(0).Quantity; got != 99-int64(i) {
			t.Errorf("failure %d: %d left", how, got)
		}
	}
}

func TestCloseAnswersAll(t *testing.T) { onEveryEngine(t, testCloseAnswersAll) }

func testCloseAnswersAll(t *testing.T, open opener) {
	s := openShop(t, open, 1, 1000)
	const callers = 40
	var run []func()
	for range callers {
		run = append(run, func() { must(commit.Do(context.Background(), s.Committer, s.Report(0, 1))) })
	}
	run = append(run, func() { must(commit.Do(context.Background(), s.Committer, closer{s.Committer})) })
	s.together(run...)
	s.Committer.Close()
	if got := s.Stock(0).Quantity; got != 1000-callers {
		t.Errorf("%d left, want %d", got, 1000-callers)
	}
	if _, err := commit.Do(context.Background(), s.Committer, s.Report(0, 1)); !errors.Is(err, commit.ErrClosed) {
		t.Errorf("after Close: %v", err)
	}
}

// closer begins to close its own committer while it is decided, with others
// admitted beside it.
type closer struct{ c *commit.Committer }

func (closer) Needs() commerce.Needs { return commerce.Needs{} }
func (c closer) Decide(*commerce.Rows, commerce.Millis) (int, commerce.Changes, error) {
	go c.c.Close()
	return 0, commerce.Changes{}, nil
}

// TestCallerGone: a command that was admitted takes place without its caller.
func TestCallerGone(t *testing.T) { onEveryEngine(t, testCallerGone) }

func testCallerGone(t *testing.T, open opener) {
	s := openShop(t, open, 1, 10)
	ctx, cancel := context.WithCancel(t.Context())
	s.together(func() {
		defer cancel()
		_, _ = commit.Do(ctx, s.Committer, s.Report(0, 1))
	})
	if got := s.Stock(0).Quantity; got != 9 {
		t.Errorf("%d left, want 9", got)
	}
}

// TestEventsOfOneBatch: webhook timestamps of an order increase strictly even
// when one batch moves it twice, ids keep the order, and jobs go with events.
func TestEventsOfOneBatch(t *testing.T) { onEveryEngine(t, testEventsOfOneBatch) }

func testEventsOfOneBatch(t *testing.T, open opener) {
	s := openShop(t, open, 1, 10)
	order := must(commit.Do(t.Context(), s.Committer, s.Report(0, 1)))
	facts := command.FactsOf(order)
	b, err := s.engine.Load(t.Context(), command.MarkReady{Facts: facts, Actor: fixture.Actor(commerce.Live)}.Needs(), command.MarkPickedUp{Facts: facts, Actor: fixture.Actor(commerce.Live)}.Needs())
	if err != nil {
		t.Fatal(err)
	}
	defer b.Discard()
	rows := b.Rows()
	_, ready, err := command.MarkReady{Facts: facts, Actor: fixture.Actor(commerce.Live)}.Decide(rows, b.Stamp())
	if err != nil {
		t.Fatal(err)
	}
	schema.Apply(rows, &ready)
	_, picked, err := command.MarkPickedUp{Facts: facts, Actor: fixture.Actor(commerce.Live)}.Decide(rows, b.Stamp())
	if err != nil {
		t.Fatal(err)
	}
	if a, b := ready.Webhooks[0].Timestamp, picked.Webhooks[0].Timestamp; a <= order.NotifiedOn || b <= a {
		t.Errorf("timestamps %d, %d, %d do not increase", order.NotifiedOn, a, b)
	}
	if len(picked.Webhooks[0].To) != 1 {
		t.Error("an event of a partner with a callback URL asks for no delivery")
	}
}

// TestRepeatAfterASweep: a repeat is the first answer again while the reply is
// younger than it is kept, however often old ones are swept, and a call of its own
// after that.
func TestRepeatAfterASweep(t *testing.T) { onEveryEngine(t, testRepeatAfterASweep) }

func testRepeatAfterASweep(t *testing.T, open opener) {
	s := openShop(t, open, 1, 10)
	before := time.Now().UnixMilli()
	first := must(commit.Do(t.Context(), s.Committer, s.once("k", s.Report(0, 1))))
	after := s.Stock(0).UpdatedOn // the stamp of the batch
	const keep = 72 * 60 * 60 * 1000
	sweep := func(now commerce.Millis) {
		t.Helper()
		if _, err := s.engine.Sweep(t.Context(), now); err != nil {
			t.Fatal(err)
		}
	}
	sweep(commerce.Millis(before + keep))
	again := must(commit.Do(t.Context(), s.Committer, s.once("k", s.Report(0, 1))))
	if !again.Replayed || !bytes.Equal(again.Body, first.Body) || s.Stock(0).Quantity != 9 {
		t.Errorf("after a sweep: %+v, %d left; want the first answer and 9", again, s.Stock(0).Quantity)
	}
	sweep(after + keep + 1)
	late := must(commit.Do(t.Context(), s.Committer, s.once("k", s.Report(0, 1))))
	if late.Replayed || s.Stock(0).Quantity != 8 {
		t.Errorf("after its time: %+v, %d left; want an answer of its own and 8", late, s.Stock(0).Quantity)
	}
}
