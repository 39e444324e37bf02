package web

import (
	"net/http"
	"net/http/httptest"
	"net/netip"
	"testing"
)

// All ports of one address count as one address, and so do all addresses of a /64.
func TestAddress(t *testing.T) {
	for remote, want := range map[string]string{"10.0.0.1:80": "10.0.0.1", "[::ffff:10.0.0.1]:80": "10.0.0.1", "[::1]:80": "::/64",
		"[2001:db8:1:2:3:4:5:6]:80": "2001:db8:1:2::/64", "[fe80::1%eth0]:80": "fe80::/64", "pipe": "pipe", "": ""} {
		if got := Address(&http.Request{RemoteAddr: remote}); got != want {
			t.Errorf("%q: %q, want %q", remote, got, want)
		}
	}
}

func TestProxies(t *testing.T) {
	proxies := Proxies{netip.MustParsePrefix("10.0.0.0/8"), netip.MustParsePrefix("2001:db8::/32")}
	for _, c := range []struct {
		peer      string
		forwarded []string
		want      string
	}{
		{"192.0.2.1:5", []string{"198.51.100.7"}, "192.0.2.1"}, // is not one of our proxies
		{"10.0.0.1:5", nil, "10.0.0.1"},
		{"10.0.0.1:5", []string{"198.51.100.7"}, "198.51.100.7"},
		{"[::ffff:10.0.0.1]:5", []string{"198.51.100.7"}, "198.51.100.7"},
		{"[2001:db8::1]:5", []string{"2001:db9:0:1::2"}, "2001:db9:0:1::/64"},
		{"10.0.0.1:5", []string{"203.0.113.9, 198.51.100.7"}, "198.51.100.7"}, // the caller's own header does not count
		{"10.0.0.1:5", []string{"203.0.113.9", "198.51.100.7"}, "198.51.100.7"},
		{"10.0.0.1:5", []string{"203.0.113.9,198.51.100.7 , 10.2.3.4,10.9.9.9"}, "198.51.100.7"},
		{"10.0.0.1:5", []string{"198.51.100.7", "10.2.3.4"}, "198.51.100.7"},
		{"10.0.0.1:5", []string{"10.7.7.7, 10.2.3.4"}, "10.7.7.7"}, // a caller inside the proxies' network
		{"10.0.0.1:5", []string{"198.51.100.7, unknown, 10.2.3.4"}, "10.2.3.4"},
		{"10.0.0.1:5", []string{""}, "10.0.0.1"},
		{"10.0.0.1:5", []string{"198.51.100.7:4711"}, "198.51.100.7"},
		{"10.0.0.1:5", []string{"[2001:db9::7]:4711"}, "2001:db9::/64"},
		{"10.0.0.1:5", []string{"[2001:db9::7]"}, "2001:db9::/64"},
		{"pipe", []string{"198.51.100.7"}, "pipe"},
	} {
		r := httptest.NewRequest("GET", "/", nil)
		r.RemoteAddr = c.peer
		r.Header["X-Forwarded-For"] = c.forwarded
		got := ""
		proxies.Handler(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { got = Address(r) })).ServeHTTP(nil, r)
		if got != c.want {
			t.Errorf("%s, %q: %s, want %s", c.peer, c.forwarded, got, c.want)
		}
	}
	r := httptest.NewRequest("GET", "/", nil)
	r.RemoteAddr = "10.0.0.1:5"
	r.Header["X-Forwarded-For"] = []string{"198.51.100.7"}
	Proxies(nil).Handler(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		if got := Address(r); got != "10.0.0.1" {
			t.Errorf("without a trusted proxy: %s", got)
		}
	})).ServeHTTP(nil, r)
}
