package backoffice

import (
	"net/http"

	"purveyor/internal/commerce"
	"purveyor/internal/service"
	"purveyor/internal/web"
)

// visit is one request of a user.
type visit struct {
	*http.Request
	w     *web.Writer
	o     *Office
	route route
	user  commerce.User // without an ID on pages that are open to all
}

func (o *Office) visit(w http.ResponseWriter, r *http.Request) *visit {
	return &visit{Request: r, w: web.WriterOf(w), o: o}
}

// caller is the user as the actor of use cases.
func (v *visit) caller() service.Caller {
	return service.Caller{User: v.user, Actor: commerce.Actor{Kind: commerce.ActorStaff, ID: v.user.ID, Mode: commerce.Live,
		TraceID: v.w.TraceID, Address: web.Address(v.Request)}}
}

// mayIn refuses what the route does in a store: with 404 if the user may not see the store at
// all, else with 403.
func (v *visit) mayIn(storeID, noun string) error {
	switch {
	case v.route.may == "" || v.user.May(v.route.may, storeID):
		return nil
	case !v.user.May(commerce.MayReadOrders, storeID):
		return commerce.NotFound(noun)
	}
	return missing(v.route.may, storeID)
}

// ofOrder is the handler of a route about the order in the path.
func ofOrder(handle func(*visit, commerce.Order) error) func(*visit) error {
	return func(v *visit) error {
		order, err := v.o.uses.FindOrder(v.Context(), v.caller(), v.PathValue("id"))
		if err == nil {
			err = v.mayIn(order.StoreID, "order")
		}
		if err != nil {
			return err
		}
		return handle(v, order)
	}
}

// redirect sends the browser to a page that shows the outcome of an act.
func (v *visit) redirect(to string) error {
	http.Redirect(v.w, v.Request, to, http.StatusSeeOther)
	return nil
}
