package postgres

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"purveyor/internal/pgtest"

	"github.com/jackc/pgx/v5"
)

// standIn records what Citus would be asked to do.
var standIn = []string{
	"CREATE SCHEMA stand_in",
	"CREATE TABLE stand_in.pg_dist_partition (logicalrelid regclass PRIMARY KEY, partmethod text NOT NULL, sharded_by text, colocated_with text)",
	`CREATE FUNCTION stand_in.create_reference_table(t regclass) RETURNS void LANGUAGE sql AS
		$$ INSERT INTO stand_in.pg_dist_partition VALUES (t, 'n') $$`,
	`CREATE FUNCTION stand_in.create_distributed_table(t regclass, c text, distribution_type text DEFAULT 'hash', colocate_with text DEFAULT 'default')
		RETURNS void LANGUAGE sql AS $$ INSERT INTO stand_in.pg_dist_partition VALUES (t, 'h', c, colocate_with) $$`,
	"SET allow_system_table_mods = on",
	`INSERT INTO pg_extension (oid, extname, extowner, extnamespace, extrelocatable, extversion)
		VALUES (90001, 'citus', 10, 'stand_in'::regnamespace, false, '13.2')`,
}

func TestDistribute(t *testing.T) {
	url := pgtest.Shared(t).Database(t)
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
	for _, sql := range standIn {
		if _, err := conn.Exec(ctx, sql); err != nil {
			t.Fatalf("%s: %v", sql, err)
		}
	}
	separator := "?"
	if strings.Contains(url, "?") {
		separator = "&"
	}
	e := address(url+separator+"search_path=public,stand_in").Open(t, time.Now).(*Engine)
	if tables, err := e.Distribute(ctx); err != nil || len(tables) != len(shares) {
		t.Fatalf("%v %v", tables, err)
	}
	if tables, err := e.Distribute(ctx); err != nil || len(tables) != 0 {
		t.Errorf("once more: %v %v", tables, err)
	}
	// Broken off in the middle, it goes on where it was, in the same groups.
	if _, err := conn.Exec(ctx, "DELETE FROM stand_in.pg_dist_partition WHERE logicalrelid = 'orders'::regclass"); err != nil {
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
	"left out": `SELECT relname::text FROM pg_class WHERE relnamespace = 'public'::regnamespace AND relkind IN ('r', 'p')
		AND oid NOT IN (SELECT logicalrelid FROM stand_in.pg_dist_partition)`,
	"unique without the column that it is distributed by": `SELECT i.indexrelid::regclass::text FROM pg_index i JOIN stand_in.pg_dist_partition p ON p.logicalrelid = i.indrelid
		WHERE i.indisunique AND p.sharded_by IS NOT NULL AND NOT EXISTS (SELECT FROM pg_attribute a
			WHERE a.attrelid = i.indrelid AND a.attname = p.sharded_by AND a.attnum = ANY(i.indkey))`,
	"the column may be null": `SELECT p.logicalrelid::text FROM stand_in.pg_dist_partition p JOIN pg_attribute a ON a.attrelid = p.logicalrelid AND a.attname = p.sharded_by
		WHERE NOT a.attnotnull`,
	"no such column": `SELECT p.logicalrelid::text FROM stand_in.pg_dist_partition p WHERE p.sharded_by IS NOT NULL
		AND NOT EXISTS (SELECT FROM pg_attribute a WHERE a.attrelid = p.logicalrelid AND a.attname = p.sharded_by)`,
	"a group of another column": `SELECT p.logicalrelid::text FROM stand_in.pg_dist_partition p WHERE p.partmethod = 'h' AND p.colocated_with <> 'none'
		AND NOT EXISTS (SELECT FROM stand_in.pg_dist_partition g WHERE g.logicalrelid = p.colocated_with::regclass
			AND g.colocated_with = 'none' AND g.sharded_by = p.sharded_by)`,
	"a foreign key of what is distributed": `SELECT c.conname::text FROM pg_constraint c JOIN stand_in.pg_dist_partition p ON p.logicalrelid IN (c.conrelid, c.confrelid)
		WHERE c.contype = 'f' AND p.partmethod = 'h'`,
	"a trigger, a sequence or a rule": `SELECT tgname::text FROM pg_trigger WHERE NOT tgisinternal UNION ALL
		SELECT sequencename::text FROM pg_sequences WHERE schemaname = 'public' UNION ALL SELECT rulename::text FROM pg_rules WHERE schemaname = 'public'`,
}
