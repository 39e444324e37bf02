package devdocs

import (
	"compress/gzip"
	"io"
	"net/http"
	"net/http/httptest"
	"regexp"
	"slices"
	"strings"
	"testing"

	"purveyor/internal/devdocs/openapi"
)

// banned is what no page may have: the policy would forbid it, or it would run what is not in
// a file of our own.
var banned = regexp.MustCompile(`(?i)<style|\sstyle=|\son[a-z]+="|<script(?:\s[^>]*)?>[^<]|javascript:|(?:src|action|srcset)="(?:https?:)?//|<iframe|<object|<embed|<base`)

var (
	idsIn   = regexp.MustCompile(`\sid="([^"]*)"`)
	linksIn = regexp.MustCompile(`\shref="(/[^"]*|#[^"]*)"`)
)

// TestPages: each page has what the policy allows, each id once, and links that lead somewhere.
func TestPages(t *testing.T) {
	s := theSite(t)
	h := handler(options(address))
	ids := map[string][]string{}
	texts := map[string]string{}
	for path, p := range s.pages {
		w := get(t, h, path, "X-Forwarded-For", path)
		if w.Code != http.StatusOK || w.Header().Get("ETag") == "" || !strings.Contains(w.Header().Get("Content-Security-Policy"), "default-src 'none'") {
			t.Errorf("%s: %d, %v", path, w.Code, w.Header())
		}
		if !strings.HasPrefix(p.kind, "text/html") {
			continue
		}
		text := w.Body.String()
		texts[path] = text
		if bad := banned.FindString(strings.ReplaceAll(text, "&lt;", "")); bad != "" {
			t.Errorf("%s has %q", path, bad)
		}
		if strings.Count(text, "<h1>") != 1 || !strings.Contains(text, "<title>") {
			t.Errorf("%s has no heading, or several", path)
		}
		for _, m := range idsIn.FindAllStringSubmatch(text, -1) {
			if slices.Contains(ids[path], m[1]) {
				t.Errorf("%s has the id %s twice", path, m[1])
			}
			ids[path] = append(ids[path], m[1])
		}
	}
	outside := []string{"/openapi.yaml", "/openapi.json", LLMs}
	for path, text := range texts {
		for _, m := range linksIn.FindAllStringSubmatch(text, -1) {
			to, id, _ := strings.Cut(m[1], "#")
			if to == "" {
				to = path
			}
			switch {
			case slices.Contains(outside, to) || strings.HasPrefix(to, Prefix+"/static/"):
			case s.pages[to] == nil:
				if !strings.HasPrefix(to, Prefix+"/polling") && !strings.HasPrefix(to, Prefix+"/catalog-sync") {
					t.Errorf("%s links %s, which does not exist", path, m[1])
				}
			case id != "" && !slices.Contains(ids[to], id):
				t.Errorf("%s links %s, which has no such part", path, m[1])
			}
		}
	}
}

// TestPageIsWhole: the page of an operation has each of its parameters, fields and answers, and
// the page about errors has each code.
func TestPageIsWhole(t *testing.T) {
	s := theSite(t)
	text := func(path string) string {
		w := httptest.NewRecorder()
		s.pages[path].serve(w, httptest.NewRequest(http.MethodGet, path, nil))
		return w.Body.String()
	}
	for _, o := range s.document.Operations {
		page := text(operationPath(o))
		for _, p := range o.Parameters {
			if !slices.Contains(everywhere, p.Name) && !strings.Contains(page, "<code>"+p.Name+"</code>") {
				t.Errorf("%s: the parameter %s is missing", o.ID, p.Name)
			}
		}
		for _, a := range o.Answers {
			if !strings.Contains(page, a.Name) {
				t.Errorf("%s: the status %s is missing", o.ID, a.Name)
			}
		}
		for name := range strings.FieldsSeq(s.namesOf(o)) {
			if o.ID != "listEvents" && o.ID != "getEvent" && !strings.Contains(page, "<code>"+name+"</code>") { // the events have pages of their own
				t.Errorf("%s: the field %s is missing", o.ID, name)
			}
		}
	}
	errors := text(errorsPath)
	for _, code := range s.document.Schema("ErrorCode").Known {
		if !strings.Contains(errors, `<code id="`+code+`">`) {
			t.Errorf("the code %s is missing", code)
		}
	}
	for _, e := range s.document.Events {
		if page := text(eventPath(e.Path)); !strings.Contains(page, "webhook-signature") || !strings.Contains(page, "<code>timestamp</code>") {
			t.Errorf("%s misses its headers or its body", e.Path)
		}
	}
}

