package schema

import "purveyor/internal/commerce"

// Users are the staff of the merchant.
var Users = Table[string, commerce.User]{
	Name: "users", Key: "id", Fixed: "created_on",
	Mutable:   "email, name, password, totp_secret, totp_step, recovery_codes, grants, suspended, preferences, rights_on, updated_on",
	KeyOf:     func(v *commerce.User) string { return v.ID },
	BindKey:   bindText,
	BindFixed: func(b Binder, v *commerce.User) { b.Int(int64(v.CreatedOn)) },
	BindMutable: func(b Binder, v *commerce.User) {
		b.Text(v.Email).Text(v.Name).Text(v.Password).Text(v.TOTPSecret).Int(v.TOTPStep).JSON(encode(v.RecoveryCodes)).JSON(encodeGrants(v.Grants)).
			Bool(v.Suspended).JSON(encode(preferences(v.Preferences))).Int(int64(v.RightsOn)).Int(int64(v.UpdatedOn))
	},
	Scan: func(s Scanner, id string) commerce.User {
		u := commerce.User{ID: id, CreatedOn: millis(s), Email: s.Text(), Name: s.Text(), Password: s.Text(), TOTPSecret: s.Text(), TOTPStep: s.Int()}
		u.RecoveryCodes, u.Grants, u.Suspended = decode[[]string](s, "recovery codes"), decodeGrants(s), s.Bool()
		u.Preferences, u.RightsOn, u.UpdatedOn = commerce.Preferences(decode[preferences](s, "preferences")), millis(s), millis(s)
		return u
	},
	Rows:    func(r *commerce.Rows) *commerce.Table[string, commerce.User] { return &r.Users },
	Needs:   func(n *commerce.Needs) *[]string { return &n.Users },
	Changes: func(c *commerce.Changes) *[]commerce.User { return &c.Users },
	Lock:    LockAll,
	Traits:  Traits{Shard: Everywhere, Collides: true, Hidden: "password, totp_secret, recovery_codes"},
}

// Members are the people of partners.
var Members = Table[string, commerce.Member]{
	Name: "members", Key: "id", Fixed: "partner_id, email, created_on", Mutable: "role, updated_on",
	KeyOf:   func(v *commerce.Member) string { return v.ID },
	BindKey: bindText,
	BindFixed: func(b Binder, v *commerce.Member) {
		b.Text(v.PartnerID).Text(v.Email).Int(int64(v.CreatedOn))
	},
	BindMutable: func(b Binder, v *commerce.Member) { b.Text(string(v.Role)).Int(int64(v.UpdatedOn)) },
	Scan: func(s Scanner, id string) commerce.Member {
		return commerce.Member{ID: id, PartnerID: s.Text(), Email: s.Text(), CreatedOn: millis(s), Role: commerce.MemberRole(s.Text()), UpdatedOn: millis(s)}
	},
	Rows:    func(r *commerce.Rows) *commerce.Table[string, commerce.Member] { return &r.Members },
	Needs:   func(n *commerce.Needs) *[]string { return &n.Members },
	Changes: func(c *commerce.Changes) *[]commerce.Member { return &c.Members },
	Deleted: func(c *commerce.Changes) *[]string { return &c.GoneMembers },
	Lock:    LockAll,
	Traits:  Traits{Shard: Everywhere, Collides: true},
}

// Sessions are the sign-ins of users and members.
var Sessions = Table[string, commerce.Session]{
	Name: "sessions", Key: "id", Mutable: "user_id, data, address, agent, created_on, seen_on, expires_on",
	KeyOf:   func(v *commerce.Session) string { return v.ID },
	BindKey: bindText,
	BindMutable: func(b Binder, v *commerce.Session) {
		b.Text(v.UserID).Blob(v.Data).Text(v.Address).Text(v.Agent).Int(int64(v.CreatedOn)).Int(int64(v.SeenOn)).Int(int64(v.ExpiresOn))
	},
	Scan: func(s Scanner, id string) commerce.Session {
		return commerce.Session{ID: id, UserID: s.Text(), Data: s.Blob(), Address: s.Text(), Agent: s.Text(),
			CreatedOn: millis(s), SeenOn: millis(s), ExpiresOn: millis(s)}
	},
	Rows:    func(r *commerce.Rows) *commerce.Table[string, commerce.Session] { return &r.Sessions },
	Needs:   func(n *commerce.Needs) *[]string { return &n.Sessions },
	Changes: func(c *commerce.Changes) *[]commerce.Session { return &c.Sessions },
	Deleted: func(c *commerce.Changes) *[]string { return &c.EndedSessions },
	Lock:    LockAll,
	Traits:  Traits{Shard: "id", Collides: true, Expired: []Expired{{Column: "expires_on", Order: "expires_on, id"}}},
}

