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
func (v *visit) wanted() string { return inside(v.FormValue("next")) }

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
	if err == nil && (!ok || u.Suspended) {
		err = v.failed(tries, "The e-mail address or the password is wrong")
	}
	if err != nil {
		return v.again(waitFor(err, v.now()), "login", "Sign in", page)
	}
	if u.TOTPSecret != "" {
		half := service.SignIn{UserID: u.ID, RightsOn: u.RightsOn, Tries: tries, Session: commerce.Session{Data: kept{PasswordOn: v.now(), Waiting: u.ID}.encode()}}
		if err := v.begin(half); err != nil {
			return v.again(waitFor(err, v.now()), "login", "Sign in", page)
		}
		return v.done(codePath+"?next="+url.QueryEscape(page.Next), "")
	}
	if err := v.complete(u, service.SignIn{Tries: tries, Forget: true}); err != nil {
		return v.again(waitFor(err, v.now()), "login", "Sign in", page)
	}
	return v.done(page.Next, "")
}

// complete begins the session of a user that has shown everything that is asked for.
func (v *visit) complete(u commerce.User, in service.SignIn) error {
	in.UserID, in.RightsOn = u.ID, u.RightsOn
	in.Session = commerce.Session{UserID: u.ID, Data: kept{PasswordOn: v.now()}.encode()}
	if err := v.begin(in); err != nil {
		return err
	}
	v.o.cookies.Set(v.w, browserCookie, mark(u, v.o.env.Text()), browserLife)
	return nil
}

// tries are the counts of a sign-in of an account: a browser in which it has signed in before has
// one of its own, so that others cannot shut it out.
func (v *visit) tries(email string, u commerce.User) []commerce.SignInTry {
	if name := v.marked(u); name != "" {
		return []commerce.SignInTry{{ID: "browser " + name, Most: 5}}
	}
	address := web.Address(v.Request)
	return append([]commerce.SignInTry{{ID: "account " + email + " from " + address, Most: 5}, {ID: "account " + email, Most: 100}}, v.triesFromHere()...)
}

// triesFromHere is the count of the request's address.
func (v *visit) triesFromHere() []commerce.SignInTry {
	return []commerce.SignInTry{{ID: "address " + web.Address(v.Request), Most: 20}}
}

// failed counts a failure, and returns its refusal.
func (v *visit) failed(tries []commerce.SignInTry, message string) error {
	if err := v.o.uses.RefuseSignIn(v.Context(), tries); err != nil {
		return err
	}
	return &web.Error{Status: http.StatusUnauthorized, Code: "sign_in_failed", Message: message}
}

// throttle refuses a sign-in after too many failures, before it makes work. The command that signs
// in or counts the failure decides.
func (v *visit) throttle(tries []commerce.SignInTry) error {
	for _, try := range tries {
		stored, err := v.o.reads.SignInCount(v.Context(), try.ID)
		switch {
		case errors.Is(err, storage.ErrNotFound):
			continue
		case err != nil:
			return err
		}
		if until := try.Spent(stored, v.now()); until != 0 {
			return waitFor(&commerce.TooManyTries{Until: until}, v.now())
		}
	}
	return nil
}

// waitFor words refusals that a user can wait for. Other errors stay as they are.
func waitFor(err error, now commerce.Millis) error {
	if errors.Is(err, signin.ErrBusy) {
		return tooMany("Too many people are signing in right now; try again in a minute", time.Minute)
	}
	if spent, ok := errors.AsType[*commerce.TooManyTries](err); ok {
		return tooMany("Too many tries; try again at "+spent.Until.Time().UTC().Format("15:04")+" UTC", spent.Until.Sub(now))
	}
	return err
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
	again := Prefix + "/login?next=" + url.QueryEscape(page.Next)
	if half.UserID != "" || waiting == "" {
		return v.done(again, "")
	}
	u, err := v.o.reads.User(v.Context(), waiting)
	if err != nil {
		return err
	}
	if u.RightsOn > half.CreatedOn { // the password may be another one by now
		return v.done(again, "")
	}
	tries := v.tries(u.Email, u)
	if err := v.throttle(tries); err != nil {
		return v.again(err, "login_code", "Second factor", page)
	}
	code := v.PostFormValue("code")
	in := service.SignIn{TOTPStep: signin.Step(u.TOTPSecret, code, v.o.env.Now()), Tries: tries, Forget: true}
	if in.TOTPStep == 0 {
		in.UsedCode = signin.RecoveryDigest(code)
	}
	err = v.complete(u, in)
	if isRefusal(err, "code_used") {
		err = v.failed(tries, "This code is wrong, or was used before; wait for the next one")
	}
	if err != nil {
		return v.again(waitFor(err, v.now()), "login_code", "Second factor", page)
	}
	return v.done(page.Next, "")
}

// isRefusal reports whether an error is the refusal with this code.
func isRefusal(err error, code string) bool {
	refusal, ok := errors.AsType[*commerce.Error](err)
	return ok && refusal.Code == code
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
	v.o.cookies.Set(v.w, v.o.cookies.Session(), "", 0)
	return v.done(Prefix+"/login", "You are signed out")
}

func (v *visit) welcome() error {
	token := v.URL.Query().Get("token")
	if _, err := v.o.uses.FindLink(v.Context(), token); err != nil {
		return err
	}
	return v.page("welcome", "Welcome", signInPage{Token: token, First: service.UserOfLink(token) == "", Shortest: signin.Shortest})
}

// acceptLink sets the password by a one-time link. A user with a second factor signs in then.
func (v *visit) acceptLink() error {
	token := v.PostFormValue("token")
	page := signInPage{Token: token, First: service.UserOfLink(token) == "", Shortest: signin.Shortest, Email: v.PostFormValue("email"), Name: v.PostFormValue("name")}
	if err := v.throttle(v.triesFromHere()); err != nil {
		return v.again(err, "welcome", "Welcome", page)
	}
	u, err := v.o.uses.FindLink(v.Context(), token)
	var hash string
	if err == nil { // the work of a hash is for links that work
		hash, err = v.o.passwords.Hash(v.Context(), v.PostFormValue("password"), page.Email, page.Name, u.Email, u.Name)
	}
	if err == nil {
		u, err = v.o.uses.AcceptLink(v.Context(), v.caller().Actor, service.AcceptLink{Token: token, Email: page.Email, Name: page.Name, Password: hash})
	}
	if isRefusal(err, "link_used") {
		err = cmp.Or(v.o.uses.RefuseSignIn(v.Context(), v.triesFromHere()), err)
	}
	if err != nil {
		return v.again(waitFor(err, v.now()), "welcome", "Welcome", page)
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
	u, err := v.o.uses.FindLink(v.Context(), token)
	if err == nil && (u.ID == "" || u.TOTPSecret != "") {
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
		err = v.failed(tries, "The password is wrong")
	}
	if err == nil {
		err = v.complete(v.user, service.SignIn{Tries: tries, Forget: true})
	}
	if err != nil {
		return v.again(waitFor(err, v.now()), "password", "Your password again", page)
	}
	return v.done(page.Next, "")
}
