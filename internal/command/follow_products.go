package command

import (
	"time"

	"purveyor/internal/commerce"
)

// feedOverlap is how far before the present a feed begins to be followed, so that it has the
// changes since the endpoint was made that the follower has noticed just now.
const feedOverlap = 2 * time.Second

// FollowProducts makes the events of products that have changed, and moves the place in the feed
// on. If the process dies before it is saved, the next one finds the same changes.
type FollowProducts struct {
	Worker string
	From   commerce.FeedPlace // as it was read
	To     commerce.FeedPlace // of which At and ID count
	// Partners are those with an endpoint that names the kinds. Without one, the feed is no
	// longer followed once all news are forgotten.
	Partners []string
	Seen     []SeenProduct
	// Forget lets go of news that are over. It must be set only if Seen has all changes up to
	// now, so that a forgotten product has no change that was told and is still to be looked at.
	Forget bool
}

// SeenProduct is a product in the feed, or one whose news are due.
type SeenProduct struct {
	commerce.Item
	Before  int64 // the quantity at the place From
	Created bool  // since then
}

// Needs names the place, the partners and the news of the products.
func (c FollowProducts) Needs() commerce.Needs {
	n := commerce.Needs{FeedPlaces: []string{commerce.ProductFeed}, Partners: c.Partners}
	for _, p := range c.Seen {
		n.ProductNews = append(n.ProductNews, p.Product.Key())
	}
	return n
}

// Decide refuses a process that has lost the feed, or whose place is not the present one.
func (c FollowProducts) Decide(rows *commerce.Rows, now commerce.Millis) (followed bool, changes commerce.Changes, _ error) {
	place, _ := rows.FeedPlaces.Get(commerce.ProductFeed)
	if place.At != c.From.At || place.ID != c.From.ID || !place.Free(c.Worker, now) {
		return false, changes, nil
	}
	was := place
	place.Name, place.At, place.ID = commerce.ProductFeed, c.To.At, c.To.ID
	switch {
	case c.From.At == 0:
		place.At = now.Add(-feedOverlap)
	case len(c.Partners) == 0 && len(c.Seen) == 0:
		place.At, place.ID = 0, ""
	}
	if place = place.Leased(c.Worker, now); place != was {
		changes.FeedPlaces = []commerce.FeedPlace{place}
	}
	for _, p := range c.Seen {
		c.tell(rows, now, p, &changes)
	}
	return true, changes, nil
}

// tell adds the events of one product, and what is to be known of them later.
func (c FollowProducts) tell(rows *commerce.Rows, now commerce.Millis, p SeenProduct, changes *commerce.Changes) {
	was, known := rows.ProductNews.Get(p.Product.Key())
	n := was
	if !known {
		n = commerce.ProductNews{ProductKey: p.Product.Key(), Quantity: p.Before}
		if c.From.Passed(p.FactsOn, p.ID) {
			n.FactsOn = p.FactsOn
		}
	}
	if p.Created { // the event of the new product has its quantity
		n.Quantity = p.Stock.Quantity
	}
	stockWaits, factsWait := n.Quantity != p.Stock.Quantity, n.FactsOn != p.FactsOn
	if stockWaits && now >= n.StockToldOn.Add(commerce.ProductNewsEvery) {
		if c.event(rows, now, p, commerce.WebhookStockChanged, n.Quantity, changes) {
			n.StockToldOn = now
		}
		n.Quantity, stockWaits = p.Stock.Quantity, false
	}
	if factsWait && now >= n.FactsToldOn.Add(commerce.ProductNewsEvery) {
		if c.event(rows, now, p, commerce.WebhookProductUpdated, 0, changes) {
			n.FactsToldOn = now
		}
		n.FactsOn, factsWait = p.FactsOn, false
	}
	n = n.Settled(stockWaits, factsWait)
	over := len(c.Partners) == 0 || !stockWaits && !factsWait && now >= n.NextOn
	switch {
	case over && c.Forget && known:
		changes.GoneProductNews = append(changes.GoneProductNews, n.ProductKey)
	case n != was && (known || !over):
		changes.ProductNews = append(changes.ProductNews, n)
	}
}

// event adds an event for each partner and mode with an endpoint that names its kind. It
// returns whether there is one.
func (c FollowProducts) event(rows *commerce.Rows, now commerce.Millis, p SeenProduct, kind commerce.WebhookKind, before int64, changes *commerce.Changes) (told bool) {
	for _, id := range c.Partners {
		partner, _ := rows.Partners.Get(id)
		recipients := partner.ProductRecipients(kind, p.StoreID)
		for _, mode := range []commerce.Mode{commerce.Live, commerce.Test} {
			if len(recipients[mode]) == 0 {
				continue
			}
			changes.Webhooks = append(changes.Webhooks, commerce.WebhookEvent{PartnerID: id, Kind: kind, Mode: mode, StoreID: p.StoreID, Timestamp: now,
				About: &commerce.EventData{Product: p.Item, PreviousQuantity: before, Created: p.Created}, To: recipients[mode]})
			told = true
		}
	}
	return told
}
