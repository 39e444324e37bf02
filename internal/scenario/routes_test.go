package scenario

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"purveyor/internal/api"
	"purveyor/internal/commerce"
)

// The route table and the document agree: methods, paths, scopes.
func TestRoutesAndDocumentAgree(t *testing.T) {
	paths := theContract().doc.Paths
	served := map[string]bool{}
	for _, route := range api.Routes {
		served[route.Method+" "+route.Path] = true
		item := paths.Value(route.Path)
		if item == nil || item.GetOperation(route.Method) == nil {
			t.Errorf("%s %s is served but not in the document", route.Method, route.Path)
			continue
		}
		scopes := make([]any, len(route.Scopes))
		for i, s := range route.Scopes {
			scopes[i] = string(s)
		}
		if documented, _ := item.GetOperation(route.Method).Extensions["x-required-scopes"].([]any); !slices.Equal(documented, scopes) {
			t.Errorf("%s %s: scopes %v, in the document %v", route.Method, route.Path, scopes, documented)
		}
	}
	outside := append([]string{"/openapi.yaml", "/openapi.json"}, elsewhere...)
	for path, item := range paths.Map() {
		for method := range item.Operations() {
			if !served[method+" "+path] && !slices.Contains(outside, path) {
				t.Errorf("%s %s is in the document but not served", method, path)
			}
		}
	}
}

func TestDocumentIsServed(t *testing.T) {
	onEveryEngine(t, func(t *testing.T, w *world) {
		for path, contentType := range map[string]string{"/openapi.yaml": "application/yaml", "/openapi.json": "application/json"} {
			a := w.do(t, call{method: "GET", path: path})
			if a.status != http.StatusOK || a.header.Get("Content-Type") != contentType || len(a.body) < len(api.OpenAPI)/2 {
				t.Errorf("%s: %d %v %.100s", path, a.status, a.header, a.body)
			}
		}
	})
}

// Each route in turn: accepted callers, and the reasons of refusals.
func TestEveryRoute(t *testing.T) {
	onEveryEngine(t, func(t *testing.T, w *world) {
		w.importCatalog(t, "small")
		for range 3 { // the slow partner has used up its minute
			w.do(t, call{method: "GET", path: "/v1/health", key: "slow"})
		}
		for i, route := range api.Routes {
			name := fmt.Sprint("r", i)
			t.Run(route.Method+route.Path, func(t *testing.T) {
				c := w.good(t, route, "busy", name)
				w.refuses(t, with(c, func(c *call) { c.key = "none" }), http.StatusUnauthorized, "unauthorized")
				w.refuses(t, with(c, func(c *call) { c.key = "unknown" }), http.StatusUnauthorized, "unauthorized")
				w.refuses(t, with(c, func(c *call) { c.key = "slow" }), http.StatusTooManyRequests, "rate_limited")
				if a := w.do(t, c); a.status >= 300 {
					t.Errorf("a good call is refused: %d %s", a.status, a.body)
				} else if a.header.Get("RateLimit-Limit") == "" || a.header.Get("Content-Type") != contentType(route) {
					t.Errorf("headers are missing: %v", a.header)
				}
				w.checkScopes(t, route, name)
			})
		}
	})
}

func contentType(route api.Route) string {
	if strings.HasSuffix(route.Path, "/stream") {
		return "text/event-stream"
	}
	return "application/json"
}

// checkScopes calls the route for partners that lack one scope each.
func (w *world) checkScopes(t *testing.T, route api.Route, name string) {
	t.Helper()
	for i, scope := range commerce.Scopes[1:] {
		c := w.good(t, route, "no-"+string(scope), fmt.Sprint(name, "s", i))
		a := w.do(t, c)
		switch needed := slices.Contains(route.Scopes, scope); {
		case needed && (a.status != http.StatusForbidden || a.code() != "scope_missing" || !strings.Contains(a.error().Error, string(scope))):
			t.Errorf("without %s: %d %s", scope, a.status, a.body)
		case !needed && a.status >= 300:
			t.Errorf("without %s, which it does not need: %d %s", scope, a.status, a.body)
		}
	}
}

func with(c call, change func(*call)) call {
	change(&c)
	return c
}

// refuses sends a call and expects this error.
func (w *world) refuses(t *testing.T, c call, status int, code string) *answer {
	t.Helper()
	a := w.do(t, c)
	if a.status != status || a.code() != code {
		t.Errorf("%s %s %.80q: want %d %s, got %d %s", c.method, c.path, c.body, status, code, a.status, a.body)
	}
	return a
}

// HEAD is answered like GET, without the body.
func TestHead(t *testing.T) {
	onEveryEngine(t, func(t *testing.T, w *world) {
		w.importCatalog(t, "small")
		for i, route := range api.Routes {
			if route.Method != http.MethodGet {
				continue
			}
			c := w.good(t, route, "busy", fmt.Sprint("h", i))
			if route.Path == "/v1/requests" { // the list has one more after each request
				c.path += "?trace_id=none"
			}
			get := w.do(t, c)
			c.method = http.MethodHead
			head := w.do(t, c)
			if head.status != get.status || head.header.Get("Content-Length") != get.header.Get("Content-Length") {
				t.Errorf("%s: GET %d %v, HEAD %d %v", route.Path, get.status, get.header, head.status, head.header)
			}
		}
	})
}

// An unknown method gets an error in the common shape, too.
func TestUnknownMethods(t *testing.T) {
	onEveryEngine(t, func(t *testing.T, w *world) {
		for _, method := range []string{"BREW", "CONNECT", "TRACE", "get"} {
			w.refuses(t, call{method: method, path: "/v1/stores", key: "live"}, http.StatusMethodNotAllowed, "method_not_allowed")
		}
	})
}

// An unknown path has no methods to allow, so it is 404 for every method.
func TestUnknownMethodOnUnknownPath(t *testing.T) {
	onEveryEngine(t, func(t *testing.T, w *world) {
		w.refuses(t, call{method: "DELETE", path: "/v1/nothing", key: "live"}, http.StatusNotFound, "not_found")
		w.refuses(t, call{method: "PURGE", path: "/v1/nothing", key: "live"}, http.StatusNotFound, "not_found")
	})
}
