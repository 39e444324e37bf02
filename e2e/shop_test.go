package e2e_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"zombiezen.com/go/sqlite"
	"zombiezen.com/go/sqlite/sqlitex"

	"purveyor/internal/testkit/pg"
)

// shop is a database with a small catalog, and a partner with all scopes and no
// practical rate limit.
type shop struct {
	t        *testing.T
	dir      string
	postgres string // URL; empty: SQLite in dir
	partner  issued
	program  string // another one than is under test
}

// issued is the documented shape of `partner create --json`.
type issued struct {
	PartnerID string `json:"partner_client_id"`
	Secret    string `json:"callback_secret"`
	Keys      struct {
		Live string `json:"live"`
		Test string `json:"test"`
	} `json:"keys"`
	KeyID string `json:"key_id"` // if one key was made
}

const (
	shopProducts = 5
	shopStock    = 100_000
)

func newShop(t *testing.T) *shop {
	t.Helper()
	return newShopIn(t, t.TempDir())
}

func newShopIn(t *testing.T, dir string) *shop {
	t.Helper()
	s := &shop{t: t, dir: dir}
	s.fill()
	return s
}

// fill creates stores s1 and s2, with products p1 to p5 and q1.
func (s *shop) fill() {
	s.t.Helper()
	products := []map[string]any{{"id": "q1", "name": "Tea", "store_id": "s2", "price": 700, "available_quantity": shopStock}}
	for i := 1; i <= shopProducts; i++ {
		products = append(products, map[string]any{"id": fmt.Sprintf("p%d", i), "name": fmt.Sprintf("Product %d", i),
			"store_id": "s1", "category_id": "c1", "price": 100 * i, "available_quantity": shopStock})
	}
	s.operate("import", s.file("catalog.json", map[string]any{
		"categories": []map[string]any{{"id": "c1", "name": "Things"}},
		"stores":     []map[string]any{{"id": "s1", "name": "First"}, {"id": "s2", "name": "Second"}},
		"products":   products,
	})).ok(s.t)
	s.partner = s.newPartner("--name", "Partner", "--rate-limit", "10000000")
}

func (s *shop) path() string { return filepath.Join(s.dir, "shop.db") }

func (s *shop) url() string {
	if s.postgres != "" {
		return s.postgres
	}
	return "sqlite:" + s.path()
}

// operate runs a command of the operator on this database.
func (s *shop) operate(args ...string) result {
	s.t.Helper()
	args = append(args, "--database", s.url())
	if s.program != "" {
		return operateProgram(s.t, s.program, nil, args...)
	}
	return operate(s.t, args...)
}

func (s *shop) newPartner(args ...string) issued {
	s.t.Helper()
	return parseIssued(s.t, s.operate(append([]string{"partner", "create", "--json"}, args...)...).ok(s.t))
}

func parseIssued(t *testing.T, text string) (made issued) {
	t.Helper()
	d := json.NewDecoder(strings.NewReader(text))
	d.DisallowUnknownFields()
	if err := d.Decode(&made); err != nil {
		t.Fatalf("not the shape that is documented: %v: %s", err, text)
	}
	return made
}

// database returns the URL of a new database on the shared server. In a cluster its
// tables are distributed.
func database(t *testing.T) string {
	t.Helper()
	s := pg.Shared(t)
	url := s.Database(t)
	if s.Cluster() {
		operate(t, "migrate", "--distribute", "citus", "--database", url).ok(t)
	}
	return url
}

// serve starts the service, and returns a client with the live key.
func (s *shop) serve(flags ...string) (*process, *client) {
	s.t.Helper()
	p := s.start(flags...)
	return p, newClient(s.t, p.ready(&p.stderr, servingLine), s.partner.Keys.Live)
}

// start starts the service on a free port.
func (s *shop) start(flags ...string) *process {
	s.t.Helper()
	flags = append([]string{"serve", "--database", s.url(), "--listen", "127.0.0.1:0"}, flags...)
	if s.program != "" {
		return startProgram(s.t, s.program, nil, flags...)
	}
	return start(s.t, nil, flags...)
}

