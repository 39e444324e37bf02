package backoffice

import (
	"cmp"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

	"purveyor/internal/commerce"
	"purveyor/internal/service"
	"purveyor/internal/signin"
	"purveyor/internal/storage"
	"purveyor/internal/web"
)

// signInRoutes are the pages of people that are not signed in yet.
var signInRoutes = []route{
	{method: get, path: Prefix + "/login", open: true, handle: (*visit).login},
	{method: post, path: Prefix + "/login", open: true, handle: (*visit).signIn},
	{method: get, path: codePath, open: true, handle: (*visit).code},
	{method: post, path: codePath, open: true, handle: (*visit).checkCode},
	{method: get, path: Prefix + "/welcome", open: true, handle: (*visit).welcome},
	{method: post, path: Prefix + "/welcome", open: true, handle: (*visit).acceptLink},
	{method: post, path: Prefix + "/logout", open: true, handle: (*visit).signOut},
	{method: get, path: passwordPath, handle: (*visit).password},
	{method: post, path: passwordPath, handle: (*visit).confirmPassword},
}

// enterRoutes are the page of links that sign in without a password.
var enterRoutes = []route{
	{method: get, path: Prefix + "/enter", open: true, handle: (*visit).enter},
	{method: post, path: Prefix + "/enter", open: true, handle: (*visit).useEnterLink},
}

const (
	codePath     = Prefix + "/login/code"
	passwordPath = Prefix + "/password"
)

// signInPage is the data of the pages "login", "login_code", "password", "welcome" and "enter".
type signInPage struct {
	Next        string // the page that was wanted
	Email, Name string
	Token       string // of a one-time link
	First       bool   // the link makes the first owner
	Shortest    int
}

// wanted is the page that was wanted, if it is one of the office.
func (v *visit) wanted() string {
	next := v.FormValue("next")
	if u, err := url.Parse(next); err != nil || u.IsAbs() || u.Host != "" || u.Path != Prefix && !strings.HasPrefix(u.Path, Prefix+"/") || strings.HasPrefix(next, "//") {
		return Prefix
	}
	return next
}

func (v *visit) login() error {
	if _, err := v.signedIn(); err == nil && v.o.identify == nil {
		return v.done(v.wanted(), "")
	}
	return v.page("login", "Sign in", signInPage{Next: v.wanted()})
}

// signIn checks an e-mail address and a password. Unknown users get the same work and words.
func (v *visit) signIn() error {
	page := signInPage{Next: v.wanted(), Email: commerce.CleanText(strings.ToLower(strings.TrimSpace(v.PostFormValue("email"))), 200)}
	u, err := v.o.reads.UserByEmail(v.Context(), page.Email)
	if err != nil && !errors.Is(err, storage.ErrNotFound) {
		return err
	}
	tries := v.tries(page.Email, u)
	if err := v.throttle(tries); err != nil {
		return v.again(err, "login", "Sign in", page)
	}
	ok, err := v.o.passwords.Matches(v.Context(), u.Password, v.PostFormValue("password"))
	if errors.Is(err, signin.ErrBusy) {
		err = tooMany("Too many people are signing in right now; try again in a minute", time.Minute)
	}
	if err == nil && (!ok || u.Suspended) {
		if err = v.o.uses.RefuseSignIn(v.Context(), tries.ids()); err == nil {
			err = &web.Error{Status: http.StatusUnauthorized, Code: "sign_in_failed", Message: "The e-mail address or the password is wrong"}
		}
	}
	if err != nil {
		return v.again(err, "login", "Sign in", page)
	}
	if u.TOTPSecret != "" {
		half := service.SignIn{UserID: u.ID, Session: commerce.Session{Data: kept{PasswordOn: v.now(), Waiting: u.ID}.encode()}}
		if err := v.begin(half); err != nil {
			return v.again(err, "login", "Sign in", page)
		}
		return v.done(codePath+"?next="+url.QueryEscape(page.Next), "")
	}
	if err := v.complete(u, service.SignIn{Forget: tries.ids()[:1]}); err != nil {
		return v.again(err, "login", "Sign in", page)
	}
	return v.done(page.Next, "")
}

// complete begins the session of a user that has shown everything that is asked for.
func (v *visit) complete(u commerce.User, in service.SignIn) error {
	in.UserID = u.ID
	in.Session = commerce.Session{UserID: u.ID, Data: kept{PasswordOn: v.now()}.encode()}
	if err := v.begin(in); err != nil {
		return err
	}
	v.setCookie(browserCookie, mark(u, v.o.env.Text()), browserLife)
	return nil
}

// try is a count of failed sign-ins, and how many there may be of it.
type try struct {
	id   string
	most int64
}

type tries []try

func (t tries) ids() (ids []string) {
	for _, c := range t {
		ids = append(ids, c.id)
	}
	return ids
}

// tries are the counts of a sign-in of an account: a browser in which it has signed in before has
// one of its own, so that others cannot shut it out.
func (v *visit) tries(email string, u commerce.User) tries {
	if name := v.marked(u); name != "" {
		return tries{{"browser " + name, 5}}
	}
	address := web.Address(v.Request)
	return tries{{"account " + email + " from " + address, 5}, {"address " + address, 20}, {"account " + email, 100}}
}

// throttle refuses a sign-in after too many failures.
func (v *visit) throttle(counts tries) error {
	for _, c := range counts {
		stored, err := v.o.reads.SignInCount(v.Context(), c.id)
		switch {
		case errors.Is(err, storage.ErrNotFound):
			continue
		case err != nil:
			return err
		}
		if stored.Counts(v.now()) && stored.Failures >= c.most {
			until := stored.Since.Add(commerce.SignInWindow)
			return tooMany("Too many tries; try again at "+until.Time().UTC().Format("15:04")+" UTC", until.Sub(v.now()))
		}
	}
	return nil
}

