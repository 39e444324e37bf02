package commerce

import (
	"cmp"
	"crypto/subtle"
	"slices"
	"time"
)

// Role is what a person may do at the merchant. A grant gives a role in one store or in
// all, and several grants add up.
type Role string

// The roles, each with all that those before it may do.
const (
	Viewer  Role = "viewer"
	Clerk   Role = "clerk"
	Manager Role = "manager"
	Owner   Role = "owner"
)

// Roles lists the roles, the least first.
var Roles = []Role{Viewer, Clerk, Manager, Owner}

// AllStores as the store of a grant stands for every store, also for those to come.
const AllStores = "*"

// Permission is a right of a person. Words that scopes of partners have too mean the same
// there.
type Permission string

// The permissions.
const (
	MayReadOrders     Permission = "read_orders"
	MayReadProducts   Permission = "read_products"
	MayReadReports    Permission = "read_reports"
	MayAdvanceOrders  Permission = "advance_orders" // confirm, ready, picked up, note, dispatch again
	MayWriteOrders    Permission = "write_orders"   // cancel, create, request and decline a refund
	MayWriteRefunds   Permission = "write_refunds"
	MayWriteProducts  Permission = "write_products"
	MayWriteInventory Permission = "write_inventory"
	MayWriteStores    Permission = "write_stores"
	MayExportOrders   Permission = "export_orders"
	MayReadPartners   Permission = "read_partners"
	MayManageEvents   Permission = "manage_events" // resend, replay, test, pause, resume
	MayManagePartners Permission = "manage_partners"
	// The permissions below are about no single store, so they need a grant for all.
	MayReadRequests Permission = "read_requests" // the log of partners' requests
	MayManagePeople Permission = "manage_people"
	MayReadAudit    Permission = "read_audit"
	MayMakeStores   Permission = "make_stores"
)

// Permissions are all permissions, with the least role that has each.
var Permissions = []struct {
	Permission Permission
	Least      Role
	Everywhere bool // only a grant for all stores gives it
}{
	{MayReadOrders, Viewer, false}, {MayReadProducts, Viewer, false}, {MayReadReports, Viewer, false},
	{MayAdvanceOrders, Clerk, false},
	{MayWriteOrders, Manager, false}, {MayWriteRefunds, Manager, false}, {MayWriteProducts, Manager, false},
	{MayWriteInventory, Manager, false}, {MayWriteStores, Manager, false}, {MayExportOrders, Manager, false},
	{MayReadPartners, Manager, false}, {MayManageEvents, Manager, false},
	{MayManagePartners, Owner, false},
	{MayReadRequests, Manager, true},
	{MayManagePeople, Owner, true}, {MayReadAudit, Owner, true}, {MayMakeStores, Owner, true},
}

// Has reports whether the role has a permission in a store of its grant.
func (r Role) Has(p Permission) bool {
	least := p.Least()
	return least != "" && slices.Index(Roles, r) >= slices.Index(Roles, least)
}

// Least is the least role that has the permission; empty for an unknown one.
func (p Permission) Least() Role {
	for _, row := range Permissions {
		if row.Permission == p {
			return row.Least
		}
	}
	return ""
}

// everywhere reports whether only a grant for all stores gives the permission.
func (p Permission) everywhere() bool {
	for _, row := range Permissions {
		if row.Permission == p {
			return row.Everywhere
		}
	}
	return true
}

// Grant gives a role in one store, or in AllStores.
type Grant struct {
	Role    Role
	StoreID string
}

// User is a person of the merchant's staff. A suspended user may do nothing.
type User struct {
	ID    string
	Email string // in lower case; no two users have the same
	Name  string
	// Password is the argon2id hash in the PHC string format; empty until the user has
	// chosen one.
	Password string
	// TOTPSecret is the base32 secret of the second factor; empty: there is none.
	// TOTPStep is the newest time step whose code was used, so that no code is used twice.
	TOTPSecret string
	TOTPStep   int64
	// RecoveryCodes are the SHA-256 of the codes that are left, in hexadecimal.
	RecoveryCodes []string
	Grants        []Grant
	Suspended     bool
	Preferences   Preferences
	CreatedOn     Millis
	UpdatedOn     Millis
	// RightsOn is when grants, password or second factor last changed. Sessions renew
	// their token after it.
	RightsOn Millis
}

// Preferences are how a user likes the pages.
type Preferences struct {
	Theme       string // "light", "dark"; empty: as the system has it
	Muted       bool   // the board makes no sound
	NoShortcuts bool   // the keyboard shortcuts are off
	Comfortable bool   // rows are higher
}

// Key of the row.
func (u User) Key() string { return u.ID }

