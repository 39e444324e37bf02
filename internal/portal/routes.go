package portal

import (
	"net/http"
	"slices"
)

const (
	get  = http.MethodGet
	post = http.MethodPost
)

// route is a page or an act.
type route struct {
	method, path string
	open         bool // to everybody, signed in or not
	changes      bool // only admins may
	handle       func(*visit) error
	word         string // in the menu; empty: the page is not in it
	icon         string
}

// table has all pages and acts, in the order of the menu.
func table() []route {
	return slices.Concat(signInRoutes, homeRoutes, requestRoutes, eventRoutes, orderRoutes, endpointRoutes, keyRoutes, sandboxRoutes, certifyRoutes, settingsRoutes)
}
