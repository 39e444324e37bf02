package storagetest

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"purveyor/internal/storage"
)

// Raw is an empty database that a test changes by SQL, beside the engine.
type Raw interface {
	Open(storage.Access) (storage.Engine, error)
	Pending() ([]storage.Migration, error)
	// MakeFirst brings the database to number 1 as programs did that kept no record
	// of migrations.
	MakeFirst(t testing.TB)
	Execute(t testing.TB, sql string)
	// Query returns the first column of the rows.
	Query(t testing.TB, sql string) []string
}

// RunMigrations tests how a database is brought up to date. known are the
// migrations of the engine.
func RunMigrations(t *testing.T, fresh func(testing.TB) Raw, known []storage.Migration) {
	var digests []string
	for _, m := range known {
		digests = append(digests, m.Digest())
	}
	const read = "SELECT sha256 FROM migrations WHERE applied_on > 1600000000000 ORDER BY number"
	isCurrent := func(t *testing.T, db Raw) {
		t.Helper()
		e, err := db.Open(storage.Access{})
		if err != nil {
			t.Fatal(err)
		}
		if err := errors.Join(e.Reader().Ping(context.Background()), e.Close()); err != nil {
			t.Error(err)
		}
		if got := db.Query(t, read); strings.Join(got, " ") != strings.Join(digests, " ") {
			t.Errorf("the record is %q, want %q", got, digests)
		}
	}
	t.Run("an empty database", func(t *testing.T) {
		db := fresh(t)
		isCurrent(t, db)
		isCurrent(t, db)
	})
	t.Run("number 1 without a record", func(t *testing.T) {
		db := fresh(t)
		db.MakeFirst(t)
		db.Execute(t, "INSERT INTO categories VALUES ('cat_1', 'Kept', 1=1)")
		isCurrent(t, db)
		isCurrent(t, db)
		if got := db.Query(t, "SELECT name FROM categories"); len(got) != 1 || got[0] != "Kept" {
			t.Errorf("categories: %q", got)
		}
	})
	t.Run("flags of orders", func(t *testing.T) { migrateFlags(t, fresh(t)) })
	t.Run("refunded orders", func(t *testing.T) { migrateRefunds(t, fresh(t)) })
	t.Run("jobs whose answers wait", func(t *testing.T) { migrateReplies(t, fresh(t)) })
	for change, says := range map[string]string{
		"DROP INDEX endpoints_held":                                "index endpoints_held is missing",
		"DROP TABLE outbox":                                        "table outbox is missing",
		"ALTER TABLE stores RENAME COLUMN slug TO label":           "column stores.slug is missing",
		"ALTER TABLE outbox ADD COLUMN more TEXT":                  "column outbox.more is not one of this program's",
		"CREATE TABLE more (id INT)":                               "table more is not one of this program's",
		"CREATE INDEX more ON outbox (created_on)":                 "index more is not one of this program's",
		"DROP INDEX jobs_dead; CREATE INDEX jobs_dead ON jobs(id)": "index jobs_dead is (",
	} {
		t.Run(change, func(t *testing.T) {
			db := fresh(t)
			db.MakeFirst(t)
			for sql := range strings.SplitSeq(change, "; ") {
				db.Execute(t, sql)
			}
			for range 2 { // the refusal changes nothing
				isRefused(t, db, storage.ErrOtherSchema, says, "--database")
			}
		})
	}
	t.Run("who migrates", func(t *testing.T) { admitMigrated(t, fresh, known) })
	t.Run("a newer schema", func(t *testing.T) { useNewer(t, fresh(t), len(known)) })
	t.Run("another file", func(t *testing.T) {
		db := fresh(t)
		isCurrent(t, db)
		db.Execute(t, "UPDATE migrations SET sha256 = 'beef' WHERE number = 1")
		isRefused(t, db, storage.ErrOtherSchema, "migration 1", "beef", digests[0], known[0].File, "--database")
	})
	t.Run("no record of a migration", func(t *testing.T) {
		db := fresh(t)
		isCurrent(t, db)
		db.Execute(t, "DELETE FROM migrations WHERE number = 1")
		isRefused(t, db, storage.ErrOtherSchema, "no record of migration 1", "--database")
	})
}

// admitMigrated opens databases that are empty, old and current.
func admitMigrated(t *testing.T, fresh func(testing.TB) Raw, known []storage.Migration) {
	use, fill := storage.Access{Existing: true, Current: true}, storage.Access{Current: true}
	refused := func(db Raw, a storage.Access, want error) {
		t.Helper()
		if e, err := db.Open(a); !errors.Is(err, want) || !strings.Contains(err.Error(), "purveyor migrate") {
			t.Errorf("%+v: %v, want %v", a, err, want)
		} else if err == nil {
			t.Error(e.Close())
		}
	}
	opens := func(db Raw, a storage.Access) {
		t.Helper()
		if e, err := db.Open(a); err != nil {
			t.Errorf("%+v: %v", a, err)
		} else if err := e.Close(); err != nil {
			t.Error(err)
		}
	}
	pending := func(db Raw, want int) {
		t.Helper()
		if list, err := db.Pending(); err != nil || len(list) != want || want > 0 && list[want-1] != known[len(known)-1] {
			t.Errorf("pending: %v, %v; want %d", list, err, want)
		}
	}
	db := fresh(t)
	refused(db, use, storage.ErrNoDatabase)
	if list, err := db.Pending(); !errors.Is(err, storage.ErrNoDatabase) {
		t.Errorf("pending: %v, %v", list, err)
	}
	opens(db, fill)
	pending(db, 0)

	db = fresh(t)
	db.MakeFirst(t)
	for range 2 {
		refused(db, use, storage.ErrOlderDatabase)
		refused(db, fill, storage.ErrOlderDatabase)
		pending(db, len(known)-1)
	}
	opens(db, storage.Access{})
	pending(db, 0)
	opens(db, use)
}

// useNewer opens a database that has a migration of a newer program, which this program
// may use until a migration says otherwise.
func useNewer(t *testing.T, db Raw, number int) {
	for _, a := range []storage.Access{{}, {}, {Existing: true, Current: true}} {
		if e, err := db.Open(a); err != nil {
			t.Fatal(err)
		} else if err := e.Close(); err != nil {
			t.Error(err)
		}
		db.Execute(t, "UPDATE meta SET value = 9999 WHERE name = 'schema'")
	}
	if list, err := db.Pending(); err != nil || len(list) > 0 {
		t.Errorf("pending: %v, %v", list, err)
	}
	if got := db.Query(t, "SELECT '' || value FROM meta WHERE name = 'schema'"); len(got) != 1 || got[0] != "9999" {
		t.Errorf("the number is %q, want 9999", got)
	}
	db.Execute(t, fmt.Sprintf("UPDATE meta SET value = %d WHERE name = 'oldest_program'", number+1))
	isRefused(t, db, storage.ErrNewerDatabase, "schema 9999", "newer program", fmt.Sprint(number+1))
}

func isRefused(t *testing.T, db Raw, want error, words ...string) {
	t.Helper()
	e, err := db.Open(storage.Access{})
	if err == nil {
		t.Fatal("it was opened", e.Close())
	}
	if !errors.Is(err, want) {
		t.Errorf("%v is not %q", err, want)
	}
	for _, w := range words {
		if !strings.Contains(err.Error(), w) {
			t.Errorf("%v\ndoes not say %q", err, w)
		}
	}
}
