package schema

import "purveyor/internal/commerce"

// Certifications has a row for each partner that has begun a certification.
var Certifications = Table[string, commerce.Certification]{
	Name: "certifications", Key: "partner_id", Mutable: "run_id, running, run, ends_on, version, certified_on, updated_on",
	KeyOf:   func(c *commerce.Certification) string { return c.PartnerID },
	BindKey: bindText,
	BindMutable: func(b Binder, c *commerce.Certification) {
		b.Text(c.RunID).Bool(c.Running).Text(c.Run).Int(int64(c.EndsOn)).Int(c.Version).Int(int64(c.CertifiedOn)).Int(int64(c.UpdatedOn))
	},
	Scan: func(s Scanner, partnerID string) commerce.Certification {
		return commerce.Certification{PartnerID: partnerID, RunID: s.Text(), Running: s.Bool(), Run: s.Text(), EndsOn: millis(s), Version: s.Int(), CertifiedOn: millis(s), UpdatedOn: millis(s)}
	},
	Rows:    func(r *commerce.Rows) *commerce.Table[string, commerce.Certification] { return &r.Certified },
	Needs:   func(n *commerce.Needs) *[]string { return &n.Certified },
	Changes: func(c *commerce.Changes) *[]commerce.Certification { return &c.Certified },
	Lock:    LockAll,
	Traits:  Traits{Shard: "partner_id", Collides: true},
}
