package commit_test

import (
	"context"
	"crypto/sha256"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"

	"purveyor/internal/api/wire"
	"purveyor/internal/command"
	"purveyor/internal/commerce"
	"purveyor/internal/commit"
	"purveyor/internal/storage"
	"purveyor/internal/storage/postgres"
	"purveyor/internal/storage/sqlite"
	"purveyor/internal/storage/storagetest"
	"purveyor/internal/testkit/database"
)

// shop is a store with products, a partner, and the committer under test.
type shop struct {
	t         testing.TB
	engine    *storagetest.Flaky
	committer *commit.Committer
	actor     commerce.Actor
	orders    atomic.Int64
	close     func() // at the end of the test, or earlier
}

const (
	storeID  = "sto_1"
	category = "cat_1"
)

func productID(i int) string { return fmt.Sprintf("prd_%d", i) }

func key(i int) commerce.ProductKey {
	return commerce.ProductKey{StoreID: storeID, ProductID: productID(i)}
}

// opener opens an engine on a fresh database.
type opener func(t testing.TB) (storage.Engine, error)

// onEveryEngine runs a test once for each engine.
func onEveryEngine(t *testing.T, test func(*testing.T, opener)) {
	t.Run("sqlite", func(t *testing.T) {
		test(t, func(t testing.TB) (storage.Engine, error) {
			return sqlite.Open(database.SQLite(t), sqlite.Options{})
		})
	})
	t.Run("postgres", func(t *testing.T) {
		test(t, func(t testing.TB) (storage.Engine, error) {
			return postgres.Open(database.Postgres(t), postgres.Options{Readers: 2})
		})
	})
}

// openShop stocks n products with the given quantity.
func openShop(t testing.TB, open opener, n int, quantity int64) *shop {
	t.Helper()
	return openShopWith(t, open, n, quantity, nil)
}

// openShopWith is openShop with a starter of jobs.
func openShopWith(t testing.TB, open opener, n int, quantity int64, starter commit.Starter) *shop {
	t.Helper()
	engine, err := open(t)
	if err != nil {
		t.Fatal(err)
	}
	s := &shop{t: t, engine: &storagetest.Flaky{Engine: engine}}
	s.committer = commit.New(s.engine, commit.Options{Starter: starter, EncodeEvent: wire.EventData})
	s.close = sync.OnceFunc(func() {
		s.committer.Close()
		if err := engine.Close(); err != nil {
			t.Error(err)
		}
	})
	t.Cleanup(s.close)
	catalog := command.ImportCatalog{
		Categories: []command.ImportCategory{{ID: category, Name: "Bread"}},
		Stores:     []command.ImportStore{{ID: storeID, Name: "One"}},
	}
	price := commerce.Cents(100)
	for i := range n {
		catalog.Products = append(catalog.Products, command.ImportProduct{
			ID: productID(i), Name: "Product", StoreID: storeID, PriceCents: &price, Quantity: &quantity})
	}
	must(commit.Do(t.Context(), s.committer, catalog))
	s.actor = commerce.PartnerActor("ptn_1", commerce.Live, commerce.Live, "trace")
	must(commit.Do(t.Context(), s.committer, command.CreatePartner{Partner: commerce.Partner{
		ID: "ptn_1", Name: "P", Scopes: []commerce.Scope{commerce.AllScopes}, RateLimit: 1, CallbackURL: "https://p.example"}}))
	return s
}

// must is for what a test only prepares.
func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

// report is a command that sells some of a product, as a new order.
func (s *shop) report(product int, quantity int64) command.ReportOrder {
	n := s.orders.Add(1)
	return command.ReportOrder{
		Actor: s.actor, OrderID: commerce.NewOrderID(1, commerce.Millis(n), commerce.Entropy{}), CustomerID: "cus_1", StoreID: storeID,
		ExternalID: fmt.Sprint("ext-", n), Fulfillment: commerce.ByPickup,
		Lines: []commerce.OrderLine{{ProductID: productID(product), Quantity: quantity, PriceCents: 100}},
	}
}

// once gives a command an idempotency key, as the API does.
func (s *shop) once(idempotencyKey string, cmd command.ReportOrder) commit.Command[commit.Reply] {
	return commit.Once(commerce.ReplyKey{PartnerID: "ptn_1", Op: "report", Key: idempotencyKey}, sha256.Sum256([]byte(idempotencyKey)), cmd,
		func(o commerce.Order) (int, []byte) { return 201, []byte(o.ID) })
}

func (s *shop) stock(product int) commerce.Stock {
	found, err := s.engine.Reader().Stock(context.Background(), []string{productID(product)})
	if err != nil {
		s.t.Error(err)
	}
	return found[productID(product)]
}
