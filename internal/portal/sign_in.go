package portal

import (
	"errors"
	"net/http"
	"time"

	"purveyor/internal/commerce"
	"purveyor/internal/site"
	"purveyor/internal/storage"
	"purveyor/internal/web"
)

// signInRoutes are the pages of people that are not signed in yet.
var signInRoutes = []route{
	{method: get, path: Prefix + "/login", open: true, handle: (*visit).login},
	{method: post, path: Prefix + "/login", open: true, handle: (*visit).askForLink},
	{method: get, path: Prefix + "/enter", open: true, handle: (*visit).enter},
	{method: post, path: Prefix + "/enter", open: true, handle: (*visit).useLink},
	{method: post, path: Prefix + "/logout", open: true, handle: (*visit).signOut},
}

// How long sessions last.
const (
	idleLife    = 12 * time.Hour      // without a request
	sessionLife = 14 * 24 * time.Hour // at most
	seenEvery   = time.Minute         // between two records that a session is used
)

// errSignedOut says that the request has no session.
var errSignedOut = errors.New("not signed in")

// signedIn finds the member of the request's session, with its partner, and records that the
// session is used. A member that was removed has none.
func (v *visit) signedIn() error {
	id := v.p.cookies.SessionID(v.Request)
	if id == "" {
		return errSignedOut
	}
	s, err := v.p.reads.Session(v.Context(), id)
	now := v.now()
	if err == nil && (s.ExpiresOn <= now || s.SeenOn < now.Add(-idleLife)) {
		return errSignedOut
	}
	var m commerce.Member
	if err == nil {
		m, err = v.p.reads.Member(v.Context(), s.UserID)
	}
	if errors.Is(err, storage.ErrNotFound) {
		return errSignedOut
	}
	if err == nil {
		v.partner, err = v.p.reads.Partner(v.Context(), m.PartnerID)
	}
	if err == nil && s.SeenOn < now.Add(-seenEvery) {
		err = v.p.uses.SeeSession(v.Context(), s.ID)
	}
	if err == nil {
		v.member, v.session = m, s
	}
	return err
}

// loginPage is the data of the pages "login", "login_sent" and "enter".
type loginPage struct {
	Email string
	Token string // of a one-time link
}

func (v *visit) login() error { return v.page("login", "Sign in", loginPage{}) }

// askForLink has a link mailed. Whether the address is known, nothing tells.
func (v *visit) askForLink() error {
	page := loginPage{Email: v.PostFormValue("email")}
	err := v.p.uses.RequestMemberLink(v.Context(), page.Email, web.Address(v.Request))
	if spent, ok := errors.AsType[*commerce.TooManyTries](err); ok {
		wait := int(spent.Until.Sub(v.now())/time.Second) + 1
		err = &web.Error{Status: http.StatusTooManyRequests, Code: "too_many_tries", RetryAfter: wait,
			Message: "Too many links were asked for; try again at " + spent.Until.Time().UTC().Format("15:04") + " UTC"}
	}
	if err != nil {
		return v.again(err, "login", "Sign in", page)
	}
	return v.page("login_sent", "Look into your mail", page)
}

// enter shows a button, since mail programs open links by themselves. Only the button uses the link.
func (v *visit) enter() error {
	return v.page("enter", "Sign in to the partner portal", loginPage{Token: v.URL.Query().Get("token")})
}

// useLink signs in by a link.
func (v *visit) useLink() error {
	token := site.NewToken(v.p.env)
	session := commerce.Session{ID: site.SessionID(token), ExpiresOn: v.now().Add(sessionLife), Data: []byte{}, Address: web.Address(v.Request), Agent: commerce.CleanText(v.UserAgent(), commerce.MaxNote)}
	_, err := v.p.uses.EnterPortal(v.Context(), session, v.p.cookies.SessionID(v.Request), v.PostFormValue("token"))
	if err != nil {
		return err
	}
	v.p.cookies.Set(v.w, v.p.cookies.Session(), token, sessionLife)
	return v.done(Prefix, "You are signed in")
}

func (v *visit) signOut() error {
	if err := v.signedIn(); err == nil {
		if err := v.p.uses.EndSessions(v.Context(), v.actor(), v.member.ID, v.session.ID); err != nil {
			return err
		}
	} else if !errors.Is(err, errSignedOut) {
		return err
	}
	v.p.cookies.Set(v.w, v.p.cookies.Session(), "", 0)
	return v.done(Prefix+"/login", "You are signed out")
}
