package postgres

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"purveyor/internal/commerce"
	"purveyor/internal/storage"
	"purveyor/internal/storage/storagetest"
	"purveyor/internal/testkit/pg"

	"github.com/jackc/pgx/v5"
)

// standIn does what Citus would do with the tables, and refuses what Citus refuses. As in Citus, a
// reference table turns the tables that refer to it into local tables of the coordinator
// (partmethod n, repmodel s), and a local table may become a reference table.
var standIn = []string{
	"CREATE SCHEMA stand_in",
	`CREATE TABLE stand_in.pg_dist_partition (logicalrelid regclass PRIMARY KEY, partmethod "char" NOT NULL, repmodel "char" NOT NULL,
		sharded_by text, colocated_with text)`,
	"CREATE TABLE stand_in.nodes_away (name text)",
	// Writes need a plan that knows the values, because = ANY($1) may mean several shards. Every
	// node has a reference table, so a node that is away stops its writes.
	`CREATE FUNCTION stand_in.refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
		IF current_setting('plan_cache_mode') = 'force_generic_plan' THEN
			RAISE 'could not create distributed plan' USING ERRCODE = '0A000';
		END IF;
		IF TG_ARGV[0] = 'reference' AND EXISTS (SELECT FROM stand_in.nodes_away) THEN
			RAISE 'connection to the remote node failed' USING ERRCODE = '08006';
		END IF;
		RETURN NULL;
	END $$`,
	`CREATE FUNCTION stand_in.add(t regclass, method "char", model "char", c text, colocate_with text) RETURNS void LANGUAGE plpgsql AS $$ BEGIN
		IF method = 'h' AND EXISTS (SELECT FROM pg_constraint f LEFT JOIN stand_in.pg_dist_partition o
			ON o.logicalrelid = CASE WHEN f.conrelid = t THEN f.confrelid ELSE f.conrelid END
			WHERE f.contype = 'f' AND t IN (f.conrelid, f.confrelid) AND o.sharded_by IS DISTINCT FROM c) THEN
			RAISE 'a foreign key of % leads to a table of another kind', t USING ERRCODE = '0A000';
		END IF;
		INSERT INTO stand_in.pg_dist_partition VALUES (t, method, model, c, colocate_with);
		EXECUTE format('CREATE OR REPLACE TRIGGER stand_in BEFORE INSERT OR UPDATE OR DELETE ON %s FOR EACH STATEMENT EXECUTE FUNCTION stand_in.refuse(%L)',
			t, CASE method WHEN 'n' THEN 'reference' ELSE 'distributed' END);
	END $$`,
	`CREATE FUNCTION stand_in.create_reference_table(t regclass) RETURNS void LANGUAGE sql AS $$
		DELETE FROM stand_in.pg_dist_partition WHERE logicalrelid = t AND partmethod = 'n' AND repmodel = 's';
		SELECT stand_in.add(t, 'n', 't', NULL, NULL);
		INSERT INTO stand_in.pg_dist_partition SELECT DISTINCT conrelid::regclass, 'n'::"char", 's'::"char" FROM pg_constraint
			WHERE contype = 'f' AND confrelid = t ON CONFLICT (logicalrelid) DO NOTHING $$`,
	`CREATE FUNCTION stand_in.create_distributed_table(t regclass, c text, distribution_type text DEFAULT 'hash', colocate_with text DEFAULT 'default')
		RETURNS void LANGUAGE sql AS $$ SELECT stand_in.add(t, 'h', 's', c, colocate_with) $$`,
	`CREATE FUNCTION stand_in.undistribute_table(t regclass) RETURNS void LANGUAGE plpgsql AS $$ BEGIN
		DELETE FROM stand_in.pg_dist_partition WHERE logicalrelid = t;
		EXECUTE format('DROP TRIGGER IF EXISTS stand_in ON %s', t);
	END $$`,
	"SET allow_system_table_mods = on",
	`INSERT INTO pg_extension (oid, extname, extowner, extnamespace, extrelocatable, extversion)
		VALUES (90001, 'citus', 10, 'stand_in'::regnamespace, false, '13.2')`,
}

// cluster opens a database that has the stand-in for Citus from now on.
func cluster(t *testing.T, url string) *Engine {
	t.Helper()
	run(t, url, standIn...)
	return address(withStandIn(url)).Open(t, time.Now).(*Engine)
}

// withStandIn is the address of a database in which the functions of the stand-in are found.
func withStandIn(url string) string { return url + "&search_path=public,stand_in" }

// distributed is a database whose tables are distributed by the stand-in.
func distributed(t testing.TB) address {
	t.Helper()
	return address(withStandIn(pg.Shared(t).Clone(t, "distributed", func(url string) error {
		if err := fill(t.Context(), url, false); err != nil {
			return err
		}
		run(t, url, standIn...)
		return fill(t.Context(), withStandIn(url), true)
	})))
}

