package backoffice

import (
	"crypto/sha256"
	"maps"
	"net/http"
	"strconv"

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
	// session is that of the user; without an ID where Options.Identify found the user.
	session commerce.Session
}

func (o *Office) visit(w http.ResponseWriter, r *http.Request) *visit {
	return &visit{Request: r, w: web.WriterOf(w), o: o}
}

// caller is the user as the actor of use cases.
func (v *visit) caller() service.Caller {
	return service.Caller{User: v.user, Actor: commerce.Actor{Kind: commerce.ActorStaff, ID: v.user.ID, Mode: commerce.Live,
		TraceID: v.w.TraceID, Address: web.Address(v.Request)}}
}

// repeat tells a form that is sent twice by its key.
func (v *visit) repeat(op string) service.Repeat {
	return service.Repeat{Key: commerce.ReplyKey{PartnerID: v.user.ID, Op: op, Key: v.PostFormValue("key")}}
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

// done ends an act: the browser goes to a page, which says what was done.
func (v *visit) done(to, said string) error {
	if v.Header.Get(quietHeader) != "" {
		v.w.WriteHeader(http.StatusNoContent)
		return nil
	}
	v.o.cookies.Say(v.w, said)
	http.Redirect(v.w, v.Request, to, http.StatusSeeOther)
	return nil
}

// quietHeader marks acts that the script of a page sends, which shows the outcome by itself.
const quietHeader = "X-Office-Quiet"

// said takes the text of the act before this page.
func (v *visit) said() string { return v.o.cookies.Said(v.w, v.Request) }

// once is the idempotency of a form with the hidden field "key" (NewKey): a double click does
// the act once, and a repeat gets the answer that encode gave.
func once[R any](v *visit, encode func(R) (status int, body []byte)) service.Once[R] {
	form := maps.Clone(v.PostForm)
	form.Del("key")
	return service.Once[R]{Key: commerce.ReplyKey{PartnerID: v.user.ID, Op: v.route.path, Key: v.PostFormValue("key")},
		Fingerprint: sha256.Sum256([]byte(v.URL.Path + "?" + form.Encode())), Encode: encode}
}

// seen is the version that a form was made from.
func (v *visit) seen() commerce.Millis {
	seen, _ := strconv.ParseInt(v.PostFormValue("version"), 10, 64) // none: as it is now
	return commerce.Millis(seen)
}

// formKey is the idempotency key of a refused form, so that it stays the same form.
func (v *visit) formKey() string {
	if key := v.PostFormValue("key"); key != "" && len(key) <= 64 {
		return key
	}
	return v.NewKey()
}

// NewKey is for forms: the idempotency key of one act.
func (v *visit) NewKey() string { return v.o.env.Text() }
