package commit_test

import (
	"crypto/sha256"
	"testing"

	"purveyor/internal/command"
	"purveyor/internal/commerce"
	"purveyor/internal/commit"
	"purveyor/internal/storage"
	"purveyor/internal/storage/postgres"
	"purveyor/internal/storage/sqlite"
	"purveyor/internal/storage/storagetest"
	"purveyor/internal/testkit/database"
	"purveyor/internal/testkit/fixture"
)

// shop is a shop whose committer is under test.
type shop struct {
	*fixture.Shop
	engine *storagetest.Flaky
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
	t.Run("three writers/postgres", func(t *testing.T) {
		test(t, func(t testing.TB) (storage.Engine, error) {
			return postgres.Open(database.Postgres(t), postgres.Options{Readers: 2, Writers: 3})
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
	flaky := &storagetest.Flaky{Engine: engine}
	return &shop{fixture.Open(t, flaky, starter, n, quantity), flaky}
}

// must is for what a test only prepares.
func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

// once gives a command an idempotency key, as the API does.
func (s *shop) once(idempotencyKey string, cmd command.ReportOrder) commit.Command[commit.Reply] {
	return commit.Once(commerce.ReplyKey{PartnerID: fixture.PartnerID, Op: "report", Key: idempotencyKey}, sha256.Sum256([]byte(idempotencyKey)), cmd,
		func(o commerce.Order) (int, []byte) { return 201, []byte(o.ID) })
}
