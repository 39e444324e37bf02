package e2e_test

import (
	"slices"
	"strings"
	"testing"

	"purveyor/internal/testkit/check"
	"purveyor/internal/testkit/pg"

	"github.com/jackc/pgx/v5"
)

// Every command refuses a PostgreSQL server or database that it cannot use, says what
// to do, and changes nothing.
func TestPostgresRefused(t *testing.T) {
	t.Parallel()
	s := newPostgres(t)
	guard(t, s)
	url := func(database, user string) string {
		return strings.Replace(s.URL(database), "//purveyor@", "//"+user+"@", 1)
	}
	cases := []struct {
		name, url string
		make      []string // statements that prepare the database
		words     []string
	}{
		{"no address", "postgres://127.0.0.1:port/shop", nil, []string{"--database", "no PostgreSQL address"}},
		{"unknown user", url("postgres", "stranger"), nil, []string{"28000", "refuses this user", "--database"}},
		{"wrong password", url("postgres", "guarded:s3cret"), nil, []string{"password is wrong", "--database"}},
		{"no such database", s.URL("nowhere"), nil, []string{"no such database", "createdb", "--database"}},
		{"no rights", url(databaseOf(t, s, "unwritable"), "reader"), nil, []string{"lacks rights", "owner of the database"}},
		{"newer version", s.URL(databaseOf(t, s, "newer")),
			[]string{"CREATE TABLE schema_version (id INT PRIMARY KEY, version INT NOT NULL)", "INSERT INTO schema_version VALUES (1, 9999)"},
			[]string{"newer", "schema 9999", "run the newer program"}},
		{"another program", s.URL(databaseOf(t, s, "another")), []string{"CREATE TABLE notes (text TEXT)"}, []string{"another program", "--database"}},
		// A server that reports another version.
		{"too old", s.URL(databaseOf(t, s, "old")) + "&search_path=old,pg_catalog",
			[]string{"CREATE SCHEMA old", "CREATE FUNCTION old.current_setting(text) RETURNS text LANGUAGE sql AS $$ SELECT '140022' $$"},
			[]string{"PostgreSQL 14", "15 or later"}},
	}
	for _, tc := range cases {
		t.Run(tc.name, func(t *testing.T) {
			db := &shop{t: t, postgres: tc.url}
			if len(tc.make) > 0 {
				db.rows(strings.Join(tc.make, "; ") + "; SELECT 1")
			}
			for _, command := range [][]string{{"migrate"}, {"partner", "list"}, {"partner", "create", "--name", "X"}, {"serve", "--listen", "127.0.0.1:0"}} {
				r, words := db.operate(command...), tc.words
				if tc.name == "no rights" && slices.Contains(command, "list") { // this command creates no tables
					words = []string{"there is no database", "empty", "purveyor migrate"}
				}
				r.refused(t, 1, words...)
				if strings.Contains(r.stderr, "s3cret") {
					t.Errorf("the message holds the password: %s", r.stderr)
				}
				if t.Failed() {
					return // serve would start and never end
				}
			}
			if len(tc.make) == 0 {
				return
			}
			if left := db.count("SELECT count(*) FROM pg_class WHERE relkind = 'r' AND relnamespace NOT IN ('pg_catalog'::regnamespace, 'information_schema'::regnamespace)"); left > "1" {
				t.Errorf("%s tables are there", left)
			}
		})
	}
}

// guard makes a user with a password, and a user with read access only.
func guard(t *testing.T, s *pg.Server) {
	t.Helper()
	rules := (&shop{t: t, postgres: s.URL("postgres")}).count("SHOW hba_file")
	check.OK(t, s.SQL("CREATE ROLE reader LOGIN", "CREATE ROLE guarded LOGIN PASSWORD 'right'",
		"COPY (VALUES ('host all guarded all scram-sha-256'), ('host all all all trust')) TO '"+rules+"'", "SELECT pg_reload_conf()"))
	check.Eventually(t, patience, pollPause, "the password to be asked for", func() bool {
		conn, err := pgx.Connect(t.Context(), strings.Replace(s.URL("postgres"), "//purveyor@", "//guarded@", 1))
		if err == nil {
			_ = conn.Close(t.Context())
		}
		return err != nil
	})
}

// databaseOf makes an empty database that is dropped with its server.
func databaseOf(t *testing.T, s *pg.Server, name string) string {
	t.Helper()
	check.OK(t, s.SQL("CREATE DATABASE "+name))
	return name
}
