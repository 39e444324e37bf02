package pg

import (
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
)

func ownServer(t *testing.T) *Server {
	t.Helper()
	if testing.Short() {
		t.Skip("-short leaves PostgreSQL out")
	}
	own, err := Start("", "fsync=off")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = own.Close() }) // the test is over
	return own
}

// TestOutside: tests on a server that was not started here make databases of their own, drop them, and
// leave the database of the URL alone. A role that may not make databases is refused at once.
func TestOutside(t *testing.T) {
	own := ownServer(t)
	err := own.SQL("CREATE ROLE may LOGIN CREATEDB", "CREATE ROLE maynot LOGIN", "CREATE DATABASE theirs", "ALTER DATABASE theirs OWNER TO may")
	if err != nil {
		t.Fatal(err)
	}
	as := func(role string) string { return strings.Replace(own.URL("theirs"), user+"@", role+"@", 1) }
	if _, err := outside(as("maynot")); err == nil || !strings.Contains(err.Error(), "may not create databases") {
		t.Errorf("a role that may not create databases: %v", err)
	}
	s, err := outside(as("may"))
	if err != nil {
		t.Fatal(err)
	}
	if s.Cluster() {
		t.Error("a single server is taken for a cluster")
	}
	ask := func(url, query string) (list []string) {
		t.Helper()
		conn, err := pgx.Connect(t.Context(), url)
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close(t.Context())
		rows, _ := conn.Query(t.Context(), query) // CollectRows returns the error
		if list, err = pgx.CollectRows(rows, pgx.RowTo[string]); err != nil {
			t.Fatal(err)
		}
		return list
	}
	const databases = "SELECT datname::text FROM pg_database ORDER BY datname"
	before := ask(own.URL("postgres"), databases)
	t.Run("user", func(t *testing.T) {
		url := s.Clone(t, "filled", func(url string) error { return execAt(t.Context(), url, "CREATE TABLE filled (n int)") })
		name := ask(url, "SELECT current_database()::text")[0]
		if left, err := s.outside.left(t.Context()); err != nil || !slices.Contains(left, name) || !strings.HasPrefix(name, namesOfRun()) {
			t.Errorf("%s is not among the databases of the run: %v %v", name, left, err)
		}
		if found := ask(url, "SELECT relname::text FROM pg_class WHERE relname = 'filled'"); len(found) != 1 {
			t.Error("the database is not filled")
		}
	})
	if after := ask(own.URL("postgres"), databases); !slices.Equal(before, after) {
		t.Errorf("databases %v, before %v", after, before)
	}
	if found := ask(as("may"), "SELECT relname::text FROM pg_class WHERE relnamespace = 'public'::regnamespace"); len(found) > 0 {
		t.Errorf("the database of the URL got %v", found)
	}
}

// TestLent: in a run with a name, a test gets the database that the one before it left, without its
// rows, and another one while that is in use.
func TestLent(t *testing.T) {
	own := ownServer(t)
	t.Setenv(RunVariable, "lent")
	s, err := outside(own.URL("postgres"))
	if err != nil {
		t.Fatal(err)
	}
	fill := func(url string) error {
		return execAt(t.Context(), url, `CREATE TABLE meta AS SELECT 'next_store_no' AS name, 1 AS value;
			CREATE TABLE parents (id int PRIMARY KEY); CREATE TABLE children (parent int REFERENCES parents)`)
	}
	var urls [2]string
	for range 2 {
		t.Run("user", func(t *testing.T) {
			for i := range urls {
				url := s.Clone(t, "filled", fill)
				if urls[0] != "" && urls[1] != "" && !slices.Contains(urls[:], url) {
					t.Errorf("%s is new", url)
				}
				urls[i] = url
				err := execAt(t.Context(), url, `INSERT INTO parents VALUES (1); INSERT INTO children VALUES (1);
					UPDATE meta SET value = value + 1`)
				if err == nil {
					err = execAt(t.Context(), url, "SELECT 1 / (SELECT (value = 2)::int FROM meta)")
				}
				if err != nil {
					t.Errorf("rows are left: %v", err)
				}
			}
		})
	}
	if urls[0] == urls[1] || len(s.outside.idle["filled"]) != 2 {
		t.Errorf("databases %v, and given back %v", urls, s.outside.idle)
	}
}

// TestServerOfURL says what the server of OutsideVariable is, and drops the databases that
// killed test processes of the run left there.
func TestServerOfURL(t *testing.T) {
	if outsideURL() == "" {
		t.Skip("for scripts/test cluster")
	}
	s, err := outside(outsideURL())
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("a single server: %v; nodes of a cluster: %d", !s.Cluster(), len(s.outside.nodes))
	if os.Getenv(RunVariable) == "" {
		return
	}
	left, err := s.outside.left(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range left {
		t.Logf("left and now dropped: %s", name)
		if err := s.outside.drop(t.Context(), name); err != nil {
			t.Error(err)
		}
	}
}
