package storagetest

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"time"

	"purveyor/internal/commerce"
	"purveyor/internal/storage"
)

var crash = map[string]func(*testing.T, Database){
	"what was saved is there for the next process":       savedIsThere,
	"a batch left open by a crash is as if it never was": openBatchIsGone,
	"a save that fails before or after it was persisted": failedSaves,
	"a save whose last row is refused saves none":        refusedAppends,
}

func savedIsThere(t *testing.T, db Database) {
	first := db.Open(t, time.Now)
	key := seedProducts(t, first, 1, 1, 5)[0]
	Change(t, first, stockOf(key), add(key, 2))
	if got := quantity(t, db.Open(t, time.Now), key); got != 7 { // first is not closed: it just stopped
		t.Errorf("quantity %d, want 7", got)
	}
}

func openBatchIsGone(t *testing.T, db Database) {
	first := db.Open(t, time.Now)
	key := seedProducts(t, first, 1, 1, 5)[0]
	b, err := first.Load(context.Background(), stockOf(key))
	if err != nil {
		t.Fatal(err)
	}
	Apply(b, add(key, 2)(b.Rows(), b.Stamp()))
	b.Discard() // what the end of a process does to its transaction
	if got := quantity(t, db.Open(t, time.Now), key); got != 5 {
		t.Errorf("quantity %d, want 5", got)
	}
}

// failedSaves fails every save once before and once after it was persisted:
// the engine is as good as before, and the rows say which of the two it was.
func failedSaves(t *testing.T, db Database) {
	flaky := &Flaky{Engine: db.Open(t, time.Now)}
	key := seedProducts(t, flaky, 1, 1, 0)[0]
	for round := range int64(3) {
		flaky.Fail(BeforeSave)
		if err := tryChange(flaky, stockOf(key), add(key, 1)); !errors.Is(err, storage.ErrOutcomeUnknown) {
			t.Errorf("not persisted: %v", err)
		}
		if got := quantity(t, flaky, key); got != round {
			t.Errorf("quantity %d after a save that was not persisted, want %d", got, round)
		}
		flaky.Fail(AfterSave)
		if err := tryChange(flaky, stockOf(key), add(key, 1)); !errors.Is(err, storage.ErrOutcomeUnknown) {
			t.Errorf("persisted: %v", err)
		}
		if got := quantity(t, flaky, key); got != round+1 {
			t.Errorf("quantity %d after a save that was persisted, want %d", got, round+1)
		}
	}
}

// refusedAppends has each kind of row that is only ever added refused, because a
// row with its key is there: the whole batch is then not saved.
func refusedAppends(t *testing.T, db Database) {
	e := db.Open(t, time.Now)
	key := seedProducts(t, e, 1, 1, 5)[0]
	_, _, ledger := samplePayment()
	order := commerce.OrderKey{StoreID: "sto_0", OrderID: "ord_1"}
	appends := map[string]commerce.Changes{
		"timeline": {Timeline: []commerce.TimelineEvent{{StoreID: order.StoreID, OrderID: order.OrderID, Seq: 1, Kind: "order.note"}}},
		"ledger":   {Ledger: ledger[:1]},
		"event":    {Webhooks: []commerce.WebhookEvent{{PartnerID: "ptn_1", ID: "evt_1", Kind: "order.paid", Data: []byte("{}")}}},
		"attempt":  {Attempts: []commerce.WebhookAttempt{{PartnerID: "ptn_1", EventID: "evt_1", ID: "att_1"}}},
		"callback": {StrayCallbacks: sampleCallbacks()[:1]},
		"message":  {Outbox: []commerce.UnsentMessage{{ID: "out_1", Kind: commerce.UnsentSMS}}},
		"audit":    {Audit: []commerce.AuditEntry{{ID: "aud_1", Before: []byte("{}"), After: []byte("{}")}}},
		"job":      {NewJobs: []commerce.Job{{Slot: 3, ID: "job_1", Kind: "x", Mode: commerce.Live, State: commerce.JobWaiting, RunAt: 1}}},
	}
	Change(t, e, commerce.Needs{Orders: []commerce.OrderKey{order}}, func(*commerce.Rows, commerce.Millis) commerce.Changes {
		return commerce.Changes{Orders: []commerce.Order{{StoreID: order.StoreID, ID: order.OrderID}}}
	})
	for _, c := range appends {
		Change(t, e, of("ptn_1"), func(*commerce.Rows, commerce.Millis) commerce.Changes { return c })
	}
	needs := of("ptn_1")
	needs.Stock = stockOf(key).Stock
	for name, c := range appends {
		err := tryChange(e, needs, func(rows *commerce.Rows, now commerce.Millis) commerce.Changes {
			c.Stock = add(key, 1)(rows, now).Stock
			return c
		})
		if err == nil || errors.Is(err, storage.ErrOutcomeUnknown) {
			t.Errorf("%s: %v, want a refusal", name, err)
		}
		if got := quantity(t, e, key); got != 5 {
			t.Fatalf("%s: quantity %d, want 5 as before", name, got)
		}
	}
}

// Failure is when a save of a Flaky engine fails.
type Failure int32

// The failures.
const (
	Never      Failure = iota
	BeforeSave         // nothing is persisted, and the caller gets an unknown outcome
	AfterSave          // everything is persisted, and the caller gets an unknown outcome
	Refused            // nothing is persisted, and the caller is told so
)

// Flaky wraps an engine and fails saves on request.
type Flaky struct {
	storage.Engine
	next  atomic.Int32
	Loads atomic.Int64 // begun
	Saves atomic.Int64 // begun
	// AwayFor is how many loads find the database away after a save with an unknown
	// outcome.
	AwayFor atomic.Int64
	away    atomic.Int64
}

// Fail makes the next save fail, once.
func (f *Flaky) Fail(how Failure) { f.next.Store(int32(how)) }

// Load implements storage.Engine.
func (f *Flaky) Load(ctx context.Context, needs ...commerce.Needs) (storage.Batch, error) {
	f.Loads.Add(1)
	if f.away.Add(-1) >= 0 {
		return nil, storage.ErrUnavailable
	}
	b, err := f.Engine.Load(ctx, needs...)
	return flakyBatch{b, f}, err
}

type flakyBatch struct {
	storage.Batch
	f *Flaky
}

func (b flakyBatch) Save(ctx context.Context) error {
	b.f.Saves.Add(1)
	how := Failure(b.f.next.Swap(int32(Never)))
	if how == BeforeSave || how == AfterSave {
		b.f.away.Store(b.f.AwayFor.Load())
	}
	switch how {
	case BeforeSave:
		b.Discard()
		return storage.ErrOutcomeUnknown
	case AfterSave:
		if err := b.Batch.Save(ctx); err != nil {
			return err
		}
		return storage.ErrOutcomeUnknown
	case Refused:
		b.Discard()
		return errors.New("this batch cannot be saved")
	}
	return b.Batch.Save(ctx)
}
