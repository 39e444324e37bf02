package backoffice

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"strings"
	"time"

	"purveyor/internal/commerce"
	"purveyor/internal/service"
	"purveyor/internal/site"
	"purveyor/internal/storage"
	"purveyor/internal/web"
)

// How long sessions last.
const (
	idleLife    = 12 * time.Hour      // without a request
	sessionLife = 14 * 24 * time.Hour // at most
	halfLife    = 10 * time.Minute    // between the password and the second factor
	browserLife = 90 * 24 * time.Hour // of the mark of a browser that has signed in
	seenEvery   = time.Minute         // between two records that a session is used
	recentLife  = 15 * time.Minute    // of a password that opens what asks for it again
)

// kept is Session.Data.
type kept struct {
	PasswordOn commerce.Millis `json:"password_on"`       // when the password was last given
	Waiting    string          `json:"waiting,omitempty"` // the user whose second factor is still to come
}

func keptOf(s commerce.Session) (k kept) {
	if json.Unmarshal(s.Data, &k) != nil {
		return kept{} // as if the password had been given long ago
	}
	return k
}

func (k kept) encode() []byte {
	data, err := json.Marshal(k)
	if err != nil {
		panic(err) // numbers and texts always encode
	}
	return data
}

// stored is the session of the request's cookie as it is stored. It is without an ID if there is
// none, or if it has ended.
func (v *visit) stored() (commerce.Session, error) {
	id := v.o.cookies.SessionID(v.Request)
	if id == "" {
		return commerce.Session{}, nil
	}
	s, err := v.o.reads.Session(v.Context(), id)
	now := v.now()
	switch {
	case errors.Is(err, storage.ErrNotFound):
		return commerce.Session{}, nil
	case err != nil:
		return s, err
	case s.ExpiresOn <= now || s.SeenOn < now.Add(-idleLife):
		return commerce.Session{}, nil
	}
	return s, nil
}

func (v *visit) now() commerce.Millis { return commerce.MillisOf(v.o.env.Now()) }

// signedIn finds the user of the request's session. A suspended user has none. After a change of
// the user's rights, the token is renewed.
func (v *visit) signedIn() (commerce.User, error) {
	u, err := v.sessionUser()
	if err == nil && u.RightsOn > v.session.CreatedOn {
		err = v.begin(service.SignIn{UserID: u.ID, RightsOn: u.RightsOn, Session: commerce.Session{UserID: u.ID, Data: v.session.Data}})
	}
	return u, err
}

// sessionUser finds the user of the request's session, and records that the session is used.
func (v *visit) sessionUser() (commerce.User, error) {
	s, err := v.stored()
	if err != nil || s.UserID == "" {
		return commerce.User{}, errors.Join(err, ErrSignedOut)
	}
	u, err := v.o.reads.User(v.Context(), s.UserID)
	switch {
	case errors.Is(err, storage.ErrNotFound) || err == nil && u.Suspended:
		return u, ErrSignedOut
	case err != nil:
		return u, err
	}
	v.session = s
	if u.RightsOn <= s.CreatedOn && s.SeenOn < v.now().Add(-seenEvery) {
		err = v.o.uses.SeeSession(v.Context(), s.ID)
	}
	return u, err
}

// still finds the user of a request that goes on for long. A change of rights ends it, since its
// answer can take no new token any more.
func (v *visit) still() (commerce.User, error) {
	if v.o.identify != nil {
		return v.o.identify(v.Request)
	}
	u, err := v.sessionUser()
	if err == nil && u.RightsOn > v.session.CreatedOn {
		err = ErrSignedOut
	}
	return u, err
}

// begin starts a session with a new token in place of the one that the browser has.
func (v *visit) begin(in service.SignIn) error {
	token := site.NewToken(v.o.env)
	life := sessionLife
	if in.Session.UserID == "" {
		life = halfLife
	}
	in.Session.ID, in.Session.ExpiresOn = site.SessionID(token), v.now().Add(life)
	if v.session.ID != "" { // it takes the place of a session, and lasts no longer than that
		in.Session.ExpiresOn = min(in.Session.ExpiresOn, v.session.ExpiresOn)
	}
	in.Session.Address, in.Session.Agent = web.Address(v.Request), commerce.CleanText(v.UserAgent(), commerce.MaxNote)
	in.Old = v.o.cookies.SessionID(v.Request)
	s, err := v.o.uses.SignIn(v.Context(), in)
	if err != nil {
		return err
	}
	v.session = s
	v.o.cookies.Set(v.w, v.o.cookies.Session(), token, life)
	return nil
}

// browserCookie marks a browser in which a user has signed in before.
const browserCookie = "office_browser"

// mark is the value of the mark: a name for the browser, and a proof of it that only this
// service can make, and that ends when the user has another password.
func mark(u commerce.User, name string) string {
	proof := hmac.New(sha256.New, []byte(u.Password))
	proof.Write([]byte(u.ID + " " + name))
	return name + "." + hex.EncodeToString(proof.Sum(nil))
}

// marked is the name of the browser if the user has signed in there before.
func (v *visit) marked(u commerce.User) string {
	c, err := v.Cookie(browserCookie)
	if err != nil || u.Password == "" {
		return ""
	}
	name, _, _ := strings.Cut(c.Value, ".")
	if !hmac.Equal([]byte(c.Value), []byte(mark(u, name))) {
		return ""
	}
	return name
}

// recent asks for the password again if it was given too long ago. Pages ask before they show a
// form, and acts before they do anything.
func (v *visit) recent() error {
	if v.o.identify == nil && keptOf(v.session).PasswordOn < v.now().Add(-recentLife) {
		return errAskAgain
	}
	return nil
}

// errAskAgain says that the password is to be given again.
var errAskAgain = errors.New("the password is to be given again")
