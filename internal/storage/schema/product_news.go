package schema

import "purveyor/internal/commerce"

// FeedPlaces says how far feeds were followed.
var FeedPlaces = Table[string, commerce.FeedPlace]{
	Name: "feed_places", Key: "name", Mutable: "at, id, worker, leased_until",
	KeyOf:   func(v *commerce.FeedPlace) string { return v.Name },
	BindKey: bindText,
	BindMutable: func(b Binder, v *commerce.FeedPlace) {
		b.Int(int64(v.At)).Text(v.ID).Text(v.Worker).Int(int64(v.LeasedUntil))
	},
	Scan: func(s Scanner, name string) commerce.FeedPlace {
		return commerce.FeedPlace{Name: name, At: millis(s), ID: s.Text(), Worker: s.Text(), LeasedUntil: millis(s)}
	},
	Rows:    func(r *commerce.Rows) *commerce.Table[string, commerce.FeedPlace] { return &r.FeedPlaces },
	Needs:   func(n *commerce.Needs) *[]string { return &n.FeedPlaces },
	Changes: func(c *commerce.Changes) *[]commerce.FeedPlace { return &c.FeedPlaces },
	Lock:    LockAll,
	Traits:  Traits{Shard: "name", Collides: true},
}

// ProductNews has what was told lately of products.
var ProductNews = Table[commerce.ProductKey, commerce.ProductNews]{
	Name: "product_news", Key: "store_id, product_id", Mutable: "quantity, facts_on, stock_told_on, facts_told_on, next_on",
	KeyOf:   func(v *commerce.ProductNews) commerce.ProductKey { return v.ProductKey },
	BindKey: bindProductKey,
	BindMutable: func(b Binder, v *commerce.ProductNews) {
		b.Int(v.Quantity).Int(int64(v.FactsOn)).Int(int64(v.StockToldOn)).Int(int64(v.FactsToldOn)).Int(int64(v.NextOn))
	},
	Scan: func(s Scanner, k commerce.ProductKey) commerce.ProductNews {
		return commerce.ProductNews{ProductKey: k, Quantity: s.Int(), FactsOn: millis(s), StockToldOn: millis(s), FactsToldOn: millis(s), NextOn: millis(s)}
	},
	Rows: func(r *commerce.Rows) *commerce.Table[commerce.ProductKey, commerce.ProductNews] {
		return &r.ProductNews
	},
	Needs:   func(n *commerce.Needs) *[]commerce.ProductKey { return &n.ProductNews },
	Changes: func(c *commerce.Changes) *[]commerce.ProductNews { return &c.ProductNews },
	Deleted: func(c *commerce.Changes) *[]commerce.ProductKey { return &c.GoneProductNews },
	Lock:    LockAll,
	Traits:  Traits{Shard: "store_id", Collides: true},
}
