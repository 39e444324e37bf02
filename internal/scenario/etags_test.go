package scenario

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"testing"
)

// tagged are the reads whose answers have an ETag.
var tagged = []string{"/v1/stores", "/v1/stores?active=false", "/v1/categories", "/v1/categories?store_id=sto_north", "/v1/stores/sto_north/categories",
	"/v1/products", "/v1/products?limit=2", "/v1/products?store_id=sto_north&active=all", "/v1/products?category_id=cat_nowhere", "/v1/products/prd_loaf"}

func unless(path, key string, tags ...string) call {
	return call{method: "GET", path: path, key: key, header: http.Header{"If-None-Match": tags}}
}

// An answer that the caller has is not sent again. It counts as a request, and has the headers
// of the answer that it stands for.
func TestNotModified(t *testing.T) {
	onEveryEngine(t, func(t *testing.T, w *world) {
		w.importCatalog(t, "small")
		for _, path := range tagged {
			first := w.do(t, call{method: "GET", path: path, key: "busy"})
			tag := first.header.Get("ETag")
			for _, given := range [][]string{{tag}, {tag[len("W/"):]}, {"*"}, {`"other", ` + tag}, {`W/"a,b"`, `"c" ,` + tag + `, "d"`}} {
				a := w.do(t, unless(path, "busy", given...))
				if a.status != http.StatusNotModified || len(a.body) > 0 || a.header.Get("Content-Type") != "" || a.header.Get("ETag") != tag {
					t.Errorf("%s unless %q: %d %v %s", path, given, a.status, a.header, a.body)
				}
				if left, before := a.header.Get("RateLimit-Remaining"), first.header.Get("RateLimit-Remaining"); left == before {
					t.Errorf("%s: the request does not count: %s are left", path, left)
				}
			}
			for _, given := range []string{`W/"other"`, "", `"` + tag, tag[:len(tag)-1], "other " + tag, `"unclosed ` + tag[len("W/"):]} {
				if a := w.do(t, unless(path, "busy", given)); a.status != http.StatusOK || string(a.body) != string(first.body) || a.header.Get("ETag") != tag {
					t.Errorf("%s unless %q: %d %v %s", path, given, a.status, a.header, a.body)
				}
			}
			head := unless(path, "busy", tag)
			head.method = "HEAD"
			if a := w.do(t, head); a.status != http.StatusNotModified {
				t.Errorf("HEAD %s: %d", path, a.status)
			}
		}
	})
}

// A tag does not open what the key may not read, and errors have none.
func TestTagsAndRights(t *testing.T) {
	onEveryEngine(t, func(t *testing.T, w *world) {
		w.importCatalog(t, "small")
		for _, path := range []string{"/v1/products/prd_south_loaf", "/v1/products?store_id=sto_south", "/v1/stores/sto_south/categories"} {
			tag := w.do(t, call{method: "GET", path: path, key: "busy"}).header.Get("ETag")
			for _, given := range []string{tag, "*"} {
				if a := w.refuses(t, unless(path, "north", given), http.StatusForbidden, "store_not_allowed"); a.header.Get("ETag") != "" {
					t.Errorf("%s: the refusal has the tag %s", path, a.header.Get("ETag"))
				}
			}
		}
		w.refuses(t, unless("/v1/products/prd_nothing", "busy", "*"), http.StatusNotFound, "not_found")
		w.refuses(t, unless("/v1/products", "unknown", "*"), http.StatusUnauthorized, "unauthorized")
	})
}

// While the catalog changes, an answer with a tag that was seen before has the bytes of
// then, and a 304 is given only where a read without a tag would give those bytes.
func TestEqualTagsMeanEqualBytes(t *testing.T) {
	onEveryEngine(t, func(t *testing.T, w *world) {
		w.importCatalog(t, "small")
		rng := rand.New(rand.NewPCG(1, 2))
		seen := map[string]string{} // bodies by key and tag
		last := map[string]string{} // newest tag by key and path
		for i := range 120 {
			if rng.IntN(3) > 0 {
				w.do(t, call{method: "POST", path: "/v1/inventory/adjustments", key: "busy", idem: fmt.Sprint("e", i),
					body: fmt.Sprintf(`{"adjustments": [{"product_id": %q, "delta": %d}]}`, []string{"prd_loaf", "prd_roll", "prd_south_loaf"}[rng.IntN(3)], rng.IntN(2))})
			}
			key, path := []string{"busy", "north"}[rng.IntN(2)], tagged[rng.IntN(len(tagged))]
			had := last[key+path]
			again, plain := w.do(t, unless(path, key, had)), w.do(t, call{method: "GET", path: path, key: key})
			tag := plain.header.Get("ETag")
			if unchanged := again.status == http.StatusNotModified; unchanged != (had == tag) {
				t.Errorf("%s: the tag was %s and is %s, but the answer is %d", path, had, tag, again.status)
			}
			if body, met := seen[key+tag]; met && body != string(plain.body) {
				t.Errorf("%s: the tag %s stands for %s and for %s", path, tag, body, plain.body)
			}
			seen[key+tag], last[key+path] = string(plain.body), tag
		}
	})
}