// May reports whether the user has a permission in a store.
func (u User) May(p Permission, storeID string) bool {
	return !u.Suspended && slices.ContainsFunc(u.Grants, func(g Grant) bool {
		return g.Role.Has(p) && (g.StoreID == AllStores || g.StoreID == storeID && !p.everywhere())
	})
}

// MayEverywhere reports whether the user has a permission in every store.
func (u User) MayEverywhere(p Permission) bool { return u.May(p, AllStores) }

// MaySomewhere reports whether the user has a permission in any store.
func (u User) MaySomewhere(p Permission) bool {
	return !u.Suspended && slices.ContainsFunc(u.Grants, func(g Grant) bool {
		return g.Role.Has(p) && (g.StoreID == AllStores || !p.everywhere())
	})
}

// StoresWith are the stores in which the user has a permission; all reports that it is
// every store.
func (u User) StoresWith(p Permission) (ids []string, all bool) {
	if u.MayEverywhere(p) {
		return nil, true
	}
	for _, g := range u.Grants {
		if u.May(p, g.StoreID) && !slices.Contains(ids, g.StoreID) {
			ids = append(ids, g.StoreID)
		}
	}
	slices.Sort(ids)
	return ids, false
}

// ManagesPartner reports whether the user manages a partner, in all stores that it may use.
func (u User) ManagesPartner(p Partner) bool {
	if len(p.StoreIDs) == 0 {
		return u.MayEverywhere(MayManagePartners)
	}
	return !slices.ContainsFunc(p.StoreIDs, func(id string) bool { return !u.May(MayManagePartners, id) })
}

// OwnsAll reports whether the user is an owner of all stores. Only such owners give rights.
func (u User) OwnsAll() bool { return u.MayEverywhere(MayManagePeople) }

// Session is one sign-in of a user in one browser. Its id is the SHA-256 of the token in the
// browser's cookie, in hexadecimal: the token itself is not stored.
type Session struct {
	ID        string
	UserID    string // empty: the password was given, and the second factor was not yet
	Data      []byte // of the session library
	Address   string
	Agent     string // User-Agent of the browser
	CreatedOn Millis
	SeenOn    Millis
	ExpiresOn Millis
}

// Key of the row.
func (s Session) Key() string { return s.ID }

// SignInLink is the newest one-time link of a user. The row with an empty UserID is the link
// by which the first owner is made.
type SignInLink struct {
	UserID    string
	Hash      KeyHash // of the token in the link; zero: it was used
	ExpiresOn Millis
}

// Key of the row.
func (l SignInLink) Key() string { return l.UserID }

// Opens reports whether the token with this hash works now.
func (l SignInLink) Opens(hash KeyHash, now Millis) bool {
	return l.Hash != KeyHash{} && subtle.ConstantTimeCompare(l.Hash[:], hash[:]) == 1 && l.ExpiresOn > now
}

// SignInCount counts the failed sign-ins of one account, address or browser since a time.
type SignInCount struct {
	ID       string // what is counted: "address 192.0.2.1"
	Since    Millis
	Failures int64
}

// Key of the row.
func (c SignInCount) Key() string { return c.ID }

// SignInWindow is how long a failed sign-in counts (BACKOFFICE, Security).
const SignInWindow = 15 * time.Minute

// SignInTry is a count that a sign-in belongs to, and how many failures it may have.
type SignInTry struct {
	ID   string
	Most int64
	// Window is how long a failure counts; 0: SignInWindow.
	Window time.Duration
}

func (t SignInTry) window() time.Duration { return cmp.Or(t.Window, SignInWindow) }

// counts reports whether the failures are recent enough to count.
func (t SignInTry) counts(c SignInCount, now Millis) bool { return c.Since > now.Add(-t.window()) }

// Failed is the count after one more failure.
func (t SignInTry) Failed(c SignInCount, now Millis) SignInCount {
	if !t.counts(c, now) {
		c = SignInCount{ID: t.ID, Since: now}
	}
	c.Failures++
	return c
}

// Spent returns when the try may be made again, if the count has all the failures that it may
// have; else 0.
func (t SignInTry) Spent(c SignInCount, now Millis) Millis {
	if !t.counts(c, now) || c.Failures < t.Most {
		return 0
	}
	return c.Since.Add(t.window())
}

// TooManyTries refuses a sign-in after too many failures.
type TooManyTries struct{ Until Millis }

func (e *TooManyTries) Error() string { return "too many failed sign-ins" }

// SavedView is a filter of the list of orders that a user has given a name.
type SavedView struct {
	SavedViewKey
	Query     string // of the page's URL
	UpdatedOn Millis
}

// SavedViewKey finds a saved view.
type SavedViewKey struct{ UserID, Name string }

// Key of the row.
func (v SavedView) Key() SavedViewKey { return v.SavedViewKey }
