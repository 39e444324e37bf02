package commit_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"purveyor/internal/api/wire"
	"purveyor/internal/command"
	"purveyor/internal/commerce"
	"purveyor/internal/commit"
	"purveyor/internal/storage"
	"purveyor/internal/storage/postgres"
	"purveyor/internal/testkit/database"
	"purveyor/internal/testkit/fixture"

	"github.com/jackc/pgx/v5"
)

// TestRowLockedFromOutside checks that, while another program keeps one stock row
// locked, two processes continue to sell everything else: neighbours in the batch of
// an order for that product, and later orders. The order for it takes effect when the
// row is free. The test logs how long the others took (go test -run
// TestRowLockedFromOutside -v ./internal/commit).
func TestRowLockedFromOutside(t *testing.T) {
	ctx := context.Background()
	url := database.Postgres(t)
	open := func(testing.TB) (storage.Engine, error) { return postgres.Open(url, postgres.Options{Readers: 2}) }
	a := openShop(t, open, 3, 1000)
	second, err := postgres.Open(url, postgres.Options{Readers: 2})
	if err != nil {
		t.Fatal(err)
	}
	b := commit.New(second, commit.Options{EncodeEvent: wire.Encoder{}.EventData})
	t.Cleanup(func() {
		b.Close()
		if err := second.Close(); err != nil {
			t.Error(err)
		}
	})
	other := command.ImportCatalog{Stores: []command.ImportStore{{ID: "sto_2", Name: "Two"}},
		Products: []command.ImportProduct{{ID: "prd_other", Name: "Product", StoreID: "sto_2", PriceCents: new(commerce.Cents(100)), Quantity: new(int64(1000))}}}
	must(commit.Do(ctx, a.Committer, other))
	ofOtherStore := func() command.ReportOrder {
		r := a.Report(0, 1)
		r.StoreID, r.OrderID, r.Lines[0].ProductID = "sto_2", a.NewOrderID(2), "prd_other"
		return r
	}

	conn, err := pgx.Connect(ctx, url)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(ctx)
	for _, sql := range []string{"BEGIN", "SELECT FROM stock WHERE store_id = '" + fixture.StoreID + "' AND product_id = '" + fixture.ProductID(0) + "' FOR UPDATE"} {
		if _, err := conn.Exec(ctx, sql); err != nil {
			t.Fatal(err)
		}
	}
	locked := make(chan error, 1)
	var mu sync.Mutex
	longest := map[*commit.Committer]time.Duration{}
	sell := func(c *commit.Committer, cmd command.ReportOrder) {
		began := time.Now()
		if _, err := commit.Do(ctx, c, cmd); err != nil {
			t.Error(err)
		}
		mu.Lock()
		defer mu.Unlock()
		longest[c] = max(longest[c], time.Since(began))
	}
	var run []func()
	run = append(run, func() {
		go func() { _, err := commit.Do(ctx, a.Committer, a.Report(0, 1)); locked <- err }()
	})
	for range 5 {
		run = append(run, func() { sell(a.Committer, ofOtherStore()) }, func() { sell(a.Committer, a.Report(1, 1)) })
	}
	a.together(run...)
	for range 5 {
		sell(a.Committer, ofOtherStore())
		sell(b, ofOtherStore())
		sell(b, a.Report(2, 1))
	}
	t.Logf("the row stays locked; other orders took at most %v in the process that waits for it, and %v in another", longest[a.Committer], longest[b])
	select {
	case err := <-locked:
		t.Errorf("the order for the locked product was answered: %v", err)
	default:
	}
	if _, err := conn.Exec(ctx, "ROLLBACK"); err != nil {
		t.Fatal(err)
	}
	if err := <-locked; err != nil {
		t.Error(err)
	}
	for i, want := range []int64{999, 995, 995} {
		if got := a.Stock(i).Quantity; got != want {
			t.Errorf("%d left of product %d, want %d", got, i, want)
		}
	}
}

// TestRealViolation: two keys with one hash can never stand in the database. The
// command that wants that fails, after a bounded number of tries, and alone.
func TestRealViolation(t *testing.T) { onEveryEngine(t, testRealViolation) }

func testRealViolation(t *testing.T, open opener) {
	s := openShop(t, open, 1, 100)
	create := func(id string) command.CreatePartner {
		return command.CreatePartner{Partner: commerce.Partner{ID: id, Name: id, RateLimit: 1},
			Keys: []commerce.APIKey{{ID: "key_" + id, Mode: commerce.Live, Hash: commerce.HashKey("one key")}}}
	}
	must(commit.Do(t.Context(), s.Committer, create("ptn_first")))
	loads := s.engine.Loads.Load()
	var run []func()
	for i := range 5 {
		run = append(run, func() {
			if _, err := commit.Do(t.Context(), s.Committer, s.once(fmt.Sprint(i), s.Report(0, 1))); err != nil {
				t.Error(err)
			}
		})
	}
	run = append(run, func() {
		_, err := commit.Do(t.Context(), s.Committer, create("ptn_second"))
		if err == nil || errors.Is(err, storage.ErrUnavailable) || errors.Is(err, storage.ErrOutcomeUnknown) {
			t.Errorf("a second key with the same hash: %v", err)
		}
	})
	s.together(run...)
	if got := s.Stock(0).Quantity; got != 95 {
		t.Errorf("%d left, want 95", got)
	}
	if _, err := s.engine.Reader().Partner(t.Context(), "ptn_second"); !errors.Is(err, storage.ErrNotFound) {
		t.Errorf("the refused partner: %v", err)
	}
	// The idle one of each loop; the batch and the command, five times each; five alone.
	if n := s.engine.Loads.Load() - loads; n > 15+int64(s.engine.Writers().Batches) {
		t.Errorf("%d loads", n)
	}
}
