package schema

import "purveyor/internal/commerce"

// Attention has the reasons why the merchant is or was asked to look at an order.
var Attention = Table[commerce.AttentionKey, commerce.Attention]{
	Name: "attention", Key: "store_id, order_id, code", Mutable: "since, detail, resolved_on, resolved_by",
	KeyOf: func(v *commerce.Attention) commerce.AttentionKey { return v.Key() },
	BindKey: func(b Binder, k commerce.AttentionKey) {
		b.Text(k.StoreID).Text(k.OrderID).Text(string(k.Code))
	},
	BindMutable: func(b Binder, v *commerce.Attention) {
		b.Int(int64(v.Since)).Text(v.Detail).Int(int64(v.ResolvedOn)).Text(v.ResolvedBy)
	},
	Scan: func(s Scanner, k commerce.AttentionKey) commerce.Attention {
		return commerce.Attention{StoreID: k.StoreID, OrderID: k.OrderID, Code: k.Code,
			Since: millis(s), Detail: s.Text(), ResolvedOn: millis(s), ResolvedBy: s.Text()}
	},
	Rows:    func(r *commerce.Rows) *commerce.Table[commerce.AttentionKey, commerce.Attention] { return &r.Attention },
	Needs:   func(n *commerce.Needs) *[]commerce.AttentionKey { return &n.Attention },
	Changes: func(c *commerce.Changes) *[]commerce.Attention { return &c.Attention },
	Lock:    LockAll,
	Traits:  Traits{Shard: "store_id"},
}

// ScanAttention reads all columns of Attention.
func ScanAttention(s Scanner) commerce.Attention {
	return Attention.Scan(s, commerce.AttentionKey{StoreID: s.Text(), OrderID: s.Text(), Code: commerce.AttentionCode(s.Text())})
}
