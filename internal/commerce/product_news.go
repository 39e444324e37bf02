package commerce

import (
	"slices"
	"time"
)

// The follower of the product feed makes the events of products. Sales and edits write
// nothing for them: what has changed of a product is found by its stock moves and by
// Product.FactsOn.

// ProductNews is what partners were told of a product in the last ProductNewsEvery, or are
// to be told when that is over. Products of which nothing was told lately have none.
type ProductNews struct {
	ProductKey
	Quantity    int64  // as it was told, or before the first change
	FactsOn     Millis // Product.FactsOn as it was told
	StockToldOn Millis // 0: not told
	FactsToldOn Millis
	NextOn      Millis // when the follower looks at the product again
}

// Key of the row.
func (n ProductNews) Key() ProductKey { return n.ProductKey }

// ProductNewsEvery is the least time between two events of one kind about a product.
const ProductNewsEvery = CourierUpdateEvery

// Settled is the news with the next look at the product: when something may be told that
// waits, or when the news can be forgotten.
func (n ProductNews) Settled(stockWaits, factsWait bool) ProductNews {
	stock, facts := n.StockToldOn.Add(ProductNewsEvery), n.FactsToldOn.Add(ProductNewsEvery)
	switch {
	case stockWaits && factsWait:
		n.NextOn = min(stock, facts)
	case stockWaits:
		n.NextOn = stock
	case factsWait:
		n.NextOn = facts
	default:
		n.NextOn = max(stock, facts)
	}
	return n
}

// FeedPlace is how far a feed was followed: all changes up to the product with this stamp and
// id have been looked at. At is 0 while the feed is not followed.
type FeedPlace struct {
	Name string
	At   Millis
	ID   string
	// Worker follows the feed alone until LeasedUntil.
	Worker      string
	LeasedUntil Millis
}

// ProductFeed is the name of the place in the feed of products.
const ProductFeed = "products"

// feedLease is how long a process follows a feed alone after its last step.
const feedLease = 10 * time.Second

// Key of the row.
func (p FeedPlace) Key() string { return p.Name }

// Passed reports whether a change of a product was looked at.
func (p FeedPlace) Passed(at Millis, productID string) bool {
	return at < p.At || at == p.At && productID <= p.ID
}

// Free reports whether a worker may follow the feed. A lease that ends far ahead was written by
// a clock that was wrong.
func (p FeedPlace) Free(worker string, now Millis) bool {
	return p.Worker == worker || now >= p.LeasedUntil || p.LeasedUntil > now.Add(feedLease)
}

// Leased is the place with a lease of a worker. One that has half of its time left stays as it
// is, so that a feed without changes costs few writes.
func (p FeedPlace) Leased(worker string, now Millis) FeedPlace {
	if p.Worker != worker || p.LeasedUntil < now.Add(feedLease/2) || p.LeasedUntil > now.Add(feedLease) {
		p.Worker, p.LeasedUntil = worker, now.Add(feedLease)
	}
	return p
}

// NamesProducts reports whether one of the partner's endpoints gets events of products.
func (p Partner) NamesProducts() bool {
	for _, r := range p.Routes {
		if slices.ContainsFunc(r.Kinds(), WebhookKind.OfProduct) {
			return true
		}
	}
	return false
}

// ProductRecipients are the owners of the endpoints that an event of a product goes to, by the
// mode of the event. Products are the same in both modes: an endpoint for both gets the live
// event alone.
func (p Partner) ProductRecipients(kind WebhookKind, storeID string) map[Mode][]string {
	to := map[Mode][]string{}
	if p.MayUse(storeID) != nil {
		return to
	}
	if live := p.Recipients(kind, Live, storeID); len(live) > 0 {
		to[Live] = live
	}
	for _, owner := range p.Recipients(kind, Test, storeID) {
		_, id := SplitOwner(owner)
		if r, _ := p.RouteOf(id); r.Mode == Test {
			to[Test] = append(to[Test], owner)
		}
	}
	return to
}
