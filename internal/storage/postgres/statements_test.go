package postgres

import (
	"io/fs"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"purveyor/internal/storage/storagetest"
	"purveyor/internal/testkit/pg"
)

// TestConformance runs the suite, then checks that every statement that was
// sent finds its rows by an index.
func TestConformance(t *testing.T) {
	sent := sentBy(t, fresh)
	if !pg.Shared(t).Cluster() { // it has plans of its own
		checkPlans(t, sent)
	}
}

// TestConformanceOfCluster runs the suite with what is sent to a cluster, and
// checks that every statement is fit for one.
func TestConformanceOfCluster(t *testing.T) {
	for sql := range sentBy(t, func(t testing.TB) storagetest.Database { return distributed(t) }) {
		for _, fault := range unfit(sql) {
			t.Errorf("%s\n  %s", fault, sql)
		}
	}
}

// sentBy runs the suite, and gives the statements that were sent.
func sentBy(t *testing.T, fresh func(testing.TB) storagetest.Database) map[string]bool {
	pg.Shared(t) // without it there are no statements to look at
	var mu sync.Mutex
	sent := map[string]bool{}
	observe = func(sql string) {
		mu.Lock()
		defer mu.Unlock()
		sent[strings.Join(strings.Fields(sql), " ")] = true
	}
	t.Run("suite", func(t *testing.T) { storagetest.Run(t, fresh) })
	observe = nil
	for _, sql := range migrating(t) { // once in the life of a database, over all of its rows
		delete(sent, sql)
	}
	if len(sent) < 60 {
		t.Errorf("only %d statements were sent", len(sent))
	}
	return sent
}

// migrating are the statements of all migrations, as observe sees them.
func migrating(t *testing.T) (list []string) {
	files, err := fs.Glob(migrationFiles, "migrations/*.sql")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		script, err := migrationFiles.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, sql := range statements(string(script)) {
			list = append(list, strings.Join(strings.Fields(sql), " "))
		}
	}
	return list
}

// Statements must not have what some engine refuses, or does not keep.
var never = map[string]*regexp.Regexp{
	"two statements in one":                 regexp.MustCompile(`;`),
	"unnest with ON CONFLICT":               regexp.MustCompile(`unnest.*ON CONFLICT`),
	"no statement of every engine":          regexp.MustCompile(`^(MERGE|LISTEN|NOTIFY|LOCK|TRUNCATE|COPY|DECLARE)\b`),
	"a lock that only one node knows":       regexp.MustCompile(`(?i)advisory`),
	"a level that is not kept over nodes":   regexp.MustCompile(`(?i)ISOLATION LEVEL (SERIALIZABLE|REPEATABLE READ$)`),
	"constraints by name":                   regexp.MustCompile(`ON CONSTRAINT|DEFERR`),
	"a division of integers":                regexp.MustCompile(` / `),
	"an element of an array in an UPDATE":   regexp.MustCompile(`UPDATE.*\[[^\]]`),
	"a volatile function":                   regexp.MustCompile(`(?i)(random|clock_timestamp|timeofday|gen_random_uuid|nextval|statement_timestamp)\(`),
	"rows skipped in a page of one node":    regexp.MustCompile(`\bOFFSET\b`),
	"a lock over what is more than one row": regexp.MustCompile(`(JOIN|unnest|WITH) .*FOR (NO KEY )?UPDATE`),
	"a LIMIT for each of many keys":         regexp.MustCompile(`FROM unnest\(\$1.* AS (k \(k1|u \(store_id), .*LATERAL .*LIMIT`),
}

// allShards are the statements that may ask every shard: pages over all
// stores, sweeps, and what is listed for an operator. Those that are sent often
// read versions only, not what is behind them.
var allShards = regexp.MustCompile(`^SELECT (count\(\*\), max\(updated_on\)|store_id, product_id, updated_on, .*) FROM stock WHERE .*\(updated_on, product_id\) > ` +
	`|^SELECT .* FROM stock WHERE \(store_id, product_id\) > ` +
	`|^SELECT store_id, product_id FROM product_news WHERE next_on <= \$1 ORDER BY .* LIMIT ` +
	`|^SELECT .* FROM audit WHERE id < ` +
	`|^SELECT code, since FROM attention WHERE resolved_on = 0 ` +
	`|^SELECT (count\(\*\), .* FROM \(SELECT created_on|store_id, id) FROM orders WHERE status = \$1 AND status IN ` +
	`|^(SELECT \* FROM \()?SELECT store_id, id, updated_on AS stamp, created_on, id AS name, .* FROM orders WHERE partner_id = \$\d AND mode = \$\d AND created_on >= .* LIMIT ` +
	`|^SELECT id, (created_on|updated_on) FROM orders WHERE partner_id = \$1 AND mode = \$2 AND (created_on|updated_on) >= ` +
	`|^SELECT .* FROM payments WHERE \(store_id, order_id\) > ` +
	`|^SELECT partner_id, (sum\(bytes\)::bigint|hour) FROM stored_replies ` +
	`|^SELECT partner_id, digest FROM replies WHERE created_on < \$1 ` +
	`|^SELECT slot, id FROM jobs WHERE (run_at < \$1 AND .*)?state = '(parked|dead|given_up)'` +
	`|^SELECT slot, id, kind, .* FROM jobs WHERE state = '(parked|held|dead|given_up)' AND .*LIMIT \$5$` +
	`|^(SELECT|DELETE) .*FROM (outbox|courier_notices) WHERE id < ` +
	`|^SELECT .* FROM courier_notices WHERE delivery_id = ` +
	`|^SELECT id FROM (sessions|sign_in_counts) WHERE (expires_on|since) < ` +
	`|^SELECT store_id, id.* FROM orders WHERE status = \$1 AND status IN \([^)]*\) ORDER BY created_on` +
	`|^SELECT .* FROM sessions WHERE user_id = ` +
	`|^SELECT partner_id, failing_since, .* FROM endpoints$` +
	`|^SELECT kind, state, count.* FROM jobs WHERE state = '\w+'( AND kind = 'refund_payment')? ORDER BY .* LIMIT \$1\) AS few GROUP BY kind, state$` +
	`|^SELECT min\(floor\) FROM store_writers WHERE until > now\(\)$`)