func tooMany(message string, wait time.Duration) error {
	return &web.Error{Status: http.StatusTooManyRequests, Code: "too_many_tries", Message: message, RetryAfter: int(wait/time.Second) + 1}
}

func (v *visit) code() error {
	return v.page("login_code", "Second factor", signInPage{Next: v.wanted()})
}

// checkCode checks the code of an app, or a recovery code.
func (v *visit) checkCode() error {
	page := signInPage{Next: v.wanted()}
	half, err := v.stored()
	if err != nil {
		return err
	}
	waiting := keptOf(half).Waiting
	if half.UserID != "" || waiting == "" {
		return v.done(Prefix+"/login?next="+url.QueryEscape(page.Next), "")
	}
	u, err := v.o.reads.User(v.Context(), waiting)
	if err != nil {
		return err
	}
	tries := v.tries(u.Email, u)
	if err := v.throttle(tries); err != nil {
		return v.again(err, "login_code", "Second factor", page)
	}
	code := v.PostFormValue("code")
	in := service.SignIn{TOTPStep: signin.Step(u.TOTPSecret, code, v.o.env.Now()), Forget: tries.ids()[:1]}
	if in.TOTPStep == 0 {
		in.UsedCode = signin.RecoveryDigest(code)
	}
	if err = v.complete(u, in); err != nil {
		err = cmp.Or(v.o.uses.RefuseSignIn(v.Context(), tries.ids()), error(&web.Error{Status: http.StatusUnauthorized, Code: "sign_in_failed",
			Message: "This code is wrong, or was used before; wait for the next one"}))
		return v.again(err, "login_code", "Second factor", page)
	}
	return v.done(page.Next, "")
}

func (v *visit) signOut() error {
	s, err := v.stored()
	if err == nil && s.UserID != "" {
		by := v.caller().Actor
		by.ID = s.UserID
		err = v.o.uses.EndSessions(v.Context(), by, s.UserID, s.ID)
	}
	if err != nil {
		return err
	}
	v.setCookie(v.o.sessionCookie(), "", 0)
	return v.done(Prefix+"/login", "You are signed out")
}

func (v *visit) welcome() error {
	token := v.URL.Query().Get("token")
	return v.page("welcome", "Welcome", signInPage{Token: token, First: service.UserOfLink(token) == "", Shortest: signin.Shortest})
}

// acceptLink sets the password by a one-time link. A user with a second factor signs in then.
func (v *visit) acceptLink() error {
	token := v.PostFormValue("token")
	page := signInPage{Token: token, First: service.UserOfLink(token) == "", Shortest: signin.Shortest, Email: v.PostFormValue("email"), Name: v.PostFormValue("name")}
	if err := v.throttle(tries{{"address " + web.Address(v.Request), 20}}); err != nil {
		return v.again(err, "welcome", "Welcome", page)
	}
	hash, err := v.o.passwords.Hash(v.Context(), v.PostFormValue("password"), page.Email, page.Name)
	var u commerce.User
	if err == nil {
		u, err = v.o.uses.AcceptLink(v.Context(), v.caller().Actor, service.AcceptLink{Token: token, Email: page.Email, Name: page.Name, Password: hash})
	}
	if errors.Is(err, signin.ErrBusy) {
		err = tooMany("Too many people are signing in right now; try again in a minute", time.Minute)
	}
	if err != nil {
		return v.again(errors.Join(err, v.o.uses.RefuseSignIn(v.Context(), []string{"address " + web.Address(v.Request)})), "welcome", "Welcome", page)
	}
	if u.TOTPSecret != "" {
		return v.done(Prefix+"/login", "Your password is set; sign in with it")
	}
	if err := v.complete(u, service.SignIn{}); err != nil {
		return err
	}
	return v.done(Prefix, "Welcome, "+u.Name)
}

func (v *visit) enter() error {
	return v.page("enter", "Enter the back office", signInPage{Token: v.URL.Query().Get("token")})
}

// useEnterLink signs in by a link, as the demo prints it. A link never passes a second factor.
func (v *visit) useEnterLink() error {
	token := v.PostFormValue("token")
	u, err := v.o.reads.User(v.Context(), service.UserOfLink(token))
	if errors.Is(err, storage.ErrNotFound) || err == nil && u.TOTPSecret != "" {
		err = commerce.Conflict("link_used", "This link was used, or has ended; ask for another one")
	}
	if err == nil {
		err = v.complete(u, service.SignIn{LinkHash: commerce.HashKey(token)})
	}
	if err != nil {
		return err
	}
	return v.done(Prefix, fmt.Sprintf("You are signed in as %s", u.Name))
}

func (v *visit) password() error {
	return v.page("password", "Your password again", signInPage{Next: v.wanted()})
}

// confirmPassword takes the password once more, before something that asks for it.
func (v *visit) confirmPassword() error {
	page := signInPage{Next: v.wanted()}
	tries := v.tries(v.user.Email, v.user)
	err := v.throttle(tries)
	ok := false
	if err == nil {
		ok, err = v.o.passwords.Matches(v.Context(), v.user.Password, v.PostFormValue("password"))
	}
	if err == nil && !ok {
		err = cmp.Or(v.o.uses.RefuseSignIn(v.Context(), tries.ids()), error(&web.Error{Status: http.StatusUnauthorized, Code: "sign_in_failed", Message: "The password is wrong"}))
	}
	if err == nil {
		err = v.complete(v.user, service.SignIn{Forget: tries.ids()[:1]})
	}
	if err != nil {
		return v.again(err, "password", "Your password again", page)
	}
	return v.done(page.Next, "")
}
