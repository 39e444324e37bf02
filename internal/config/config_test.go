package config

import (
	"fmt"
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
		path, err := Database{Database: c.database}.SQLitePath()
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
		d := Database{Database: c.database}
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
		{Server{Listen: "127.0.0.1:8080", CacheMiB: 32, RepliesMiB: 1}, ""},
		{Server{Listen: ":0", CacheMiB: 1, RepliesMiB: 1, PublicURL: "https://shop.example/"}, ""},
		{Server{Listen: "localhost", CacheMiB: 32, RepliesMiB: 1}, "--listen"},
		{Server{Listen: "127.0.0.1:8080", CacheMiB: 0}, "--cache-mib"},
		{Server{Listen: "127.0.0.1:8080", CacheMiB: 1, RepliesMiB: 0}, "--replies-mib"},
		{Server{Listen: ":8080", CacheMiB: 32, RepliesMiB: 1, PublicURL: "shop.example"}, "--public-url"},
		{Server{Listen: ":8080", CacheMiB: 32, RepliesMiB: 1, PublicURL: "ftp://shop.example"}, "--public-url"},
	} {
		err := c.server.Check()
		if (err == nil) != (c.says == "") || (err != nil && !strings.Contains(err.Error(), c.says)) {
			t.Errorf("%+v: %v, want %q", c.server, err, c.says)
		}
	}
}

// An address that stands for all addresses needs a public URL, because customers
// could not reach pages below it.
func TestListenEverywhereNeedsAPublicURL(t *testing.T) {
	for _, listen := range []string{"0.0.0.0:8080", ":8080", "[::]:8080", "[::ffff:0.0.0.0]:8080"} {
		s := Server{Listen: listen, CacheMiB: 16, RepliesMiB: 1}
		if err := s.Check(); err == nil || !strings.Contains(err.Error(), "--public-url http://localhost:8080") {
			t.Errorf("%s: %v", listen, err)
		}
		s.PublicURL = "https://shop.example"
		if err := s.Check(); err != nil {
			t.Errorf("%s: %v", listen, err)
		}
	}
	for _, listen := range []string{"127.0.0.1:0", "[::1]:8080", "localhost:8080", "192.0.2.1:80"} {
		if err := (Server{Listen: listen, CacheMiB: 16, RepliesMiB: 1}).Check(); err != nil {
			t.Errorf("%s: %v", listen, err)
		}
	}
}

func TestTrustedProxies(t *testing.T) {
	s := Server{Listen: "127.0.0.1:0", CacheMiB: 16, TrustedProxy: []string{"10.1.2.3/8", "192.0.2.7/32", "2001:db8::/32"}}
	if got, err := s.TrustedProxies(); err != nil || fmt.Sprint(got) != "[10.0.0.0/8 192.0.2.7/32 2001:db8::/32]" {
		t.Errorf("%v, %v", got, err)
	}
	for _, bad := range []string{"", "10.0.0.1", "10.0.0.0/33", "proxy.example", "::ffff:10.0.0.0/104", "10.0.0.0/8,"} {
		s.TrustedProxy = []string{bad}
		if err := s.Check(); err == nil || !strings.Contains(err.Error(), "--trusted-proxy") {
			t.Errorf("%q: %v", bad, err)
		}
	}
}

func TestDescriptors(t *testing.T) {
	if n := Descriptors(); n < 64 || n > 1<<30 {
		t.Errorf("%d", n)
	}
}

func TestCheckDescriptors(t *testing.T) {
	for _, c := range []struct {
		n               int
		warns, refusals string
	}{
		{100, "", "needs 256"},
		{255, "", "LimitNOFILE"},
		{256, "takes 128 connections", ""},
		{16383, "takes 8191 connections", ""},
		{16384, "", ""},
	} {
		warning, err := CheckDescriptors(c.n)
		says(t, fmt.Sprint(c.n), err, c.refusals)
		if (warning == "") != (c.warns == "") || !strings.Contains(warning, c.warns) {
			t.Errorf("%d: %q, want %q", c.n, warning, c.warns)
		}
	}
}
