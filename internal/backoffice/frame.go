package backoffice

import (
	"cmp"
	"strings"

	"purveyor/internal/commerce"
	"purveyor/internal/site/ui"
)

// What the layout shows around each page.

// SignedIn reports whether the page has a user. Without one it has no menu.
func (v *visit) SignedIn() bool { return v.user.ID != "" }

// UserName is what the user's menu is called.
func (v *visit) UserName() string { return cmp.Or(v.user.Name, v.user.Email) }

// Theme is "light", "dark" or, as the system has it, empty.
func (v *visit) Theme() string { return v.user.Preferences.Theme }

// Comfortable reports whether the user likes higher rows.
func (v *visit) Comfortable() bool { return v.user.Preferences.Comfortable }

// NoShortcuts reports whether the user has switched the keyboard shortcuts off.
func (v *visit) NoShortcuts() bool { return v.user.Preferences.NoShortcuts }

// Muted reports whether the user wants to hear nothing.
func (v *visit) Muted() bool { return v.user.Preferences.Muted }

// Here is the path of this page with its query, to come back to.
func (v *visit) Here() string {
	if v.Method != get {
		return Prefix
	}
	return v.URL.RequestURI()
}

// link is an entry of a menu.
type link struct {
	Path, Word, Icon string
	Current          bool // the page is this one, or below it
}

// Menu has the pages that the user may see, in the order of the table of routes.
func (v *visit) Menu() (list []link) {
	here := 0
	for _, r := range v.o.routes {
		if r.word == "" || r.may != "" && !v.user.MaySomewhere(r.may) {
			continue
		}
		list = append(list, link{Path: r.path, Word: r.word, Icon: r.icon})
		if path := list[len(list)-1].Path; below(v.URL.Path, path) && len(path) > len(list[here].Path) || v.URL.Path == path {
			here = len(list) - 1
		}
	}
	if len(list) > 0 && below(v.URL.Path, list[here].Path) && (list[here].Path != Prefix || v.URL.Path == Prefix) {
		list[here].Current = true
	}
	return list
}

// below reports whether a page is the other one, or stands below it.
func below(path, other string) bool { return path == other || strings.HasPrefix(path, other+"/") }

// tabs are the pages that a phone shows at its bottom edge.
var tabs = []string{Prefix + "/board", Prefix + "/orders", Prefix + "/attention"}

// Tabs are the entries of the menu that a phone shows at its bottom edge.
func (v *visit) Tabs() (list []link) {
	for _, l := range v.Menu() {
		for _, path := range tabs {
			if l.Path == path {
				list = append(list, l)
			}
		}
	}
	return list
}

// looks are routes of what all pages need.
var looks = []route{
	{method: get, path: ui.Prefix + "{file}", open: true, handle: (*visit).static},
	{method: get, path: Prefix + "/store", handle: (*visit).chooseStore},
	{method: post, path: Prefix + "/store", handle: (*visit).storeChosen},
}

// static is a file of package ui.
func (v *visit) static() error {
	if !ui.Serve(v.w, v.Request) {
		return commerce.NotFound("file")
	}
	return nil
}
