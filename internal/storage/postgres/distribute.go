package postgres

import (
	"context"
	"errors"
	"fmt"
)

// share is how a table is spread over the nodes of a distributed PostgreSQL:
// by the values of a column, or whole on each node.
type share struct {
	table, column string // no column: whole on each node
}

// shares are all tables: what belongs to a store by store_id, what is unique
// for a partner by partner_id, jobs by slot; what is small and read by all is
// on each node, because the others may refer to it. The first table of a
// column begins its group, which the others of that column join.
var shares = []share{
	{"schema_version", ""}, {"migrations", ""}, {"meta", ""}, {"writers", ""},
	{"partners", ""}, {"api_keys", ""}, {"categories", ""}, {"stores", ""}, {"endpoints", ""},
	{"products", "store_id"}, {"stock", "store_id"}, {"stock_moves", "store_id"}, {"stock_notes", "store_id"}, {"orders", "store_id"}, {"timeline", "store_id"}, {"customers", "store_id"},
	{"payments", "store_id"}, {"refunds", "store_id"}, {"ledger", "store_id"}, {"deliveries", "store_id"},
	{"attention", "store_id"}, {"mail_counts", "owner"},
	{"replies", "partner_id"}, {"stored_replies", "partner_id"}, {"external_ids", "partner_id"}, {"rate_windows", "partner_id"}, {"webhook_events", "partner_id"},
	{"webhook_attempts", "partner_id"},
	{"product_stores", "product_id"},
	{"jobs", "slot"},
	{"outbox", "id"}, {"sandbox_objects", "id"},
	{"courier_notices", "id"}, {"places", "address"},
}

// ErrNoCitus says that the database cannot be distributed.
var ErrNoCitus = errors.New("the database has not the extension citus; install it on every node, run CREATE EXTENSION citus in the database, add the workers, and try again")

// Distribute spreads the tables over the nodes of Citus, rows that are there
// included, and returns those that were not distributed yet. Each table is a
// transaction of its own: what broke off is done by running it again.
func (e *Engine) Distribute(ctx context.Context) (tables []string, err error) {
	conn, err := e.connect(ctx)
	if err != nil {
		return nil, unavailable(err)
	}
	defer conn.Close(context.WithoutCancel(ctx)) // it was used for this alone
	var citus bool
	if err := conn.QueryRow(ctx, "SELECT EXISTS (SELECT FROM pg_extension WHERE extname = 'citus')").Scan(&citus); err != nil {
		return nil, unavailable(err)
	}
	if !citus {
		return nil, ErrNoCitus
	}
	// A table that a foreign key connects to a reference table is known to Citus,
	// and stays on the coordinator all the same: a local table.
	const isDone = `SELECT EXISTS (SELECT FROM pg_dist_partition WHERE logicalrelid = $1::text::regclass
		AND NOT (to_jsonb(pg_dist_partition) @> '{"partmethod":"n","repmodel":"s"}'))`
	first := map[string]string{} // table of each column
	for _, s := range shares {
		group := first[s.column]
		if group == "" {
			first[s.column], group = s.table, "none"
		}
		var done bool
		err := conn.QueryRow(ctx, isDone, s.table).Scan(&done)
		switch {
		case err != nil || done:
		case s.column == "":
			_, err = conn.Exec(ctx, "SELECT create_reference_table($1::text::regclass)", s.table)
		default:
			_, err = conn.Exec(ctx, "SELECT create_distributed_table($1::text::regclass, $2::text, colocate_with => $3::text)", s.table, s.column, group)
		}
		if err != nil {
			return tables, fmt.Errorf("distribute %s: %w", s.table, explain(err))
		}
		if !done {
			tables = append(tables, s.table)
		}
	}
	return tables, nil
}
