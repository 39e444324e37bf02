package schema

import "purveyor/internal/commerce"

// SandboxObjects has the sessions, refunds and deliveries of the sandboxes.
var SandboxObjects = Table[string, commerce.SandboxObject]{
	Name: "sandbox_objects", Key: "id", Mutable: "version, data, updated_on",
	KeyOf:       func(v *commerce.SandboxObject) string { return v.ID },
	BindKey:     bindText,
	BindMutable: func(b Binder, v *commerce.SandboxObject) { b.Int(v.Version).JSON(v.Data).Int(int64(v.UpdatedOn)) },
	Scan: func(s Scanner, id string) commerce.SandboxObject {
		return commerce.SandboxObject{ID: id, Version: s.Int(), Data: s.JSON(), UpdatedOn: millis(s)}
	},
	Rows:    func(r *commerce.Rows) *commerce.Table[string, commerce.SandboxObject] { return &r.Sandbox },
	Needs:   func(n *commerce.Needs) *[]string { return &n.Sandbox },
	Changes: func(c *commerce.Changes) *[]commerce.SandboxObject { return &c.Sandbox },
	Deleted: func(c *commerce.Changes) *[]string { return &c.GoneSandbox },
	Lock:    LockAll,
	Traits:  Traits{Shard: "id", Single: true, Collides: true},
}