var tableNames = func() string {
	var list []string
	for _, s := range shares {
		list = append(list, s.table)
	}
	return strings.Join(list, "|")
}()

var (
	mentions = regexp.MustCompile(`\b(?:FROM|JOIN|INTO|UPDATE) (` + tableNames + `)\b`)
	inserts  = regexp.MustCompile(`^INSERT INTO (\w+) \(([^)]*)\) (SELECT|VALUES)`)
)

// unfit says what is wrong with a statement.
func unfit(sql string) (faults []string) {
	for what, found := range never {
		if found.MatchString(sql) && sql != clockSQL {
			faults = append(faults, what)
		}
	}
	columns := map[string]bool{} // by which the tables are spread
	for _, m := range mentions.FindAllStringSubmatch(sql, -1) {
		if c := columnOf(m[1]); c != "" {
			columns[c] = true
		}
	}
	if len(columns) > 1 {
		faults = append(faults, "tables of two groups")
	}
	if m := inserts.FindStringSubmatch(sql); m != nil {
		return append(faults, unfitInsert(m[1], m[2], m[3])...)
	}
	for column := range columns {
		byValue := regexp.MustCompile(`\b` + column + ` = \$\d`).MatchString(sql)
		byList := regexp.MustCompile(`\b` + column + ` = ANY\(\$\d`).MatchString(sql)
		if !byValue && !byList && !allShards.MatchString(sql) {
			faults = append(faults, "does not name "+column)
		}
		if strings.Contains(sql, "FOR UPDATE") && !byValue {
			faults = append(faults, "locks more than one "+column)
		}
	}
	return faults
}

// unfitInsert: a row must say where it belongs; rows that another process may
// insert, too, are listed one by one, since a broken key is not told from
// other faults else.
func unfitInsert(table, columns, form string) (faults []string) {
	if c := columnOf(table); c != "" && !slices.Contains(strings.Split(columns, ", "), c) {
		faults = append(faults, "a row without "+c)
	}
	ours := []string{"orders", "timeline", "webhook_events", "webhook_attempts", "jobs", "outbox", "payments", "ledger", "deliveries", "courier_notices",
		"stock_moves", "stock_notes", "attention", "audit"} // of orders and stock, whose rows are locked
	if form == "SELECT" && !slices.Contains(ours, table) {
		faults = append(faults, "unnest of rows that may be there already")
	}
	return faults
}

func columnOf(table string) string {
	i := slices.IndexFunc(shares, func(s share) bool { return s.table == table })
	if i < 0 {
		return ""
	}
	return shares[i].column
}

// The rules find what they are for.
func TestUnfit(t *testing.T) {
	for _, sql := range []string{
		"SELECT 1; SELECT 2",
		"INSERT INTO replies (partner_id) SELECT * FROM unnest($1::text[]) ON CONFLICT DO NOTHING",
		"INSERT INTO replies (partner_id) SELECT * FROM unnest($1::text[])",
		"INSERT INTO orders (id) VALUES ($1)",
		"UPDATE stock SET quantity = ($1::bigint[])[1] WHERE store_id = $2",
		"UPDATE stock AS t SET quantity = u.quantity FROM unnest($1::bigint[], $2::text[]) AS u (quantity, store_id) WHERE t.store_id = u.store_id",
		"UPDATE stock SET updated_on = random() WHERE store_id = $1",
		"SELECT quantity FROM stock WHERE product_id = ANY($1)",
		"SELECT quantity FROM stock WHERE store_id = ANY($1) AND product_id = ANY($2) FOR UPDATE",
		"SELECT status FROM external_ids JOIN orders ON orders.store_id = $1 AND external_ids.partner_id = $2",
		"DELETE FROM replies WHERE created_on < $1",
		"SELECT pg_advisory_lock($1)",
		"SELECT total_cents / 100 FROM orders WHERE store_id = $1",
	} {
		if len(unfit(sql)) == 0 {
			t.Errorf("nothing is found in %s", sql)
		}
	}
}

// Migrations are sent one statement at a time.
func TestMigrationsAreSingleStatements(t *testing.T) {
	files, err := fs.Glob(migrationFiles, "migrations/*.sql")
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	for _, file := range files {
		script, err := migrationFiles.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, sql := range statements(string(script)) {
			if strings.Contains(sql, ";") || !regexp.MustCompile(`^(CREATE (UNIQUE )?(TABLE|INDEX)|ALTER TABLE|INSERT INTO|UPDATE|DROP|WITH [a-z]+ AS) `).MatchString(sql) {
				t.Errorf("%s: %s", file, sql)
			}
		}
	}
}
