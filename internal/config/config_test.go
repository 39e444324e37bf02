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
		{"postgres://localhost/purveyor", "", "SQLite only"},
		{"purveyor.db", "", "not understood"},
		{"", "", "not understood"},
	} {
		path, err := Database{c.database}.SQLitePath()
		if path != c.path || (err == nil) != (c.says == "") || (err != nil && !strings.Contains(err.Error(), c.says)) {
			t.Errorf("%q: %q, %v; want %q, %q", c.database, path, err, c.path, c.says)
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
