package command

import (
	"errors"
	"reflect"
	"slices"
	"testing"

	"purveyor/internal/commerce"
)

var (
	everything = []commerce.Grant{{Role: commerce.Owner, StoreID: commerce.AllStores}}
	boss       = commerce.User{ID: "boss", Grants: everything, Password: "p", UpdatedOn: 1}
	deputy     = commerce.User{ID: "deputy", Grants: everything, Password: "p", UpdatedOn: 1}
	clerk      = commerce.User{ID: "clerk", Grants: []commerce.Grant{{Role: commerce.Clerk, StoreID: "s"}}, UpdatedOn: 1, RightsOn: 1}
	ownerHere  = commerce.User{ID: "here", Grants: []commerce.Grant{{Role: commerce.Owner, StoreID: "s"}}}
)

func suspended(u commerce.User) commerce.User {
	u.Suspended = true
	return u
}

// staffOf has users as they are stored.
func staffOf(users ...commerce.User) commerce.Changes { return commerce.Changes{Users: users} }

// TestRights: only an owner of all stores, or an operator, changes rights and shuts users out,
// and one owner that is not suspended stays.
func TestRights(t *testing.T) {
	owners := []string{"boss", "deputy"}
	given := func(by string) Given { return Given{By: by, Owners: owners} }
	demote := func(by, id string) GrantRights {
		return GrantRights{Given: given(by), UserID: id, Grants: clerk.Grants}
	}
	raise := func(by string, seen commerce.Millis) GrantRights {
		return GrantRights{Given: given(by), UserID: "clerk", Grants: everything, Seen: seen}
	}
	shut := func(by, id string) SuspendUser {
		return SuspendUser{Given: given(by), UserID: id, Suspended: true, Sessions: []string{"x"}}
	}
	for _, c := range []struct {
		name  string
		cmd   decider[commerce.User]
		users []commerce.User
		want  string // the code of the refusal
	}{
		{"an owner", raise("boss", 0), []commerce.User{boss, clerk}, ""},
		{"an operator", raise("", 0), []commerce.User{clerk}, ""},
		{"as it was seen", raise("boss", 1), []commerce.User{boss, clerk}, ""},
		{"changed meanwhile", raise("boss", 2), []commerce.User{boss, clerk}, "changed_meanwhile"},
		{"a clerk raises itself", raise("clerk", 0), []commerce.User{boss, clerk}, "permission_missing"},
		{"an owner of one store", raise("here", 0), []commerce.User{ownerHere, clerk}, "permission_missing"},
		{"an owner that was suspended", raise("boss", 0), []commerce.User{suspended(boss), clerk}, "permission_missing"},
		{"an unknown giver", raise("gone", 0), []commerce.User{boss, clerk}, "permission_missing"},
		{"an unknown user", raise("boss", 0), []commerce.User{boss}, "not_found"},
		{"one of two owners", demote("boss", "boss"), []commerce.User{boss, deputy}, ""},
		{"the last owner", demote("boss", "boss"), []commerce.User{boss}, "last_owner"},
		{"the last that is not suspended", demote("boss", "boss"), []commerce.User{boss, suspended(deputy)}, "last_owner"},
		{"the last owner, by an operator", demote("", "boss"), []commerce.User{boss}, "last_owner"},
		{"a clerk is shut out", shut("boss", "clerk"), []commerce.User{boss, clerk}, ""},
		{"one of two owners is", shut("deputy", "boss"), []commerce.User{boss, deputy}, ""},
		{"the last owner is", shut("boss", "boss"), []commerce.User{boss}, "last_owner"},
		{"by a clerk", shut("clerk", "boss"), []commerce.User{boss, deputy, clerk}, "permission_missing"},
	} {
		u, changes, err := c.cmd.Decide(fill(c.cmd.Needs(), staffOf(c.users...)), now)
		if codeOf(err) != c.want {
			t.Errorf("%s: %v, want %q", c.name, err, c.want)
		}
		if err != nil {
			if !reflect.DeepEqual(changes, commerce.Changes{}) {
				t.Errorf("%s: a refusal changes %+v", c.name, changes)
			}
			continue
		}
		if len(changes.Users) != 1 || u.RightsOn != now || u.UpdatedOn != now {
			t.Errorf("%s: %+v", c.name, changes)
		}
		if u.Suspended != slices.Contains(changes.EndedSessions, "x") {
			t.Errorf("%s: ended %v", c.name, changes.EndedSessions)
		}
		again := append(slices.DeleteFunc(c.users, func(was commerce.User) bool { return was.ID == u.ID }), u)
		if _, changes, err = c.cmd.Decide(fill(c.cmd.Needs(), staffOf(again...)), now); u.ID != "boss" && (err != nil || !reflect.DeepEqual(changes, commerce.Changes{})) {
			t.Errorf("%s, twice: %+v, %v", c.name, changes, err)
		}
	}
}