// TestStandInRefuses: what Citus refuses is refused here, too, so that no other test passes with it.
func TestStandInRefuses(t *testing.T) {
	ctx := context.Background()
	db := distributed(t)
	e := db.Open(t, time.Now).(*Engine)
	keys := seedStock(t, e, "sto_1", "sto_2")
	change := func(e *Engine, partner bool) error {
		needs := commerce.Needs{Stock: keys, Partners: []string{"ptn_1"}, Lock: partner}
		b, err := e.Load(ctx, needs)
		if err != nil {
			return err
		}
		defer b.Discard()
		var c commerce.Changes
		for _, k := range keys {
			s, _ := b.Rows().Stock.Get(k)
			s.Quantity++
			c.Stock = append(c.Stock, s)
		}
		if partner {
			c.Partners = []commerce.Partner{{ID: "ptn_1"}}
		}
		storagetest.Apply(b, storagetest.WithMoves(b.Rows(), c, b.Stamp()))
		return b.Save(ctx)
	}
	if err := errors.Join(change(e, false), change(e, true)); err != nil {
		t.Fatalf("with all nodes: %v", err)
	}
	run(t, string(db), "INSERT INTO stand_in.nodes_away VALUES ('a')")
	if err := change(e, false); err != nil {
		t.Errorf("stock needs a node that has none of it: %v", err)
	}
	if err := change(e, true); !errors.Is(err, storage.ErrNode) {
		t.Errorf("a partner is changed without a node that has all partners: %v", err)
	}
	run(t, string(db), "DELETE FROM stand_in.nodes_away")
	plain := db.Open(t, time.Now).(*Engine)
	plain.spread = false
	if err := change(plain, false); err == nil || !strings.Contains(err.Error(), "0A000") {
		t.Errorf("a plan for any values: %v", err)
	}
	url := database(t)
	e = cluster(t, url)
	run(t, url, "ALTER TABLE jobs ADD COLUMN job_order text", "ALTER TABLE refunds ADD UNIQUE (id)", "ALTER TABLE jobs ADD FOREIGN KEY (job_order) REFERENCES refunds (id)")
	if _, err := e.Distribute(ctx); err == nil || !strings.Contains(err.Error(), "foreign key") {
		t.Errorf("a foreign key between tables of different kinds: %v", err)
	}
}

// TestPlansOfACluster: only one server is asked for plans that look at no values.
func TestPlansOfACluster(t *testing.T) {
	ctx := context.Background()
	url := database(t)
	show := func(q interface {
		QueryRow(context.Context, string, ...any) pgx.Row
	}) (mode string) {
		t.Helper()
		if err := q.QueryRow(ctx, "SHOW plan_cache_mode").Scan(&mode); err != nil {
			t.Fatal(err)
		}
		return mode
	}
	check := func(e *Engine, want string) {
		t.Helper()
		w, err := e.takeWriter(ctx)
		if err != nil {
			t.Fatal(err)
		}
		defer func() { e.free <- w }()
		if writes, reads := show(w.conn), show(e.readers); writes != want || reads != want {
			t.Errorf("plan_cache_mode is %s for writes and %s for reads, want %s", writes, reads, want)
		}
	}
	check(address(url).Open(t, time.Now).(*Engine), "force_generic_plan")
	check(cluster(t, url), "auto")
}

// TestLocksOfACluster: the nodes, which have the locks, know only the settings of a
// transaction, and these only if the coordinator passes them on.
func TestLocksOfACluster(t *testing.T) {
	ctx := context.Background()
	e := cluster(t, database(t))
	w, err := e.takeWriter(ctx)
	if err != nil {
		t.Fatal(err)
	}
	_, err = w.conn.Exec(ctx, "SET lock_timeout = 0") // of the session
	e.free <- w
	if err != nil {
		t.Fatal(err)
	}
	b, err := e.Load(ctx, commerce.Needs{})
	if err != nil {
		t.Fatal(err)
	}
	defer b.Discard()
	var locks, passes string
	err = w.conn.QueryRow(ctx, "SELECT current_setting('lock_timeout'), current_setting('citus.propagate_set_commands')").Scan(&locks, &passes)
	if err != nil || locks != lockTime || passes != "local" {
		t.Errorf("a batch waits %s for a lock, settings passed on: %s, %v; want %s and local", locks, passes, err, lockTime)
	}
}

