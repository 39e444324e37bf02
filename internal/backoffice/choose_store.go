package backoffice

import (
	"net/http"
	"net/url"
	"path"
	"strings"

	"purveyor/internal/commerce"
)

// The store switch in the bar narrows all lists to one store. It is kept in a cookie, since it
// belongs to the screen at which a person stands, not to the person.

const storeCookie = "office_store"

// chosen is the store of the switch; empty: all stores of the user.
func (v *visit) chosen() string {
	c, err := v.Cookie(storeCookie)
	if err != nil || !v.user.May(commerce.MayReadOrders, c.Value) {
		return ""
	}
	return c.Value
}

// storesWith are the stores of a list: those in which the user has a permission, narrowed by
// the store switch. all reports that it is every store.
func (v *visit) storesWith(p commerce.Permission) (ids []string, all bool) {
	if id := v.chosen(); id != "" && v.user.May(p, id) {
		return []string{id}, false
	}
	return v.user.StoresWith(p)
}

// Switch is what the store switch says; empty: the user has one store, and there is nothing
// to switch.
func (v *visit) Switch() string {
	if ids, all := v.user.StoresWith(commerce.MayReadOrders); !all && len(ids) < 2 {
		return ""
	}
	if id := v.chosen(); id != "" {
		if store, err := v.o.reads.Store(v.Context(), id); err == nil {
			return store.Name
		}
	}
	return "All stores"
}

// storeChoice is the data of the page of the switch.
type storeChoice struct {
	Stores []commerce.Store
	Chosen string
	Next   string
}

// chooseStore shows the stores of the user.
func (v *visit) chooseStore() error {
	stores, err := v.storesOf(commerce.MayReadOrders)
	if err != nil {
		return err
	}
	return v.page("store_choice", "Choose a store", storeChoice{Stores: stores, Chosen: v.chosen(), Next: inside(v.URL.Query().Get("next"))})
}

// storeChosen sets the switch.
func (v *visit) storeChosen() error {
	cookie := &http.Cookie{Name: storeCookie, Value: v.PostFormValue("store"), Path: Prefix, MaxAge: 365 * 24 * 3600, HttpOnly: true, SameSite: http.SameSiteLaxMode}
	switch {
	case cookie.Value == "":
		cookie.MaxAge = -1
	case !v.user.May(commerce.MayReadOrders, cookie.Value):
		return commerce.NotFound("store")
	}
	http.SetCookie(v.w, cookie)
	return v.done(inside(v.PostFormValue("next")), "")
}

// inside returns an address that leads to a page of the office, else that of its first page. What
// a redirect would clean, and what a browser takes for a slash, may lead elsewhere.
func inside(to string) string {
	u, err := url.Parse(to)
	if err != nil || u.IsAbs() || u.Host != "" || u.Path != path.Clean(u.Path) || strings.Contains(u.Path, "\\") || u.Path != Prefix && !strings.HasPrefix(u.Path, Prefix+"/") {
		return Prefix
	}
	return to
}
