package backoffice

import (
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"purveyor/internal/commerce"
	"purveyor/internal/site"
	"purveyor/internal/web"
)

// ErrSignedOut says that the request has no session. A page is then answered with the way to the
// sign-in, which leads back to it.
var ErrSignedOut = errors.New("not signed in")

// missingPermission is the refusal of a user without a permission.
type missingPermission struct {
	refusal    *commerce.Error
	Permission commerce.Permission
	StoreID    string // empty: the user has it in no store
}

func (e *missingPermission) Error() string { return e.refusal.Message }
func (e *missingPermission) Unwrap() error { return e.refusal }

// missing refuses a user without a permission, in a store or (empty) anywhere.
func missing(p commerce.Permission, storeID string) error {
	return &missingPermission{&commerce.Error{Kind: commerce.KindForbidden, Code: "permission_missing",
		Message: "This needs the permission " + string(p)}, p, storeID}
}

// refuse answers with the page of an error.
func (o *Office) refuse(v *visit, err error) {
	switch {
	case errors.Is(err, ErrSignedOut):
		v.toSignIn()
		return
	case errors.Is(err, errAskAgain):
		v.toPassword()
		return
	}
	e := web.Refuse(v.w, err)
	page := refusalPage{Status: e.Status, Code: e.Code, Message: e.Message, TraceID: v.w.TraceID, Back: v.Method == http.MethodGet}
	if m, ok := errors.AsType[*missingPermission](err); ok {
		page.Permission, page.StoreID, page.Role, page.Owners = m.Permission, m.StoreID, m.Permission.Least(), o.owners(v)
	}
	v.render(e.Status, "refused", frame{Title: site.Title(e.Status), Content: page})
}

// refusalPage is the data of the page "refused".
type refusalPage struct {
	Status        int
	Code, Message string
	TraceID       string
	Back          bool // the page may be tried again as it is
	// Of a missing permission: the least role that has it, and the users that can give it.
	Permission commerce.Permission
	StoreID    string
	Role       commerce.Role
	Owners     []commerce.User
}

// toSignIn leads to the sign-in, and from there back to the page.
func (v *visit) toSignIn() {
	if strings.Contains(v.Header.Get("Accept"), "text/event-stream") || v.Header.Get(quietHeader) != "" { // no page waits for the answer
		v.w.WriteHeader(http.StatusUnauthorized)
		return
	}
	next := Prefix
	if v.Method == http.MethodGet {
		next = v.URL.RequestURI()
	}
	http.Redirect(v.w, v.Request, Prefix+"/login?next="+url.QueryEscape(next), http.StatusSeeOther)
}

// toPassword leads to the page that asks for the password again, and from there back to the page
// with the form.
func (v *visit) toPassword() {
	next := v.URL.RequestURI()
	if v.Method != http.MethodGet {
		next = Prefix
		if from, err := url.Parse(v.Referer()); err == nil && from.Path != "" {
			next = from.RequestURI()
		}
	}
	said := ""
	if v.Method != http.MethodGet {
		said = "Nothing was changed yet: send the form once more after this"
	}
	_ = v.done(passwordPath+"?next="+url.QueryEscape(next), said) // a redirect does not fail
}

// owners are the users that can give any right. Without them the page says less, so a
// failure of the read is no failure of the page.
func (o *Office) owners(v *visit) []commerce.User {
	users, err := o.reads.Users(v.Context())
	if err != nil {
		return nil
	}
	return slices.DeleteFunc(users, func(u commerce.User) bool { return !u.OwnsAll() })
}