// file writes an import file outside of the database's folder.
func (s *shop) file(name string, content any) string {
	s.t.Helper()
	text, ok := content.(string)
	if !ok {
		data, err := json.Marshal(content)
		if err != nil {
			s.t.Fatal(err)
		}
		text = string(data)
	}
	path := filepath.Join(s.t.TempDir(), name)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		s.t.Fatal(err)
	}
	return path
}

// report returns a request that reports an order of one piece of each product.
func report(external string, products ...string) request {
	items := make([]map[string]any, len(products))
	for i, id := range products {
		items[i] = map[string]any{"product_id": id, "quantity": 1, "price": 100}
	}
	return post("/v1/orders/report", "report "+external, map[string]any{
		"external_order_id": external, "store_id": "s1", "fulfillment_type": "pickup", "items": items})
}

// orderID returns the order in the answer to a report. It is safe for concurrent use.
func (a answer) orderID(t *testing.T) string {
	t.Helper()
	var body struct {
		OrderID string `json:"order_id"`
	}
	if err := json.Unmarshal(a.body, &body); err != nil || body.OrderID == "" {
		t.Errorf("the answer names no order: %s", a.body)
	}
	return body.OrderID
}

// openSQLite opens a database file as another program would.
func openSQLite(t *testing.T, path string) *sqlite.Conn {
	t.Helper()
	conn, err := sqlite.OpenConn(path, sqlite.OpenReadWrite|sqlite.OpenCreate)
	if err != nil {
		t.Fatal(err)
	}
	return conn
}

// execute runs statements in a database file, and closes it.
func execute(t *testing.T, path, script string) {
	t.Helper()
	conn := openSQLite(t, path)
	if err := sqlitex.ExecuteScript(conn, script, nil); err != nil {
		t.Error(err)
	}
	if err := conn.Close(); err != nil {
		t.Fatal(err)
	}
}

// rows returns the rows of a query, with columns joined by "|".
func (s *shop) rows(query string) (list []string) {
	s.t.Helper()
	if s.postgres != "" {
		return s.postgresRows(query)
	}
	conn := openSQLite(s.t, s.path())
	defer conn.Close()
	conn.SetBusyTimeout(patience)
	err := sqlitex.ExecuteTransient(conn, query, &sqlitex.ExecOptions{ResultFunc: func(stmt *sqlite.Stmt) error {
		columns := make([]string, stmt.ColumnCount())
		for i := range columns {
			columns[i] = stmt.ColumnText(i)
		}
		list = append(list, strings.Join(columns, "|"))
		return nil
	}})
	if err != nil {
		s.t.Fatalf("%s: %v", query, err)
	}
	return list
}

// postgresRows is rows for queries with one column of text.
func (s *shop) postgresRows(query string) []string {
	s.t.Helper()
	conn, err := pgx.Connect(s.t.Context(), s.postgres)
	if err != nil {
		s.t.Fatal(err)
	}
	defer conn.Close(s.t.Context())
	found, _ := conn.Query(s.t.Context(), query, pgx.QueryExecModeSimpleProtocol) // CollectRows returns the error
	list, err := pgx.CollectRows(found, pgx.RowTo[string])
	if err != nil {
		s.t.Fatalf("%s: %v", query, err)
	}
	return list
}

// count runs a query with a single value.
func (s *shop) count(query string) string {
	s.t.Helper()
	found := s.rows(query)
	if len(found) != 1 {
		s.t.Fatalf("%s: %d rows, want 1", query, len(found))
	}
	return found[0]
}

// checkFile runs SQLite's own check of the file, and ours of the stock.
func (s *shop) checkFile() {
	s.t.Helper()
	s.operate("stock", "check").ok(s.t)
	if s.postgres != "" {
		return
	}
	if found := s.rows("PRAGMA integrity_check"); len(found) != 1 || found[0] != "ok" {
		s.t.Errorf("the file is damaged: %v", found)
	}
	if found := s.rows("PRAGMA foreign_key_check"); len(found) > 0 {
		s.t.Errorf("rows refer to nothing: %v", found)
	}
}
