package commerce

import "time"

// MemberRole is what a member may do in the portal.
type MemberRole string

// The roles of members.
const (
	MemberAdmin MemberRole = "admin" // changes all that is the partner's: keys, endpoints, members
	MemberRead  MemberRole = "read"  // only looks
)

// Known reports whether there is such a role.
func (r MemberRole) Known() bool { return r == MemberAdmin || r == MemberRead }

// Member is a person of a partner with a login to the portal. A member signs in by one-time links
// alone, which reach the e-mail address.
type Member struct {
	ID        string
	PartnerID string
	Email     string // in lower case; no two members have the same, whatever their partners
	Role      MemberRole
	CreatedOn Millis
	UpdatedOn Millis
}

// Key of the row.
func (m Member) Key() string { return m.ID }

const (
	// MemberLinkLife is how long a link of a member works.
	MemberLinkLife = 10 * time.Minute
	// MemberLinkWindow is the time in which a member may ask for MemberLinks links.
	MemberLinkWindow = time.Hour
	// MemberLinks is how many links a member may ask for.
	MemberLinks = 5
)
