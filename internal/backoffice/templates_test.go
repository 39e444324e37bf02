package backoffice

import (
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"

	"purveyor/internal/site"
	"purveyor/internal/site/ui"
)

// banned is what no page may have: the policy would forbid it, or it would run what is not
// in a file of our own.
var banned = regexp.MustCompile(`(?i)<style|\sstyle=|\son[a-z]+=|<script(?:\s[^>]*)?>[^<]|hx-on|hx-vars|javascript:|\bjs:|(?:src|href|action|srcset)="(?:https?:)?//|<iframe|<object|<embed|<base`)

// TestTemplates: no page has a style or a script in it, an attribute that is a script, or
// anything from another site. Icons and files are those that exist, since an unknown file
// panics when the page is made.
func TestTemplates(t *testing.T) {
	files, err := pageFiles.ReadDir("pages")
	if err != nil || len(files) < 5 {
		t.Fatal(len(files), err)
	}
	icons := regexp.MustCompile(`\{\{icon "([^"]+)"\}\}`)
	sprite := spriteIDs()
	for _, f := range files {
		text, err := pageFiles.ReadFile("pages/" + f.Name())
		if err != nil {
			t.Fatal(err)
		}
		if bad := banned.FindString(string(text)); bad != "" {
			t.Errorf("%s has %q", f.Name(), bad)
		}
		for _, m := range icons.FindAllStringSubmatch(string(text), -1) {
			if !sprite[m[1]] {
				t.Errorf("%s shows the icon %q, which the sprite lacks", f.Name(), m[1])
			}
		}
	}
	for status, name := range site.StatusIcons {
		if !sprite[name] {
			t.Errorf("the icon of %s, %q, is not in the sprite", status, name)
		}
	}
	for _, r := range table() {
		if r.word != "" && !sprite[r.icon] {
			t.Errorf("the icon of %s, %q, is not in the sprite", r.path, r.icon)
		}
		if r.icon != "" && r.word == "" {
			t.Errorf("%s has an icon and no word", r.path)
		}
	}
}

// TestBanned: the test above finds what it looks for.
func TestBanned(t *testing.T) {
	for _, bad := range []string{`<p style="x">`, `<style>`, `<a onclick="x()">`, `<script>x()</script>`, `<b hx-on:click="x">`, `hx-vals="js:{}"`,
		`href="javascript:x"`, `src="https://cdn.example/x.js"`, `src="//cdn.example/x.js"`} {
		if banned.FindString(bad) == "" {
			t.Errorf("%s is not found", bad)
		}
	}
	for _, good := range []string{`<script src="/office/static/x.js" defer></script>`, `<a href="/office/orders">On the way</a>`, `<option value="x">`, `data-on="x"`} {
		if bad := banned.FindString(good); bad != "" {
			t.Errorf("%s: %q", good, bad)
		}
	}
}

// served is a file of package ui.
func served(name string) string {
	w := httptest.NewRecorder()
	ui.Serve(w, httptest.NewRequest(http.MethodGet, ui.Path(name), nil))
	return w.Body.String()
}

// spriteIDs are the icons that there are.
func spriteIDs() map[string]bool {
	list := map[string]bool{}
	for _, m := range regexp.MustCompile(`<symbol id="([^"]+)"`).FindAllStringSubmatch(served("icons.svg"), -1) {
		list[m[1]] = true
	}
	return list
}

// TestMenu: the menu has the pages that the user may see, and marks the one that is open.
func TestMenu(t *testing.T) {
	o := openOffice(t)
	_, page := o.get("viewer", "/office/board")
	if n := strings.Count(page, `aria-current="page"`); n != 2 { // in the menu and at the bottom
		t.Errorf("%d entries are marked", n)
	}
	for _, r := range table() {
		if r.word == "" {
			continue
		}
		entry := `<a href="` + r.path + `"`
		_, menu, _ := strings.Cut(page, `<nav class="side"`)
		menu, _, _ = strings.Cut(menu, "</nav>")
		if viewer := o.users["viewer"]; strings.Contains(menu, entry) != (r.may == "" || viewer.MaySomewhere(r.may)) {
			t.Errorf("%s in the menu of a viewer:\n%s", r.path, menu)
		}
	}
	if _, page = o.get("nobody", "/office/board"); strings.Contains(page, "<nav") {
		t.Errorf("a menu without a user:\n%s", page)
	}
}

// TestStoreSwitch: the switch narrows pages to one store of the user, leads back inside of
// the office alone, and takes no store of others.
func TestStoreSwitch(t *testing.T) {
	o := openOffice(t)
	if _, page := o.get("clerk", "/office/board"); strings.Contains(page, `class="switch"`) {
		t.Error("a user of one store has a switch")
	}
	if _, page := o.get("boss", "/office/store?next=/office/board"); !strings.Contains(page, `value="sto_1"`) || !strings.Contains(page, `value="/office/board"`) {
		t.Errorf("the page of the switch:\n%s", page)
	}
	for next, want := range map[string]string{"/office/orders?x=1": "/office/orders?x=1", "//evil.example": "/office", "https://evil.example": "/office", "": "/office", "/officer": "/office"} {
		if status, to := o.post("boss", "/office/store", "store", "sto_1", "next", next); status != 303 || to != want {
			t.Errorf("%q: %d %q", next, status, to)
		}
	}
	if status, _ := o.post("clerk", "/office/store", "store", "sto_other"); status != 404 {
		t.Errorf("a store of others: %d", status)
	}
}
