package command

import (
	"slices"

	"purveyor/internal/commerce"
)

// SignIn begins a session.
type SignIn struct {
	Session commerce.Session // with its id; its user is named or, before the second factor, not
	Old     string           // the session that the browser had; it ends. Empty: none
	UserID  string
	// RightsOn is the user's, as it was when password, code or link were checked.
	RightsOn commerce.Millis
	// LinkHash is the one-time link that signs in; zero: a password did.
	LinkHash commerce.KeyHash
	// TOTPStep is the time step of the code that was given, and UsedCode the digest of the
	// recovery code; empty: none.
	TOTPStep int64
	UsedCode string
	Tries    []commerce.SignInTry // counts of failures; one that is spent refuses the sign-in
	Forget   bool                 // the first of them ends with the success
}

// Needs names the user, both sessions, the link and the counts.
func (c SignIn) Needs() commerce.Needs {
	n := commerce.Needs{Users: []string{c.UserID}, Sessions: []string{c.Session.ID}, SignInCounts: triesOf(c.Tries)}
	if c.Old != "" {
		n.Sessions = append(n.Sessions, c.Old)
	}
	if c.LinkHash != (commerce.KeyHash{}) {
		n.SignInLinks = []string{c.UserID}
	}
	return n
}

// Decide signs in. It refuses a code or a link that was used before, a user that has changed since
// the check, and a sign-in after too many failures.
func (c SignIn) Decide(rows *commerce.Rows, now commerce.Millis) (commerce.Session, commerce.Changes, error) {
	var changes commerce.Changes
	u, err := theUser(rows, c.UserID)
	if err != nil || u.Suspended || u.RightsOn != c.RightsOn {
		return c.Session, changes, commerce.Conflict("not_signed_in", "This user was changed meanwhile; sign in again")
	}
	if err := within(rows, c.Tries, now); err != nil {
		return c.Session, changes, err
	}
	used := u
	switch {
	case c.LinkHash != (commerce.KeyHash{}):
		link, _ := rows.SignInLinks.Get(c.UserID)
		if !link.Opens(c.LinkHash, now) {
			return c.Session, changes, commerce.Conflict("link_used", "This link was used, or has ended; ask for another one")
		}
		link.Hash = commerce.KeyHash{}
		changes.SignInLinks = []commerce.SignInLink{link}
	case c.UsedCode != "":
		if !slices.Contains(u.RecoveryCodes, c.UsedCode) {
			return c.Session, changes, commerce.Conflict("code_used", "This code was used before")
		}
		used.RecoveryCodes = slices.DeleteFunc(slices.Clone(u.RecoveryCodes), func(code string) bool { return code == c.UsedCode })
	case c.TOTPStep != 0:
		if c.TOTPStep <= u.TOTPStep {
			return c.Session, changes, commerce.Conflict("code_used", "This code was used before; wait for the next one")
		}
		used.TOTPStep = c.TOTPStep
	}
	if c.UsedCode != "" || c.TOTPStep != 0 {
		changes.Users = []commerce.User{used}
	}
	c.Session.CreatedOn, c.Session.SeenOn = now, now
	changes.Sessions = []commerce.Session{c.Session}
	if _, there := rows.Sessions.Get(c.Session.ID); c.Old != "" && !there {
		changes.EndedSessions = []string{c.Old}
	}
	if c.Forget {
		if count, _ := rows.SignInCounts.Get(c.Tries[0].ID); count.Failures > 0 {
			count.Failures = 0
			changes.SignInCounts = []commerce.SignInCount{count}
		}
	}
	return c.Session, changes, nil
}
