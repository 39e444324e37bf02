package schema

import "purveyor/internal/commerce"

// Partners are the systems that sell for the merchant.
var Partners = Table[string, commerce.Partner]{
	Name: "partners", Key: "id", Fixed: "created_on",
	Mutable:   "name, scopes, store_ids, rate_limit, callback_url, callback_secret, suspended, updated_on",
	KeyOf:     func(p *commerce.Partner) string { return p.ID },
	BindKey:   bindText,
	BindFixed: func(b Binder, p *commerce.Partner) { b.Int(int64(p.CreatedOn)) },
	BindMutable: func(b Binder, p *commerce.Partner) {
		scopes := each(p.Scopes, func(s commerce.Scope) string { return string(s) })
		b.Text(p.Name).JSON(encode(scopes)).JSON(encode(p.StoreIDs)).Int(p.RateLimit).
			Text(p.CallbackURL).Text(p.CallbackSecret).Bool(p.Suspended).Int(int64(p.UpdatedOn))
	},
	Scan: func(s Scanner, id string) commerce.Partner {
		p := commerce.Partner{ID: id, CreatedOn: millis(s), Name: s.Text()}
		p.Scopes = each(decode[[]string](s, "list"), func(scope string) commerce.Scope { return commerce.Scope(scope) })
		p.StoreIDs, p.RateLimit, p.CallbackURL = decode[[]string](s, "list"), s.Int(), s.Text()
		p.CallbackSecret, p.Suspended, p.UpdatedOn = s.Text(), s.Bool(), millis(s)
		return p
	},
	Rows:    func(r *commerce.Rows) *commerce.Table[string, commerce.Partner] { return &r.Partners },
	Needs:   func(n *commerce.Needs) *[]string { return &n.Partners },
	Changes: func(c *commerce.Changes) *[]commerce.Partner { return &c.Partners },
	Lock:    LockOnRequest,
	Traits:  Traits{Shard: Everywhere, Collides: true, Secret: "callback_secret"},
}

// APIKeys has the newest key of each partner and mode.
var APIKeys = Table[commerce.APIKeyRef, commerce.APIKey]{
	Name: "api_keys", Key: "partner_id, mode", Mutable: "hash, created_on",
	KeyOf: func(k *commerce.APIKey) commerce.APIKeyRef {
		return commerce.APIKeyRef{PartnerID: k.PartnerID, Mode: k.Mode}
	},
	BindKey:     func(b Binder, k commerce.APIKeyRef) { b.Text(k.PartnerID).Text(string(k.Mode)) },
	BindMutable: func(b Binder, k *commerce.APIKey) { b.Blob(k.Hash[:]).Int(int64(k.CreatedOn)) },
	Scan: func(s Scanner, k commerce.APIKeyRef) commerce.APIKey {
		v := commerce.APIKey{PartnerID: k.PartnerID, Mode: k.Mode}
		copy(v.Hash[:], s.Blob())
		v.CreatedOn = millis(s)
		return v
	},
	Rows:    func(r *commerce.Rows) *commerce.Table[commerce.APIKeyRef, commerce.APIKey] { return &r.APIKeys },
	Needs:   func(n *commerce.Needs) *[]commerce.APIKeyRef { return &n.APIKeys },
	Changes: func(c *commerce.Changes) *[]commerce.APIKey { return &c.APIKeys },
	Lock:    LockOnRequest,
	Traits:  Traits{Shard: Everywhere, Collides: true},
}
