package schema

import (
	"reflect"

	"purveyor/internal/commerce"
)

// Partners are the systems that sell for the merchant.
var Partners = Table[string, commerce.Partner]{
	Name: "partners", Key: "id", Fixed: "created_on",
	Mutable:   "name, scopes, store_ids, rate_limit, callback_url, callback_secret, suspended, routes, alarm_addresses, keys_no, updated_on",
	KeyOf:     func(p *commerce.Partner) string { return p.ID },
	BindKey:   bindText,
	BindFixed: func(b Binder, p *commerce.Partner) { b.Int(int64(p.CreatedOn)) },
	BindMutable: func(b Binder, p *commerce.Partner) {
		scopes := each(p.Scopes, func(s commerce.Scope) string { return string(s) })
		b.Text(p.Name).JSON(encode(scopes)).JSON(encode(p.StoreIDs)).Int(p.RateLimit).
			Text(p.CallbackURL).Text(p.CallbackSecret).Bool(p.Suspended).JSON(encode(each(p.Routes, func(r commerce.Route) route { return route(r) }))).JSON(encode(p.AlarmAddresses)).Int(p.KeysNo).Int(int64(p.UpdatedOn))
	},
	Scan: func(s Scanner, id string) commerce.Partner {
		p := commerce.Partner{ID: id, CreatedOn: millis(s), Name: s.Text()}
		p.Scopes = each(decode[[]string](s, "list"), func(scope string) commerce.Scope { return commerce.Scope(scope) })
		p.StoreIDs, p.RateLimit, p.CallbackURL = decode[[]string](s, "list"), s.Int(), s.Text()
		p.CallbackSecret, p.Suspended = s.Text(), s.Bool()
		p.Routes = each(decode[[]route](s, "routes"), func(r route) commerce.Route { return commerce.Route(r) })
		p.AlarmAddresses = decode[[]string](s, "list")
		p.KeysNo, p.UpdatedOn = s.Int(), millis(s)
		return p
	},
	Rows:    func(r *commerce.Rows) *commerce.Table[string, commerce.Partner] { return &r.Partners },
	Needs:   func(n *commerce.Needs) *[]string { return &n.Partners },
	Changes: func(c *commerce.Changes) *[]commerce.Partner { return &c.Partners },
	Lock:    LockOnRequest,
	Traits:  Traits{Shard: Everywhere, Collides: true, Secret: "callback_secret"},
}

// route is an item of partners.routes.
type route struct {
	ID       string        `json:"id,omitzero"`
	Events   []string      `json:"events,omitempty"`
	Mode     commerce.Mode `json:"mode,omitzero"`
	StoreIDs []string      `json:"stores,omitempty"`
}

// APIKeys are the keys of partners.
var APIKeys = Table[string, commerce.APIKey]{
	Name: "partner_keys", Key: "id", Fixed: "partner_id, mode, hash, last4, replaces, created_on",
	Mutable: "name, scopes, store_ids, addresses, expires_on, revoked_on, alarmed, used_on", HotColumns: "used_on",
	KeyOf:   func(k *commerce.APIKey) string { return k.ID },
	BindKey: bindText,
	BindFixed: func(b Binder, k *commerce.APIKey) {
		b.Text(k.PartnerID).Text(string(k.Mode)).Blob(k.Hash[:]).Text(k.Last4).Text(k.Replaces).Int(int64(k.CreatedOn))
	},
	BindMutable: func(b Binder, k *commerce.APIKey) {
		scopes := each(k.Scopes, func(s commerce.Scope) string { return string(s) })
		b.Text(k.Name).JSON(encode(scopes)).JSON(encode(k.StoreIDs)).JSON(encode(k.Addresses)).
			Int(int64(k.ExpiresOn)).Int(int64(k.RevokedOn)).Text(string(k.Alarmed)).Int(int64(k.UsedOn))
	},
	BindHot: func(b Binder, k *commerce.APIKey) { b.Int(int64(k.UsedOn)) },
	OnlyHotChanged: func(v, was *commerce.APIKey) bool {
		other := *v
		other.UsedOn = was.UsedOn
		return reflect.DeepEqual(other, *was)
	},
	Scan: func(s Scanner, id string) commerce.APIKey {
		k := commerce.APIKey{ID: id, PartnerID: s.Text(), Mode: commerce.Mode(s.Text())}
		copy(k.Hash[:], s.Blob())
		k.Last4, k.Replaces, k.CreatedOn, k.Name = s.Text(), s.Text(), millis(s), s.Text()
		k.Scopes = each(decode[[]string](s, "list"), func(scope string) commerce.Scope { return commerce.Scope(scope) })
		k.StoreIDs, k.Addresses = decode[[]string](s, "list"), decode[[]string](s, "list")
		k.ExpiresOn, k.RevokedOn, k.Alarmed, k.UsedOn = millis(s), millis(s), commerce.Alarm(s.Text()), millis(s)
		return k
	},
	Rows:    func(r *commerce.Rows) *commerce.Table[string, commerce.APIKey] { return &r.APIKeys },
	Needs:   func(n *commerce.Needs) *[]string { return &n.APIKeys },
	Changes: func(c *commerce.Changes) *[]commerce.APIKey { return &c.APIKeys },
	Lock:    LockAll,
	Traits: Traits{Shard: Everywhere, Collides: true, Expired: []Expired{
		{Keep: EventKeep, Column: "revoked_on", Where: "revoked_on <> 0", Order: "revoked_on, id"},
		{Keep: EventKeep, Column: "expires_on", Where: "expires_on <> 0", Order: "expires_on, id"}}},
}

// ScanAPIKey reads all columns of APIKeys.
func ScanAPIKey(s Scanner) commerce.APIKey { return APIKeys.Scan(s, s.Text()) }

// FormerKeys has one key of each partner and mode, for programs that know no other table.
var FormerKeys = Table[commerce.FormerKeyRef, commerce.FormerKey]{
	Name: "api_keys", Key: "partner_id, mode", Mutable: "hash, created_on",
	KeyOf: func(k *commerce.FormerKey) commerce.FormerKeyRef {
		return commerce.FormerKeyRef{PartnerID: k.PartnerID, Mode: k.Mode}
	},
	BindKey:     func(b Binder, k commerce.FormerKeyRef) { b.Text(k.PartnerID).Text(string(k.Mode)) },
	BindMutable: func(b Binder, k *commerce.FormerKey) { b.Blob(k.Hash[:]).Int(int64(k.CreatedOn)) },
	Scan: func(s Scanner, k commerce.FormerKeyRef) commerce.FormerKey {
		v := commerce.FormerKey{PartnerID: k.PartnerID, Mode: k.Mode}
		copy(v.Hash[:], s.Blob())
		v.CreatedOn = millis(s)
		return v
	},
	Rows: func(r *commerce.Rows) *commerce.Table[commerce.FormerKeyRef, commerce.FormerKey] {
		return &r.FormerKeys
	},
	Needs:   func(n *commerce.Needs) *[]commerce.FormerKeyRef { return &n.FormerKeys },
	Changes: func(c *commerce.Changes) *[]commerce.FormerKey { return &c.FormerKeys },
	Deleted: func(c *commerce.Changes) *[]commerce.FormerKeyRef { return &c.GoneFormerKeys },
	Lock:    LockAll,
	Traits:  Traits{Shard: Everywhere, Collides: true},
}
