package schema

import "purveyor/internal/commerce"

// Audit has the changes by people, and each change of keys and endpoints.
var Audit = Log[commerce.AuditEntry]{
	Name: "audit", ID: "store_id, id", Rest: "actor, action, object, before, after, address, trace_id, created_on",
	Bind: func(b Binder, e *commerce.AuditEntry) {
		b.Text(e.StoreID).Text(e.ID).Text(e.Actor).Text(e.Action).Text(e.Object).JSON(e.Before).JSON(e.After).
			Text(e.Address).Text(e.TraceID).Int(int64(e.CreatedOn))
	},
	Changes: func(c *commerce.Changes) *[]commerce.AuditEntry { return &c.Audit },
	Traits:  Traits{Shard: "store_id"},
}

// ScanAudit reads all columns of Audit.
func ScanAudit(s Scanner) commerce.AuditEntry {
	return commerce.AuditEntry{StoreID: s.Text(), ID: s.Text(), Actor: s.Text(), Action: s.Text(), Object: s.Text(),
		Before: s.JSON(), After: s.JSON(), Address: s.Text(), TraceID: s.Text(), CreatedOn: millis(s)}
}