func TestDistribute(t *testing.T) {
	url := database(t)
	ctx := context.Background()
	plain := address(url).Open(t, time.Now).(*Engine)
	if _, err := plain.Distribute(ctx); !errors.Is(err, ErrNoCitus) {
		t.Errorf("without the extension: %v", err)
	}
	conn, err := pgx.Connect(ctx, url)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(ctx)
	e := cluster(t, url)
	// A database of before, where a foreign key led to a reference table.
	run(t, url, "SELECT stand_in.create_reference_table('writers')", "SELECT stand_in.create_reference_table('endpoints')",
		"ALTER TABLE api_keys ADD CONSTRAINT before FOREIGN KEY (partner_id) REFERENCES partners (id)",
		"SELECT stand_in.create_reference_table('partners')", "ALTER TABLE api_keys DROP CONSTRAINT before",
		"DELETE FROM stand_in.pg_dist_partition WHERE logicalrelid = 'partners'::regclass")
	if tables, err := e.Distribute(ctx); err != nil || len(tables) != len(shares) {
		t.Fatalf("%v %v", tables, err)
	}
	if tables, err := e.Distribute(ctx); err != nil || len(tables) != 0 {
		t.Errorf("once more: %v %v", tables, err)
	}
	// Broken off in the middle, it goes on where it was, in the same groups.
	if _, err := conn.Exec(ctx, "SELECT stand_in.undistribute_table('orders')"); err != nil {
		t.Fatal(err)
	}
	if tables, err := e.Distribute(ctx); err != nil || !slices.Equal(tables, []string{"orders"}) {
		t.Errorf("the rest: %v %v", tables, err)
	}
	for what, sql := range faultsOfShares {
		rows, err := conn.Query(ctx, sql)
		if err != nil {
			t.Fatal(err)
		}
		faults, err := pgx.CollectRows(rows, pgx.RowTo[string])
		if err != nil || len(faults) > 0 {
			t.Errorf("%s: %v %v", what, faults, err)
		}
	}
}

// What a distributed engine refuses, asked of the real schema: each query
// gives the faults.
var faultsOfShares = map[string]string{
	"left out": `SELECT relname::text FROM pg_class WHERE relnamespace = 'public'::regnamespace AND relkind IN ('r', 'p') AND relname <> 'writers'
		AND oid NOT IN (SELECT logicalrelid FROM stand_in.pg_dist_partition)`,
	"unique without the column that it is distributed by": `SELECT i.indexrelid::regclass::text FROM pg_index i JOIN stand_in.pg_dist_partition p ON p.logicalrelid = i.indrelid
		WHERE i.indisunique AND p.sharded_by IS NOT NULL AND NOT EXISTS (SELECT FROM pg_attribute a
			WHERE a.attrelid = i.indrelid AND a.attname = p.sharded_by AND a.attnum = ANY(i.indkey))`,
	"the column may be null": `SELECT p.logicalrelid::text FROM stand_in.pg_dist_partition p JOIN pg_attribute a ON a.attrelid = p.logicalrelid AND a.attname = p.sharded_by
		WHERE NOT a.attnotnull`,
	"the coordinator's own, on every node": `SELECT logicalrelid::text FROM stand_in.pg_dist_partition WHERE logicalrelid = 'writers'::regclass`,
	"no such column": `SELECT p.logicalrelid::text FROM stand_in.pg_dist_partition p WHERE p.sharded_by IS NOT NULL
		AND NOT EXISTS (SELECT FROM pg_attribute a WHERE a.attrelid = p.logicalrelid AND a.attname = p.sharded_by)`,
	"a group of another column": `SELECT p.logicalrelid::text FROM stand_in.pg_dist_partition p WHERE p.partmethod = 'h' AND p.colocated_with <> 'none'
		AND NOT EXISTS (SELECT FROM stand_in.pg_dist_partition g WHERE g.logicalrelid = p.colocated_with::regclass
			AND g.colocated_with = 'none' AND g.sharded_by = p.sharded_by)`,
	// Without one, a cluster moves no rows of a store, or partner, while they are written to.
	"no replica identity": `SELECT p.logicalrelid::text FROM stand_in.pg_dist_partition p JOIN pg_class c ON c.oid = p.logicalrelid
		WHERE c.relreplident <> 'f' AND NOT EXISTS (SELECT FROM pg_index i WHERE i.indrelid = c.oid AND i.indisprimary)`,
	"a foreign key":                 `SELECT conname::text FROM pg_constraint WHERE contype = 'f' AND connamespace = 'public'::regnamespace`,
	"left local on the coordinator": `SELECT logicalrelid::text FROM stand_in.pg_dist_partition WHERE partmethod = 'n' AND repmodel = 's'`,
	"a trigger, a sequence or a rule": `SELECT tgname::text FROM pg_trigger WHERE NOT tgisinternal AND tgname <> 'stand_in' UNION ALL
		SELECT sequencename::text FROM pg_sequences WHERE schemaname = 'public' UNION ALL SELECT rulename::text FROM pg_rules WHERE schemaname = 'public'`,
}
