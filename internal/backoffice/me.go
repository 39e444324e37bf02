package backoffice

import (
	"strconv"
	"strings"
	"time"

	"purveyor/internal/commerce"
	"purveyor/internal/service"
	"purveyor/internal/signin"
)

// meRoutes are the pages of a user's own account.
var meRoutes = []route{
	{method: get, path: mePath, handle: (*visit).me},
	{method: post, path: mePath, handle: (*visit).setPreferences},
	{method: post, path: mePath + "/password", handle: (*visit).changePassword},
	{method: post, path: mePath + "/sessions", handle: (*visit).endOwnSessions},
	{method: get, path: mePath + "/factor", handle: (*visit).factor},
	{method: post, path: mePath + "/factor", handle: (*visit).setFactor},
	{method: post, path: mePath + "/factor/off", handle: (*visit).dropFactor},
}

const mePath = Prefix + "/me"

// mePage is the data of the page "me".
type mePage struct {
	User     commerce.User
	Sessions []commerce.Session
	Here     string // the id of this session
	Zone     *time.Location
	Shortest int
}

func (v *visit) mePage() (mePage, error) {
	sessions, err := v.o.reads.Sessions(v.Context(), v.user.ID)
	return mePage{v.user, sessions, v.session.ID, time.UTC, signin.Shortest}, err
}

func (v *visit) me() error {
	page, err := v.mePage()
	if err != nil {
		return err
	}
	return v.page("me", "Your account", page)
}

// meAgain answers a form of the page that was refused.
func (v *visit) meAgain(refused error) error {
	page, err := v.mePage()
	if err != nil {
		return err
	}
	return v.again(waitFor(refused, v.now()), "me", "Your account", page)
}

func (v *visit) setPreferences() error {
	theme := v.PostFormValue("theme")
	if theme != "light" && theme != "dark" {
		theme = ""
	}
	p := commerce.Preferences{Theme: theme, Muted: v.PostFormValue("sound") == "", NoShortcuts: v.PostFormValue("shortcuts") == "", Comfortable: v.PostFormValue("comfortable") != ""}
	if _, err := v.o.uses.SetPreferences(v.Context(), v.caller(), v.PostFormValue("name"), p); err != nil {
		return v.meAgain(err)
	}
	return v.done(mePath, "Your settings are saved")
}

// changePassword takes the old password and the new one, and signs out all other browsers.
func (v *visit) changePassword() error {
	tries := v.tries(v.user.Email, v.user)
	if err := v.throttle(tries); err != nil {
		return v.meAgain(err)
	}
	ok, err := v.o.passwords.Matches(v.Context(), v.user.Password, v.PostFormValue("old"))
	if err == nil && !ok {
		if err = v.o.uses.RefuseSignIn(v.Context(), tries); err == nil {
			err = commerce.Invalid("old", "The present password is wrong")
		}
	}
	var hash string
	if err == nil {
		hash, err = v.o.passwords.Hash(v.Context(), v.PostFormValue("password"), v.user.Email, v.user.Name)
	}
	if err == nil {
		_, err = v.o.uses.ChangePassword(v.Context(), v.caller(), hash, v.session.ID)
	}
	if err != nil {
		return v.meAgain(err)
	}
	return v.done(mePath, "Your password is changed, and other browsers are signed out")
}

func (v *visit) endOwnSessions() error {
	if err := v.o.uses.EndSessions(v.Context(), v.caller().Actor, v.user.ID, v.PostFormValue("session")); err != nil {
		return err
	}
	return v.done(mePath, "Signed out there")
}

// factorPage is the data of the page "factor".
type factorPage struct {
	On      bool
	Left    int // recovery codes
	Secret  string
	Picture [][]bool
	Codes   []string // recovery codes, which are shown once
}

func (v *visit) factor() error {
	if err := v.recent(); err != nil {
		return err
	}
	return v.page("factor", "Second factor", v.factorPage(signin.NewSecret(v.o.env)))
}

func (v *visit) factorPage(secret string) factorPage {
	return factorPage{On: v.user.TOTPSecret != "", Left: len(v.user.RecoveryCodes), Secret: secret, Picture: signin.Picture(signin.KeyURL(secret, "Purveyor", v.user.Email))}
}

// setFactor turns the factor on once a code shows that the app has the secret.
func (v *visit) setFactor() error {
	if err := v.recent(); err != nil {
		return err
	}
	secret := v.PostFormValue("secret")
	step := signin.Step(secret, v.PostFormValue("code"), v.o.env.Now())
	if step == 0 || len(secret) != 32 {
		if len(secret) != 32 {
			secret = signin.NewSecret(v.o.env)
		}
		return v.again(commerce.Invalid("code", "This code is wrong; type the one that the app shows now"), "factor", "Second factor", v.factorPage(secret))
	}
	codes, digests := signin.RecoveryCodes(v.o.env)
	if _, err := v.o.uses.SetSecondFactor(v.Context(), v.caller(), service.SecondFactor{Secret: secret, Step: step, RecoveryCodes: digests}); err != nil {
		return err
	}
	return v.page("factor", "Second factor", factorPage{On: true, Left: len(codes), Codes: codes})
}

func (v *visit) dropFactor() error {
	if err := v.recent(); err != nil {
		return err
	}
	if _, err := v.o.uses.SetSecondFactor(v.Context(), v.caller(), service.SecondFactor{}); err != nil {
		return err
	}
	return v.done(mePath, "The second factor is off")
}

// Squares are the dark squares of the picture as the path of an SVG.
func (p factorPage) Squares() string {
	var b strings.Builder
	for y, row := range p.Picture {
		for x, dark := range row {
			if dark {
				b.WriteString("M" + strconv.Itoa(x+4) + " " + strconv.Itoa(y+4) + "h1v1h-1z")
			}
		}
	}
	return b.String()
}

// Side is the length of the picture with its quiet zone.
func (p factorPage) Side() int { return len(p.Picture) + 8 }