// TestLinks: a link works once, until it expires, and not for a suspended user. A reset keeps
// the second factor unless it is told otherwise.
func TestLinks(t *testing.T) {
	hash := commerce.HashKey("token")
	for _, c := range []struct {
		name string
		link commerce.SignInLink
		user commerce.User
		want string
	}{
		{"works", commerce.SignInLink{Hash: hash, ExpiresOn: now + 1}, clerk, ""},
		{"has expired", commerce.SignInLink{Hash: hash, ExpiresOn: now}, clerk, "link_used"},
		{"was used", commerce.SignInLink{ExpiresOn: now + 1}, clerk, "link_used"},
		{"another one came", commerce.SignInLink{Hash: commerce.HashKey("newer"), ExpiresOn: now + 1}, clerk, "link_used"},
		{"is of a suspended user", commerce.SignInLink{Hash: hash, ExpiresOn: now + 1}, suspended(clerk), "link_used"},
	} {
		c.link.UserID = "clerk"
		c.user.TOTPSecret = "S"
		before := staffOf(c.user)
		before.SignInLinks = []commerce.SignInLink{c.link}
		cmd := AcceptLink{UserID: "clerk", LinkHash: hash, Password: "new", Sessions: []string{"x"}}
		u, changes, err := decided(cmd, before, now)
		if codeOf(err) != c.want {
			t.Errorf("a link that %s: %v", c.name, err)
		}
		if err == nil && (u.Password != "new" || u.TOTPSecret != "S" || u.RightsOn != now || changes.SignInLinks[0].Hash != commerce.KeyHash{} || len(changes.EndedSessions) != 1) {
			t.Errorf("a link that %s: %+v", c.name, changes)
		}
	}
	none := AcceptLink{UserID: "clerk", Password: "new"}
	if _, _, err := decided(none, staffOf(clerk), now); codeOf(err) != "link_used" {
		t.Errorf("without a link, an empty hash opens: %v", err)
	}
	for _, drop := range []bool{false, true} {
		with := clerk
		with.TOTPSecret, with.RecoveryCodes, with.Password = "S", []string{"r"}, "old"
		cmd := ResetUser{UserID: "clerk", LinkHash: hash, ExpiresOn: now + 1, DropSecondFactor: drop, Sessions: []string{"x"}}
		u, changes, err := decided(cmd, staffOf(with), now)
		if err != nil || (u.TOTPSecret == "") != drop || (u.RecoveryCodes == nil) != drop || u.Password != "old" || len(changes.EndedSessions) != 1 || changes.SignInLinks[0].Hash != hash {
			t.Errorf("dropped %t: %+v, %v", drop, changes, err)
		}
	}
}

// TestInvite: an invited user ends the link of the first owner.
func TestInvite(t *testing.T) {
	before := staffOf(boss)
	before.SignInLinks = []commerce.SignInLink{{Hash: commerce.HashKey("first"), ExpiresOn: now + 1}}
	cmd := InviteUser{Given: Given{By: "boss"}, User: clerk, LinkHash: commerce.HashKey("c"), ExpiresOn: now + 1}
	u, changes, err := decided(cmd, before, now)
	if err != nil || u.CreatedOn != now || len(changes.SignInLinks) != 2 || changes.SignInLinks[1].Hash != (commerce.KeyHash{}) {
		t.Errorf("%+v, %v", changes, err)
	}
	cmd.By = "clerk"
	if _, _, err := decided(cmd, before, now); codeOf(err) != "permission_missing" {
		t.Errorf("by a clerk: %v", err)
	}
}

