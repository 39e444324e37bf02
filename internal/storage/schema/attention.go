package schema

import "purveyor/internal/commerce"

// Attention keeps the rows of commerce.Rows by that name.
var Attention = Table[commerce.AttentionKey, commerce.Attention]{
	Name: "attention", Key: "store_id, order_id, code", Mutable: "since, detail, resolved_on, resolved_by",
	KeyOf: func(v *commerce.Attention) commerce.AttentionKey { return v.Key() },
	BindKey: func(b Binder, k commerce.AttentionKey) {
		b.Text(k.StoreID).Text(k.OrderID).Text(string(k.Code))
	},
	BindFixed: none[commerce.Attention],
	BindMutable: func(b Binder, v *commerce.Attention) {
		b.Int(v.Since).Text(v.Detail).Int(v.ResolvedOn).Text(v.ResolvedBy)
	},
	Scan: func(s Scanner, k commerce.AttentionKey) commerce.Attention {
		return commerce.Attention{StoreID: k.StoreID, OrderID: k.OrderID, Code: k.Code,
			Since: s.Int(), Detail: s.Text(), ResolvedOn: s.Int(), ResolvedBy: s.Text()}
	},
}

// ScanAttention reads all columns of Attention.
func ScanAttention(s Scanner) commerce.Attention {
	return Attention.Scan(s, commerce.AttentionKey{StoreID: s.Text(), OrderID: s.Text(), Code: commerce.AttentionCode(s.Text())})
}