// TestServe: a page is compressed where that is taken, is the same under a tag, and is only read.
func TestServe(t *testing.T) {
	h := handler(options(address))
	plain := get(t, h, "/docs")
	packed := get(t, h, "/docs", "Accept-Encoding", "br, gzip;q=0.5")
	if packed.Header().Get("Content-Encoding") != "gzip" || packed.Body.Len()*3 > plain.Body.Len() {
		t.Errorf("%d of %d bytes, %v", packed.Body.Len(), plain.Body.Len(), packed.Header())
	}
	z, err := gzip.NewReader(packed.Body)
	if err != nil {
		t.Fatal(err)
	}
	if unpacked, err := io.ReadAll(z); err != nil || string(unpacked) != plain.Body.String() {
		t.Errorf("another page when it is compressed: %v", err)
	}
	if w := get(t, h, "/docs", "Accept-Encoding", "gzip;q=0"); w.Header().Get("Content-Encoding") != "" {
		t.Error("compressed though that is refused")
	}
	tag := plain.Header().Get("ETag")
	for header, want := range map[string]int{tag: 304, `"a", ` + tag: 304, strings.TrimPrefix(tag, "W/"): 304, "*": 304, `W/"a"`: 200} {
		if w := get(t, h, "/docs", "If-None-Match", header); w.Code != want || w.Code == 304 && w.Body.Len() > 0 {
			t.Errorf("%s: %d", header, w.Code)
		}
	}
	for _, c := range []struct {
		method, path string
		status       int
		header, want string
	}{
		{"HEAD", "/docs", 200, "Content-Type", "text/html; charset=utf-8"},
		{"POST", "/docs", 405, "Allow", "GET, HEAD"},
		{"GET", "/docs/", 301, "Location", "/docs"},
		{"GET", "/docs/start/", 301, "Location", "/docs/start"},
		{"GET", "/docs/nothing", 404, "Cache-Control", "no-store"},
		{"GET", "/docs/api/nothing", 404, "Content-Type", "text/html; charset=utf-8"},
		{"GET", "/docs/start.md", 200, "Content-Type", "text/markdown; charset=utf-8"},
		{"GET", "/llms.txt", 200, "Content-Type", "text/plain; charset=utf-8"},
		{"GET", files.Path("docs.css"), 200, "Cache-Control", "public, max-age=31536000, immutable"},
		{"GET", "/docs/static/docs.css", 404, "Cache-Control", "no-store"},
	} {
		w := httptest.NewRecorder()
		h.ServeHTTP(w, httptest.NewRequest(c.method, c.path, nil))
		if w.Code != c.status || w.Header().Get(c.header) != c.want || c.method == "HEAD" && w.Body.Len() > 0 {
			t.Errorf("%s %s: %d, %s: %q", c.method, c.path, w.Code, c.header, w.Header().Get(c.header))
		}
	}
}

// TestServes: no path of other fronts is one of the docs.
func TestServes(t *testing.T) {
	for path, want := range map[string]bool{"/docs": true, "/docs/start": true, "/llms.txt": true, "/docsx": false, "/": false, "/v1/docs": false} {
		if Serves(path) != want {
			t.Errorf("%s: %v", path, !want)
		}
	}
}

