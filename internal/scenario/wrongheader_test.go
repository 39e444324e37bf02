package scenario

import (
	"bufio"
	"fmt"
	"net"
	"net/http"
	"strings"
	"testing"

	"purveyor/internal/commerce"
)

// A malformed trace id is replaced by a new one, and the request continues. Of
// several ids the first one counts.
func TestTraceIDs(t *testing.T) {
	onEveryEngine(t, func(t *testing.T, w *world) {
		for _, bad := range [][]string{{strings.Repeat("x", 129)}, {strings.Repeat("x", 9000)}, {"é"}, {"a\tb"}, {"a\x80"}, {"日本"}, {"", "two"}, {"a\tb", "two"}} {
			a := w.do(t, call{method: "GET", path: "/v1/health", key: "live", header: http.Header{"X-Trace-Id": bad}, lenient: true})
			if e := a.error(); a.status != http.StatusOK || e.TraceID != a.header.Get("X-Trace-Id") || e.TraceID == bad[0] || !forms["trace_id"].MatchString(e.TraceID) {
				t.Errorf("%q: %d %s", bad, a.status, a.body)
			}
		}
		if a := w.do(t, call{method: "GET", path: "/v1/health", key: "live", header: http.Header{"X-Trace-Id": {"one", "two"}}, lenient: true}); a.error().TraceID != "one" {
			t.Errorf("two trace ids: %s", a.body)
		}
		for _, good := range []string{strings.Repeat("x", 128), "a b", `"<&>\`, "~!@#$%^*(){}", "0"} {
			a := w.refuses(t, call{method: "GET", path: "/v1/health", key: "none", header: http.Header{"X-Trace-Id": {good}}},
				http.StatusUnauthorized, "unauthorized")
			if a.error().TraceID != good || a.header.Get("X-Trace-Id") != good {
				t.Errorf("%q: %s", good, a.body)
			}
		}
		// An empty id counts as absent.
		a := w.do(t, call{method: "GET", path: "/v1/health", key: "live", header: http.Header{"X-Trace-Id": {""}}, lenient: true})
		if !forms["trace_id"].MatchString(a.error().TraceID) {
			t.Errorf("%s", a.body)
		}
	})
}

// A text that differs from the key is refused.
func TestWrongKeys(t *testing.T) {
	onEveryEngine(t, func(t *testing.T, w *world) {
		good := keyOf("live", commerce.Live)
		for _, bad := range [][]string{{""}, {"sk_live_"}, {strings.ToUpper(good)}, {good + "\x80"}, {good + "x"}, {good[:len(good)-1]}, {`"` + good + `"`},
			{"Bearer " + good}, {strings.Repeat("k", 100_000)}, {good, good}, {"", good}, {"é"}, {"ptn_live"}, {"sk_demo_" + good[8:]}, {good[:8] + strings.Repeat("a", 32)}} {
			w.refuses(t, call{method: "GET", path: "/v1/health", header: http.Header{"X-Api-Key": bad}}, http.StatusUnauthorized, "unauthorized")
		}
	})
}

func TestIdempotencyKeys(t *testing.T) {
	onEveryEngine(t, func(t *testing.T, w *world) {
		w.importCatalog(t, "small")
		c := call{method: "POST", path: "/v1/inventory/adjustments", key: "busy", body: `{"adjustments":[{"product_id":"prd_loaf","delta":1}]}`}
		for _, path := range []string{c.path, "/v1/orders/report", "/v1/products/upsert", "/v1/checkout/session", "/v1/orders/ord_1_00000000000000000000000000/refund"} {
			for _, bad := range [][]string{{""}, {`""`}, {strings.Repeat("k", 256)}, {strings.Repeat("é", 256)}, {"a\tb"}, {"a\x80"}, {"\u200b"}, {"a", "b"}, {"a", "a"}, {"", "a"}} {
				a := w.refuses(t, call{method: "POST", path: path, key: "busy", body: samples[path], header: http.Header{"Idempotency-Key": bad}},
					http.StatusBadRequest, "idempotency_key_invalid")
				if a.error().Field != "Idempotency-Key" {
					t.Errorf("%q: %s", bad, a.body)
				}
			}
		}
		w.expectStock(t, "prd_loaf", 20)
		for i, good := range []string{strings.Repeat("k", 255), `"` + strings.Repeat("q", 255) + `"`, strings.Repeat("é", 255), `"`, "a b", "🧀", "\"half"} {
			c.header = http.Header{"Idempotency-Key": {good}}
			c.lenient = true // the document counts bytes of the header
			if a := w.do(t, c); a.status != http.StatusOK || a.header.Get("Idempotent-Replayed") != "" {
				t.Errorf("%q: %d %s", good, a.status, a.body)
			}
			w.expectStock(t, "prd_loaf", int64(21+i))
			if a := w.do(t, c); a.header.Get("Idempotent-Replayed") != "true" {
				t.Errorf("%q again: %d %s", good, a.status, a.body)
			}
		}
	})
}

// A text that is not HTTP never reaches the service, and does no harm.
func TestNoHTTP(t *testing.T) {
	onEveryEngine(t, func(t *testing.T, w *world) {
		for _, raw := range []string{
			"GET /v1/health HTTP/1.1\r\nHost: h\r\nX-Api-Key: a\x00b\r\n\r\n",
			"GET /v1/health HTTP/1.1\r\nHost: h\r\nX-Trace-Id: a\x01b\r\n\r\n",
			"GET /v1/%zz HTTP/1.1\r\nHost: h\r\n\r\n",
			"GET http://[::1 HTTP/1.1\r\nHost: h\r\n\r\n",
			"POST /v1/orders/report HTTP/1.1\r\nHost: h\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\nhello",
			"nonsense\r\n\r\n",
		} {
			if line := w.raw(t, raw); !strings.Contains(line, " 400 ") {
				t.Errorf("%q: %q", raw, line)
			}
		}
		// A body that ends before its length is refused.
		body := fmt.Sprintf("POST /v1/products/availability HTTP/1.1\r\nHost: h\r\nX-Api-Key: %s\r\nContent-Length: 100\r\n\r\n{\"items\":[]}", keyOf("busy", commerce.Live))
		if line := w.raw(t, body); !strings.Contains(line, " 400 ") {
			t.Errorf("cut off: %q", line)
		}
		w.do(t, call{method: "GET", path: "/v1/health", key: "live"})
	})
}

// raw writes bytes, and returns the first line of the answer.
func (w *world) raw(t *testing.T, text string) string {
	t.Helper()
	conn, err := net.Dial("tcp", w.server.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if _, err := conn.Write([]byte(text)); err != nil {
		t.Fatal(err)
	}
	if err := conn.(*net.TCPConn).CloseWrite(); err != nil {
		t.Fatal(err)
	}
	line, err := bufio.NewReader(conn).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	return line
}