// SignInLinks are the newest one-time links, one a user.
var SignInLinks = Table[string, commerce.SignInLink]{
	Name: "sign_in_links", Key: "user_id", Mutable: "hash, expires_on",
	KeyOf:       func(v *commerce.SignInLink) string { return v.UserID },
	BindKey:     bindText,
	BindMutable: func(b Binder, v *commerce.SignInLink) { b.Blob(v.Hash[:]).Int(int64(v.ExpiresOn)) },
	Scan: func(s Scanner, id string) commerce.SignInLink {
		v := commerce.SignInLink{UserID: id}
		copy(v.Hash[:], s.Blob())
		v.ExpiresOn = millis(s)
		return v
	},
	Rows:    func(r *commerce.Rows) *commerce.Table[string, commerce.SignInLink] { return &r.SignInLinks },
	Needs:   func(n *commerce.Needs) *[]string { return &n.SignInLinks },
	Changes: func(c *commerce.Changes) *[]commerce.SignInLink { return &c.SignInLinks },
	Lock:    LockAll,
	Traits:  Traits{Shard: Everywhere, Collides: true},
}

// SignInCounts count failed sign-ins.
var SignInCounts = Table[string, commerce.SignInCount]{
	Name: "sign_in_counts", Key: "id", Mutable: "since, failures",
	KeyOf:       func(v *commerce.SignInCount) string { return v.ID },
	BindKey:     bindText,
	BindMutable: func(b Binder, v *commerce.SignInCount) { b.Int(int64(v.Since)).Int(v.Failures) },
	Scan: func(s Scanner, id string) commerce.SignInCount {
		return commerce.SignInCount{ID: id, Since: millis(s), Failures: s.Int()}
	},
	Rows:    func(r *commerce.Rows) *commerce.Table[string, commerce.SignInCount] { return &r.SignInCounts },
	Needs:   func(n *commerce.Needs) *[]string { return &n.SignInCounts },
	Changes: func(c *commerce.Changes) *[]commerce.SignInCount { return &c.SignInCounts },
	Lock:    LockAll,
	Traits:  Traits{Shard: "id", Collides: true, Expired: []Expired{{Keep: SignInKeep, Column: "since", Order: "since, id"}}},
}

// SavedViews are the filters that users have named.
var SavedViews = Table[commerce.SavedViewKey, commerce.SavedView]{
	Name: "saved_views", Key: "user_id, name", Mutable: "query, updated_on",
	KeyOf:       func(v *commerce.SavedView) commerce.SavedViewKey { return v.SavedViewKey },
	BindKey:     func(b Binder, k commerce.SavedViewKey) { b.Text(k.UserID).Text(k.Name) },
	BindMutable: func(b Binder, v *commerce.SavedView) { b.Text(v.Query).Int(int64(v.UpdatedOn)) },
	Scan: func(s Scanner, k commerce.SavedViewKey) commerce.SavedView {
		return commerce.SavedView{SavedViewKey: k, Query: s.Text(), UpdatedOn: millis(s)}
	},
	Rows: func(r *commerce.Rows) *commerce.Table[commerce.SavedViewKey, commerce.SavedView] {
		return &r.SavedViews
	},
	Needs:   func(n *commerce.Needs) *[]commerce.SavedViewKey { return &n.SavedViews },
	Changes: func(c *commerce.Changes) *[]commerce.SavedView { return &c.SavedViews },
	Deleted: func(c *commerce.Changes) *[]commerce.SavedViewKey { return &c.GoneViews },
	Lock:    LockAll,
	Traits:  Traits{Shard: Everywhere, Collides: true},
}

// preferences is users.preferences.
type preferences struct {
	Theme       string `json:"theme,omitzero"`
	Muted       bool   `json:"muted,omitzero"`
	NoShortcuts bool   `json:"no_shortcuts,omitzero"`
	Comfortable bool   `json:"comfortable,omitzero"`
}

// grant is an item of users.grants.
type grant struct {
	Role    commerce.Role `json:"role"`
	StoreID string        `json:"store"`
}

func encodeGrants(list []commerce.Grant) []byte {
	return encode(each(list, func(g commerce.Grant) grant { return grant(g) }))
}

func decodeGrants(s Scanner) []commerce.Grant {
	return each(decode[[]grant](s, "grants"), func(g grant) commerce.Grant { return commerce.Grant(g) })
}
