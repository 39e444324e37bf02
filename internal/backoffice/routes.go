package backoffice

import (
	"net/http"
	"slices"

	"purveyor/internal/commerce"
)

const (
	get  = http.MethodGet
	post = http.MethodPost
)

// route is a page or an act.
type route struct {
	method, path string
	// may is the permission that the user needs in some store. Handlers of what belongs
	// to a store ask for it there (visit.mayIn). Empty: each signed-in user may.
	may    commerce.Permission
	open   bool // to everybody, signed in or not
	handle func(*visit) error
	word   string // in the menu; empty: the page is not in it
	icon   string
	room   int64 // bytes of a form at most; 0: formRoom
}

// formRoom is how many bytes a form may have.
const formRoom = 64 << 10

// table has all pages and acts, in the order of the menu. The router, the menu and the test of
// every role with every route are made from it.
func table() []route {
	return slices.Concat(
		looks,
		todayRoutes,
		boardRoutes,
		signInRoutes,
		nativeRoutes,
		findRoutes,
		orderRoutes,
		productRoutes,
		storeRoutes,
		partnerRoutes,
		requestRoutes,
		reportRoutes,
		peopleRoutes,
		meRoutes,
	)
}
