package config

import "testing"

func TestCheckTLS(t *testing.T) {
	files := TLS{TLSCert: "c", TLSKey: "k"}
	domain := TLS{TLSDomain: "shop.example.com", RedirectListen: ":80", ACMEDirectory: "https://ca.example/dir"}
	named := func(name string) TLS { d := domain; d.TLSDomain = name; return d }
	for _, c := range []struct {
		name string
		tls  TLS
		url  string
		says string
	}{
		{"nothing", TLS{}, "", ""},
		{"behind a proxy", TLS{}, "http://a", ""},
		{"files", files, "", ""},
		{"files with a URL", files, "https://a", ""},
		{"a domain", domain, "https://shop.example.com", ""},
		{"another case", named("Shop.Example.COM"), "", ""},
		{"no key", TLS{TLSCert: "c"}, "", "--tls-cert and --tls-key need each other"},
		{"no certificate", TLS{TLSKey: "c"}, "", "--tls-cert and --tls-key need each other"},
		{"both", TLS{TLSCert: "c", TLSKey: "k", TLSDomain: "a.example"}, "", "choose one"},
		{"a URL without TLS", files, "http://a", "must begin with https://"},
		{"a domain with a URL without TLS", domain, "http://shop.example.com", "must begin with https://"},
		{"a URL", named("https://shop.example.com"), "", "--tls-domain"},
		{"a port", named("shop.example.com:443"), "", "--tls-domain"},
		{"an address", named("192.0.2.1"), "", "--tls-domain"},
		{"one word", named("localhost"), "", "--tls-domain"},
		{"a star", named("*.example.com"), "", "--tls-domain"},
		{"no port of HTTP", TLS{TLSDomain: "shop.example.com", RedirectListen: "80"}, "", "--redirect-listen"},
		{"no directory", TLS{TLSDomain: "shop.example.com", RedirectListen: ":80", ACMEDirectory: "ca.example"}, "", "--acme-directory"},
	} {
		says(t, c.name, c.tls.CheckTLS(c.url), c.says)
	}
}

// A domain brings its port and its URL, unless others are given.
func TestServerWithADomain(t *testing.T) {
	domain := TLS{TLSDomain: "Shop.example.com"}
	for _, c := range []struct {
		tls         TLS
		listen, url string
		wantListen  string
		wantURL     string
	}{
		{TLS{}, defaultListen, "", defaultListen, ""},
		{TLS{TLSCert: "c"}, defaultListen, "", defaultListen, ""},
		{domain, defaultListen, "", ":443", "https://shop.example.com"},
		{domain, "0.0.0.0:8443", "https://a", "0.0.0.0:8443", "https://a"},
	} {
		s := Server{Listen: c.listen, PublicURL: c.url, CacheMiB: 1, RepliesMiB: 1}.With(c.tls)
		if s.Listen != c.wantListen || s.PublicURL != c.wantURL {
			t.Errorf("%+v: %s, %s", c, s.Listen, s.PublicURL)
		}
		if err := s.Check(); err != nil {
			t.Errorf("%+v: %v", c, err)
		}
	}
}

func TestStateFolder(t *testing.T) {
	for _, c := range []struct{ dir, database, want, says string }{
		{"", "sqlite:/data/shop.db", "/data/shop.db-tls", ""},
		{"/state", "sqlite:/data/shop.db", "/state", ""},
		{"/state", "postgres://h/d", "/state", ""},
		{"", "postgres://h/d", "", "--state-dir on PostgreSQL"},
		{"", "", "", "--state-dir"},
	} {
		got, err := TLS{StateDir: c.dir}.StateFolder(Database{Database: c.database})
		says(t, c.database, err, c.says)
		if got != c.want {
			t.Errorf("%+v: %s", c, got)
		}
	}
}