// TestSignIn: each code works once, and what was checked must still hold.
func TestSignIn(t *testing.T) {
	user := clerk
	user.TOTPSecret, user.TOTPStep, user.RecoveryCodes = "S", 7, []string{"r1", "r2"}
	tries := []commerce.SignInTry{{ID: "a", Most: 2}, {ID: "b", Most: 9}}
	for _, c := range []struct {
		name  string
		in    SignIn
		user  commerce.User
		count commerce.SignInCount
		want  string
	}{
		{"a password", SignIn{}, user, commerce.SignInCount{}, ""},
		{"a newer code", SignIn{TOTPStep: 8}, user, commerce.SignInCount{}, ""},
		{"a code again", SignIn{TOTPStep: 7}, user, commerce.SignInCount{}, "code_used"},
		{"an older code", SignIn{TOTPStep: 6}, user, commerce.SignInCount{}, "code_used"},
		{"a recovery code", SignIn{UsedCode: "r1"}, user, commerce.SignInCount{}, ""},
		{"an unknown recovery code", SignIn{UsedCode: "r3"}, user, commerce.SignInCount{}, "code_used"},
		{"a suspended user", SignIn{}, suspended(user), commerce.SignInCount{}, "not_signed_in"},
		{"a user with another password by now", SignIn{RightsOn: 2}, user, commerce.SignInCount{}, "not_signed_in"},
		{"few failures", SignIn{}, user, commerce.SignInCount{ID: "a", Since: now - 1, Failures: 1}, ""},
		{"too many failures", SignIn{}, user, commerce.SignInCount{ID: "a", Since: now - 1, Failures: 2}, "too many failed sign-ins"},
		{"failures of long ago", SignIn{}, user, commerce.SignInCount{ID: "a", Since: now.Add(-commerce.SignInWindow), Failures: 2}, ""},
		{"a link", SignIn{LinkHash: commerce.HashKey("k")}, user, commerce.SignInCount{}, ""},
		{"another link", SignIn{LinkHash: commerce.HashKey("l")}, user, commerce.SignInCount{}, "link_used"},
		{"no failures of late", SignIn{}, user, commerce.SignInCount{ID: "a", Since: now - 1}, ""},
		{"another user", SignIn{}, boss, commerce.SignInCount{}, "not_signed_in"},
	} {
		c.in.UserID, c.in.Old, c.in.Tries, c.in.Forget = "clerk", "old", tries, true
		c.in.Session.ID = "new"
		if c.in.RightsOn == 0 {
			c.in.RightsOn = c.user.RightsOn
		}
		before := staffOf(c.user)
		before.SignInLinks = []commerce.SignInLink{{UserID: "clerk", Hash: commerce.HashKey("k"), ExpiresOn: now + 1}}
		if c.count.ID != "" {
			before.SignInCounts = []commerce.SignInCount{c.count}
		}
		s, changes, err := c.in.Decide(fill(c.in.Needs(), before), now)
		if codeOf(err) != c.want {
			t.Errorf("%s: %v, want %q", c.name, err, c.want)
		}
		before.Sessions = []commerce.Session{{ID: "new", UserID: "clerk"}} // the answer was lost, and the browser asks again
		if _, again, _ := c.in.Decide(fill(c.in.Needs(), before), now); len(again.EndedSessions) > 0 {
			t.Errorf("%s: once more, %v ended", c.name, again.EndedSessions)
		}
		if err != nil {
			continue
		}
		if s.CreatedOn != now || !slices.Equal(changes.EndedSessions, []string{"old"}) || (len(changes.SignInCounts) == 1) != (c.count.Failures > 0) || len(changes.SignInCounts) > 0 && changes.SignInCounts[0].Failures != 0 {
			t.Errorf("%s: %+v", c.name, changes)
		}
		for _, u := range changes.Users {
			if u.TOTPStep != max(7, c.in.TOTPStep) || slices.Contains(u.RecoveryCodes, "r1") == (c.in.UsedCode == "r1") {
				t.Errorf("%s: %+v", c.name, u)
			}
		}
		if wrote := len(changes.Users) == 1; wrote != (c.in.TOTPStep != 0 || c.in.UsedCode != "") {
			t.Errorf("%s: the user was written: %t", c.name, wrote)
		}
	}
}

// TestRefusedSignIns: of tries that fail at once, as many count as may fail; the others learn
// when they may be made again, and do not put that off.
func TestRefusedSignIns(t *testing.T) {
	var stored commerce.Changes
	cmd := RefuseSignIn{Tries: []commerce.SignInTry{{ID: "a", Most: 3}, {ID: "b", Most: 100}}}
	for n := range 5 {
		at := now + commerce.Millis(n)
		counted, changes, err := cmd.Decide(fill(cmd.Needs(), stored), at)
		if err == nil {
			stored = changes
		}
		if counted != (err == nil) {
			t.Errorf("failure %d is counted: %v, %v", n+1, counted, err)
		}
		spent, _ := errors.AsType[*commerce.TooManyTries](err)
		if n < 3 && err != nil || n >= 3 && (spent == nil || spent.Until != now.Add(commerce.SignInWindow) || len(changes.SignInCounts) != 0) {
			t.Errorf("failure %d: %+v, %v", n+1, changes, err)
		}
	}
	if _, _, err := cmd.Decide(fill(cmd.Needs(), stored), now.Add(commerce.SignInWindow)); err != nil {
		t.Errorf("after the window: %v", err)
	}
}
