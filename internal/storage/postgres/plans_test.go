package postgres

import (
	"context"
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"testing"
	"time"

	"purveyor/internal/storage/schema"

	"github.com/jackc/pgx/v5"
)

// checkPlans asks PostgreSQL how it would run the statements, whatever their
// values: on empty tables, which is what it may still take full ones for, and
// on full ones.
func checkPlans(t *testing.T, sent map[string]bool) {
	ctx := context.Background()
	for _, rows := range []int{0, 4000} {
		url := database(t)
		e := address(url).Open(t, time.Now).(*Engine)
		fillTables(t, url, rows)
		writer, err := e.connectWriter(ctx)
		if err != nil {
			t.Fatal(err)
		}
		defer writer.Close(ctx)
		reader, err := e.readers.Acquire(ctx)
		if err != nil {
			t.Fatal(err)
		}
		defer reader.Release()
		checked := 0
		for sql := range sent {
			if !regexp.MustCompile(`^(SELECT|UPDATE|DELETE)`).MatchString(sql) {
				continue
			}
			checked++
			conn := reader.Conn()
			if !strings.HasPrefix(sql, "SELECT") || strings.Contains(sql, "FOR UPDATE") {
				conn = writer
			}
			for _, fault := range planOf(t, conn, sql).faults(sql, rows == 0) {
				t.Errorf("with %d rows: %s\n  %s", rows, fault, sql)
			}
		}
		for _, table := range []string{"external_ids", "customers", "replies", "partners", "stores", "product_stores"} {
			sql := textOf(table).inRange
			for _, fault := range planOf(t, writer, sql).faults(sql, rows == 0) { // batches send what readers send
				t.Errorf("with %d rows, in a batch: %s\n  %s", rows, fault, sql)
			}
		}
		if checked < 40 {
			t.Errorf("only %d statements were checked", checked)
		}
	}
}

