package schema

import (
	"time"

	"purveyor/internal/commerce"
)

// Faults has a row for each partner that has asked for faults.
var Faults = Table[string, commerce.Faults]{
	Name: "faults", Key: "partner_id", Mutable: "list, updated_on",
	KeyOf:   func(f *commerce.Faults) string { return f.PartnerID },
	BindKey: bindText,
	BindMutable: func(b Binder, f *commerce.Faults) {
		b.JSON(encode(each(f.List, func(f commerce.Fault) fault {
			return fault{f.ID, string(f.Kind), f.Operation, f.Calls, f.Left, f.Delay.Milliseconds(), int64(f.ExpiresOn)}
		}))).Int(int64(f.UpdatedOn))
	},
	Scan: func(s Scanner, partnerID string) commerce.Faults {
		list := each(decode[[]fault](s, "list"), func(f fault) commerce.Fault {
			return commerce.Fault{ID: f.ID, Kind: commerce.FaultKind(f.Kind), Operation: f.Operation, Calls: f.Calls, Left: f.Left,
				Delay: time.Duration(f.DelayMs) * time.Millisecond, ExpiresOn: commerce.Millis(f.ExpiresOn)}
		})
		return commerce.Faults{PartnerID: partnerID, List: list, UpdatedOn: millis(s)}
	},
	Rows:    func(r *commerce.Rows) *commerce.Table[string, commerce.Faults] { return &r.Faults },
	Needs:   func(n *commerce.Needs) *[]string { return &n.Faults },
	Changes: func(c *commerce.Changes) *[]commerce.Faults { return &c.Faults },
	Lock:    LockAll,
	Traits:  Traits{Shard: "partner_id", Collides: true},
}

// fault is an item of faults.list.
type fault struct {
	ID        string `json:"id"`
	Kind      string `json:"kind"`
	Operation string `json:"operation,omitzero"`
	Calls     int64  `json:"calls"`
	Left      int64  `json:"left"`
	DelayMs   int64  `json:"delay_ms,omitzero"`
	ExpiresOn int64  `json:"expires_on"`
}
