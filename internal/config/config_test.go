package config

import (
	"strings"
	"testing"
)

func TestSQLitePath(t *testing.T) {
	for _, c := range []struct{ database, path, says string }{
		{"sqlite:purveyor.db", "purveyor.db", ""},
		{"sqlite:/var/lib/purveyor/a b.db", "/var/lib/purveyor/a b.db", ""},
		{"sqlite:", "", "names no file"},
		{"sqlite::memory:", "", "must be in a file"},
		{"purveyor.db", "", "not understood"},
		{"", "", "not understood"},
	} {
		path, err := Database{c.database}.SQLitePath()
		if path != c.path || (err == nil) != (c.says == "") || (err != nil && !strings.Contains(err.Error(), c.says)) {
			t.Errorf("%q: %q, %v; want %q, %q", c.database, path, err, c.path, c.says)
		}
	}
}

func TestDatabaseString(t *testing.T) {
	for _, c := range []struct {
		database, says string
		postgres       bool
	}{
		{"sqlite:purveyor.db", "sqlite:purveyor.db", false},
		{"postgres://a:secret@one,two:5433/b?x=y", "postgres://a:xxxxx@one,two:5433/b?x=y", true},
		{"postgresql://a:sec%zzret@one/b", "postgresql:...", true},
	} {
		d := Database{c.database}
		if got := d.String(); got != c.says || d.PostgreSQL() != c.postgres {
			t.Errorf("%s: %s, PostgreSQL: %v", c.database, got, d.PostgreSQL())
		}
	}
}

func TestServerCheck(t *testing.T) {
	for _, c := range []struct {
		server Server
		says   string
	}{
		{Server{Listen: "127.0.0.1:8080", CacheMiB: 32}, ""},
		{Server{Listen: ":0", CacheMiB: 1, PublicURL: "https://shop.example/"}, ""},
		{Server{Listen: "localhost", CacheMiB: 32}, "--listen"},
		{Server{Listen: ":8080", CacheMiB: 0}, "--cache-mib"},
		{Server{Listen: ":8080", CacheMiB: 32, PublicURL: "shop.example"}, "--public-url"},
		{Server{Listen: ":8080", CacheMiB: 32, PublicURL: "ftp://shop.example"}, "--public-url"},
	} {
		err := c.server.Check()
		if (err == nil) != (c.says == "") || (err != nil && !strings.Contains(err.Error(), c.says)) {
			t.Errorf("%+v: %v, want %q", c.server, err, c.says)
		}
	}
}
