package postgres

import (
	"context"
	"testing"
	"time"

	"purveyor/internal/commerce"
	"purveyor/internal/storage/storagetest"

	"github.com/jackc/pgx/v5"
)

// TestWatermarksOutliveTheCommit: the nodes of a cluster do not show a batch at the same time, so
// its low watermarks stay until the commit was answered. Withdrawn by the batch itself they could be gone from
// one node while the rows of another are not there yet, and a feed would skip these. A single
// server shows both at once, so it is asked what the batch itself sees while it commits.
func TestWatermarksOutliveTheCommit(t *testing.T) {
	ctx := context.Background()
	url := string(distributed(t))
	e := address(url).Open(t, time.Now)
	keys := seedStock(t, e, "sto_1", "sto_2")
	const open = `SELECT (SELECT count(*) FROM store_writers WHERE floor IS NOT NULL) AS stores,
		(SELECT count(*) FROM partner_writers WHERE floor IS NOT NULL) AS partners`
	run(t, url, "CREATE TABLE at_commit AS "+open+" LIMIT 0",
		"CREATE FUNCTION look() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN INSERT INTO at_commit "+open+"; RETURN NULL; END $$",
		"CREATE CONSTRAINT TRIGGER look AFTER UPDATE ON stock DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION look()")
	needs := commerce.Needs{Stock: keys, External: []commerce.ExternalKey{{PartnerID: "ptn_1", Mode: commerce.Live, ExternalID: "a"}}}
	storagetest.Change(t, e, needs, func(rows *commerce.Rows, now commerce.Millis) (c commerce.Changes) {
		for _, k := range keys {
			s, _ := rows.Stock.Get(k)
			s.Quantity--
			c.Stock = append(c.Stock, s)
		}
		return storagetest.WithMoves(rows, c, now)
	})
	conn, err := pgx.Connect(ctx, url)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(ctx)
	for _, c := range []struct {
		when, sql        string
		stores, partners int
	}{
		{"while the batch commits", "SELECT min(stores), min(partners) FROM at_commit", 2, 1},
		{"after the batch was saved", open, 0, 0},
	} {
		var stores, partners int
		if err := conn.QueryRow(ctx, c.sql).Scan(&stores, &partners); err != nil || stores != c.stores || partners != c.partners {
			t.Errorf("%s there are low watermarks of %d stores and %d partners, %v; want %d and %d", c.when, stores, partners, err, c.stores, c.partners)
		}
	}
}