// fillTables gives every table rows of a few stores, partners and modes, and
// has the server count them.
func fillTables(t *testing.T, url string, rows int) {
	t.Helper()
	ctx := context.Background()
	conn, err := pgx.Connect(ctx, url)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(ctx)
	for _, p := range schema.Plains {
		found, _ := conn.Query(ctx, `SELECT CASE
			WHEN table_name IN ('endpoints', 'faults', 'certifications') AND column_name = 'partner_id' THEN '''partner_id_'' || i'
			WHEN table_name = 'partners' AND column_name = 'id' THEN '''partner_id_'' || i'
			WHEN column_name = 'slot' THEN 'i % 5'
			WHEN column_name = 'state' THEN '(ARRAY[''waiting'', ''parked'', ''dead''])[1 + i % 3]'
			WHEN column_name IN ('kind', 'owner') THEN '''' || column_name || '_'' || i % 5'
			WHEN column_name IN ('store_id', 'partner_id', 'category_id') THEN '''' || column_name || '_'' || i % 5'
			WHEN column_name = 'mode' AND table_name <> 'api_keys' THEN '''mode_'' || i % 2'
			WHEN data_type = 'text' THEN '''' || column_name || '_'' || i'
			WHEN data_type = 'boolean' THEN 'i % 2 = 0'
			WHEN data_type = 'bytea' THEN 'decode(md5(i::text), ''hex'')'
			WHEN column_name = 'amount_cents' THEN 'i + 1'
			ELSE 'i' END FROM information_schema.columns WHERE table_schema = 'public' AND table_name = $1 ORDER BY ordinal_position`, p.Name)
		values, err := pgx.CollectRows(found, pgx.RowTo[string])
		if err != nil {
			t.Fatal(err)
		}
		if _, err := conn.Exec(ctx, fmt.Sprintf("INSERT INTO %s SELECT %s FROM generate_series(0, %d) AS i", p.Name, strings.Join(values, ", "), rows-1)); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := conn.Exec(ctx, "VACUUM ANALYZE"); err != nil {
		t.Fatal(err)
	}
}

// plan is a node of what EXPLAIN tells.
type plan struct {
	Kind  string `json:"Node Type"`
	Table string `json:"Relation Name"`
	Index string `json:"Index Name"`
	Cond  string `json:"Index Cond"`
	Plans []plan
}

// planOf is the plan for any values, which stand as NULL.
func planOf(t *testing.T, conn *pgx.Conn, sql string) plan {
	t.Helper()
	ctx := context.Background()
	statement, err := conn.Prepare(ctx, "explained", sql)
	if err != nil {
		t.Fatalf("%s: %v", sql, err)
	}
	execute := "EXECUTE explained"
	if n := len(statement.ParamOIDs); n > 0 {
		execute += "(NULL" + strings.Repeat(", NULL", n-1) + ")"
	}
	var text []byte
	if err := conn.QueryRow(ctx, "EXPLAIN (FORMAT JSON) "+execute, pgx.QueryExecModeSimpleProtocol).Scan(&text); err != nil {
		t.Fatalf("%s: %v", sql, err)
	}
	if err := conn.Deallocate(ctx, "explained"); err != nil {
		t.Fatal(err)
	}
	var explained []struct{ Plan plan }
	if err := json.Unmarshal(text, &explained); err != nil || len(explained) != 1 {
		t.Fatalf("%v: %s", err, text)
	}
	return explained[0].Plan
}

var (
	// Small tables, which may be read from end to end.
	listedWhole = regexp.MustCompile(`^(categories|partners|users|endpoints|stored_replies|writers|meta|schema_version|migrations)$`)
	// foundBy are the columns that rows of the others are found by, one way or
	// another: a part of them would lead to all rows of a store or a partner.
	// Those of the first ones are found so even by a server that takes the table
	// for empty. The others it may look for by a part of the key until it knows
	// better: it is told after an import, and finds out by itself within its
	// autovacuum_naptime.
	unmistakable = regexp.MustCompile(`^(orders|timeline|customers|external_ids|rate_windows|product_stores)$`)
	foundBy      = map[string][][]string{
		"api_keys":       {{"partner_id"}, {"hash"}},
		"partner_keys":   {{"id"}, {"partner_id"}, {"hash"}, {"revoked_on"}, {"expires_on"}},
		"product_stores": {{"product_id"}},
		"stores":         {{"id"}, {"no"}, {"band", "lng"}},
		"products":       {{"store_id", "id"}, {"store_id", "sku"}},
		"stock":          {{"store_id", "product_id"}, {"ROW(store_id, product_id) >"}, {"ROW(updated_on, product_id) >"}, {"store_id", "updated_on IS NOT NULL"}},
		"stock_moves":    {{"at", "seq"}},
		"stock_notes":    {{"store_id", "product_id"}},
		"orders": {{"store_id", "id"}, {"status"}, {"customer_id"}, {"partner_id", "mode", "created_on"}, {"partner_id", "mode", "updated_on"},
			{"partner_id = k.partner", "mode = k.mode"}}, // the newest ones
		"timeline":         {{"store_id", "order_id"}},
		"payments":         {{"store_id", "order_id"}},
		"ledger":           {{"store_id", "order_id"}},
		"refunds":          {{"store_id", "id"}, {"store_id", "order_id"}},
		"sandbox_objects":  {{"id"}},
		"faults":           {{"partner_id"}},
		"certifications":   {{"partner_id"}},
		"deliveries":       {{"store_id", "order_id"}},
		"attention":        {{"store_id", "order_id"}, {"store_id = ANY"}, {"since"}, {"store_id", "ROW(since, order_id, code) >"}},
		"mail_counts":      {{"owner", "name"}},
		"courier_notices":  {{"delivery_id"}, {"id"}},
		"places":           {{"address"}},
		"customers":        {{"store_id", "contact"}},
		"external_ids":     {{"partner_id", "mode", "external_id"}},
		"replies":          {{"partner_id", "digest"}, {"created_on"}},
		"rate_windows":     {{"partner_id", "mode", "minute"}},
		"webhook_events":   {{"partner_id"}},
		"webhook_attempts": {{"partner_id", "event_id"}, {"partner_id", "endpoint_id"}},
		"jobs":             {{"slot", "id"}, {"slot", "run_at"}, {"owner"}, {"run_at"}},
		"outbox":           {{"id"}},
		"audit":            {{"store_id", "id"}, {"id"}},
		"users":            {{"id"}, {"email"}},
		"members":          {{"id"}, {"email"}, {"partner_id"}},
		"sessions":         {{"id"}, {"user_id"}, {"expires_on"}},
		"sign_in_links":    {{"user_id"}, {"hash"}},
		"sign_in_counts":   {{"id"}, {"since"}},
		"saved_views":      {{"user_id"}},
		"hour_sums":        {{"store_id", "day"}},
		"sum_positions":    {{"name"}},
		"feed_places":      {{"name"}},
		"product_news":     {{"store_id", "product_id"}, {"next_on"}},
	}
	// Stores are listed in pages.
	pageOfStores = regexp.MustCompile(`^SELECT .* FROM stores WHERE active = \$1 AND id > \$2( AND id = ANY\(\$3\))? ORDER BY id LIMIT \$[34]$`)
	// The categories of stores are found by looking through their products, and jobs are counted up
	// to a number.
	wholeStore = regexp.MustCompile(`^SELECT (DISTINCT category_id FROM stock WHERE store_id = ANY\(\$1\)|kind, state, count.* LIMIT \$\d\) AS few GROUP BY kind, state)$`)
	// Rows are locked in the order of their keys, few at a time; the categories
	// are sorted by name; few products are looked up by SKU.
	sortsFew = regexp.MustCompile(`FOR UPDATE|FROM categories|GROUP BY sku`)
)

// faults are what would take longer the more rows there are.
func (p plan) faults(sql string, empty bool) (list []string) {
	if p.Kind == "Sort" && !sortsFew.MatchString(sql) && !wholeStore.MatchString(sql) {
		list = append(list, "it is sorted")
	}
	found := p.found() || pageOfStores.MatchString(sql) && p.Index == "stores_active"
	if empty && !unmistakable.MatchString(p.Table) {
		found = p.Kind != "Seq Scan"
	}
	if strings.HasSuffix(p.Kind, "Scan") && p.Kind != "Bitmap Heap Scan" && !listedWhole.MatchString(p.Table) && !wholeStore.MatchString(sql) && p.Table != "" && !found {
		list = append(list, fmt.Sprintf("%s of %s by %s %s", p.Kind, p.Table, p.Index, p.Cond))
	}
	for _, below := range p.Plans {
		if below.Kind == "Bitmap Index Scan" {
			below.Table = p.Table
		}
		list = append(list, below.faults(sql, empty)...)
	}
	return list
}

// found tells whether the condition on the index names every column that a row
// is found by.
func (p plan) found() bool {
	for _, columns := range foundBy[p.Table] {
		all := true
		for _, c := range columns {
			all = all && regexp.MustCompile(`\b`+regexp.QuoteMeta(c)).MatchString(p.Cond)
		}
		if all {
			return true
		}
	}
	return false
}