// TestSizes: what a browser loads once is small.
func TestSizes(t *testing.T) {
	for name, most := range map[string]int{"docs.css": 16 << 10, "docs.js": 6 << 10} {
		if size := len(files.Content(name)); size >= most || size < 1000 {
			t.Errorf("%s has %d bytes, not less than %d", name, size, most)
		}
	}
}

// TestLLMs: the list for language models has each guide and each operation.
func TestLLMs(t *testing.T) {
	s := theSite(t)
	text := get(t, handler(options(address)), LLMs).Body.String()
	for _, g := range s.guides {
		if !strings.Contains(text, "]("+address+g.Path()+".md): "+bare(s.markdown.line(g.Summary))) {
			t.Errorf("the guide %s is missing", g.Name)
		}
	}
	for _, o := range s.document.Operations {
		if !strings.Contains(text, "- ["+o.ID+"]("+address+operationPath(o)+"): "+o.Method+" "+o.Path+": "+o.Summary+"\n") {
			t.Errorf("%s is missing", o.ID)
		}
	}
	if !strings.HasPrefix(text, "# ") || strings.Contains(text, "<") {
		t.Error(text)
	}
}

// TestFind: what developers look for is found first.
func TestFind(t *testing.T) {
	s := theSite(t)
	for query, want := range map[string]string{
		"insufficient_stock":  errorsPath + "#insufficient_stock",
		"order.paid":          eventPath("order.paid"),
		"reportOrder":         apiPath + "/reportOrder",
		"report a paid order": apiPath + "/reportOrder",
		"/v1/products/upsert": apiPath + "/upsertProduct",
		"Going LIVE":          "/docs/going-live",
		"signature":           "/docs/webhooks#check-the-signature",
		"max_distance_miles":  apiPath + "/findNearbyStores",
	} {
		if list := s.find(query); len(list) == 0 || list[0].Path != want {
			t.Errorf("%s: %+v", query, list[:min(len(list), 2)])
		}
	}
	if s.find("") != nil || s.find("  ") != nil || len(s.find("xyzzy")) != 0 || len(s.find("order xyzzy")) != 0 {
		t.Error("nothing is found")
	}
	if n := len(s.find("e")); n != mostFound {
		t.Errorf("%d are found", n)
	}
	page := get(t, handler(options(address)), "/docs/find?q=%3Cb%3E+"+strings.Repeat("x", 1000)).Body.String()
	if strings.Contains(page, "<b> x") || !strings.Contains(page, "&lt;b&gt; x") || strings.Contains(page, strings.Repeat("x", 101)) {
		t.Error("what is looked for is not escaped, or not bounded")
	}
}

// TestEventExamples: the example of an event has all that its schema requires, and its own kind.
func TestEventExamples(t *testing.T) {
	s := theSite(t)
	for _, o := range s.document.Events {
		body, ok := s.eventExample(o)
		if !ok {
			t.Errorf("%s has no body", o.Path)
			continue
		}
		if kind := body.Member("event").Text(); kind != o.Path {
			t.Errorf("%s: the event is %s", o.Path, kind)
		}
		content, _ := o.Body.Content.Of("application/json")
		whole(t, s.document, o.Path, body, content.Schema)
		if story, ok := stories[o.Path]; ok && len(content.Named()) == 0 && body.Member("data").Member("order").Member("status").Text() != story[0] {
			t.Errorf("%s: %s", o.Path, body.JSON())
		}
	}
}

// whole checks that an example has all that a schema requires.
func whole(t *testing.T, d *openapi.Document, at string, v openapi.Value, schema *openapi.Schema) {
	t.Helper()
	r, err := d.Resolve(schema)
	if err != nil {
		t.Fatal(err)
	}
	if v.Null() && !r.Nullable {
		t.Errorf("%s is null", at)
	}
	for _, p := range r.Properties {
		member := v.Member(p.Name)
		if member.IsZero() {
			if r.Requires(p.Name) && v.IsObject() {
				t.Errorf("%s.%s is missing", at, p.Name)
			}
			continue
		}
		whole(t, d, at+"."+p.Name, member, p.Value)
	}
}
