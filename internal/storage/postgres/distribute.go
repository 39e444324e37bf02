package postgres

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"purveyor/internal/commerce"
	"purveyor/internal/storage/schema"

	"github.com/jackc/pgx/v5"
)

// share is how a table is spread over the nodes of a distributed PostgreSQL:
// by the values of a column, or whole on each node.
type share struct {
	table, column string // empty column: each node has the whole table
}

// shares has every table: the engine's own and those of the registry. Tables that are
// whole on each node come first, because the others may refer to them.
var shares = func() (list []share) {
	list = []share{{"schema_version", ""}, {"migrations", ""}, {"meta", ""}}
	spread := []share{{"rate_windows", "partner_id"}, {"store_writers", "store_id"}, {"partner_writers", "partner_id"}}
	for _, p := range schema.Plains {
		if p.Shard == schema.Everywhere {
			list = append(list, share{table: p.Name})
		} else {
			spread = append(spread, share{p.Name, p.Shard})
		}
	}
	return append(list, spread...)
}()

// coordinators is the table that stays on the coordinator. Older programs put it on every node.
const coordinators = "writers"

// ErrNoCitus is the error of a database that cannot be distributed.
var ErrNoCitus = errors.New("the database has not the extension citus; install it on every node, run CREATE EXTENSION citus in the database, add the workers, and try again")

// Distribute spreads the tables and their rows over the nodes of Citus. It returns the
// tables that were not distributed before. Each table is a transaction of its own, so
// running it again goes on after a failure.
func (e *Engine) Distribute(ctx context.Context) (tables []string, err error) {
	conn, err := e.connect(ctx)
	if err != nil {
		return nil, unavailable(err)
	}
	defer conn.Close(context.WithoutCancel(ctx)) // it is used for nothing else
	var citus bool
	if err := conn.QueryRow(ctx, "SELECT EXISTS (SELECT FROM pg_extension WHERE extname = 'citus')").Scan(&citus); err != nil {
		return nil, unavailable(err)
	}
	if !citus {
		return nil, ErrNoCitus
	}
	done := map[string]bool{}
	group := map[string]string{} // of each column, a table that was distributed by it
	for _, s := range slices.Concat(shares, []share{{table: coordinators}}) {
		if done[s.table], err = asShared(ctx, conn, s); err != nil {
			return nil, fmt.Errorf("distribute %s: %w", s.table, explain(err))
		}
		if done[s.table] && group[s.column] == "" {
			group[s.column] = s.table
		}
	}
	for _, s := range shares {
		if done[s.table] {
			continue
		}
		if s.column == "" {
			_, err = conn.Exec(ctx, "SELECT create_reference_table($1::text::regclass)", s.table)
		} else {
			_, err = conn.Exec(ctx, "SELECT create_distributed_table($1::text::regclass, $2::text, colocate_with => $3::text)",
				s.table, s.column, cmp.Or(group[s.column], "none"))
			group[s.column] = cmp.Or(group[s.column], s.table)
		}
		if err != nil {
			return tables, fmt.Errorf("distribute %s: %w", s.table, explain(err))
		}
		tables = append(tables, s.table)
	}
	return tables, nil
}

// asShared reports whether a table is spread as s wants. It brings a table that was spread
// in another way back to the coordinator.
func asShared(ctx context.Context, conn *pgx.Conn, s share) (bool, error) {
	// A table that a foreign key connects to a reference table is known to Citus,
	// and stays on the coordinator all the same: a local table.
	var kind string
	err := conn.QueryRow(ctx, `SELECT coalesce((SELECT CASE WHEN to_jsonb(pg_dist_partition) @> '{"partmethod":"n","repmodel":"s"}' THEN 'local'
		WHEN partmethod = 'n' THEN 'everywhere' ELSE 'spread' END FROM pg_dist_partition WHERE logicalrelid = $1::text::regclass), 'local')`, s.table).Scan(&kind)
	want := "spread"
	switch {
	case s.table == coordinators:
		want = "local"
	case s.column == "":
		want = "everywhere"
	}
	if err == nil && kind != want && kind != "local" {
		_, err = conn.Exec(ctx, "SELECT undistribute_table($1::text::regclass)", s.table)
	}
	return kind == want, err
}

// loadShards asks for the rows of each prefix: a cluster locks rows of one shard at
// a time, and does not take a LIMIT for each of many keys of several.
func (t *table) loadShards(q *request, r *commerce.Rows, locked, others []keyed) {
	if t.Single || len(t.key) == 1 && t.Shard != schema.Everywhere { // each row may lie in another shard
		t.loadEach(q, r, locked)
		locked = nil
	}
	load := func(list []keyed, lock string) {
		for _, g := range groups(list) {
			queue(&q.Batch, func(s *scanner) { t.keyed.Fill(s, r, g.find(s.next())) }, t.inRange+lock, g.args()...)
		}
	}
	load(locked, " ORDER BY "+t.key[len(t.key)-1]+" FOR UPDATE")
	load(others, "")
}

// loadEach locks rows one by one, in the order of their keys.
func (t *table) loadEach(q *request, r *commerce.Rows, list []keyed) {
	for _, k := range list {
		queue(&q.Batch, func(s *scanner) { t.keyed.Fill(s, r, k.row) }, t.byKey+" FOR UPDATE", k.columns.args()...)
	}
}
