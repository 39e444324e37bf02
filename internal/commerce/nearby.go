package commerce

import (
	"cmp"
	"math"
	"slices"
)

// Site is what a search for stores looks at: where a store is, and whom it
// serves.
type Site struct {
	StoreID                        string
	At                             Point
	PickupEnabled, DeliveryEnabled bool
	RadiusMiles                    float64 // how far it delivers; +Inf: no limit of its own
	UpdatedOn                      int64   // Unix ms, of the store
}

// Site of the store; false: nobody knows where it is.
func (s Store) Site() (Site, bool) {
	at, known := s.Point()
	site := Site{StoreID: s.ID, At: at, PickupEnabled: s.PickupEnabled, DeliveryEnabled: s.DeliveryEnabled, RadiusMiles: math.Inf(1), UpdatedOn: s.UpdatedOn}
	if s.RadiusMiles != nil {
		site.RadiusMiles = *s.RadiusMiles
	}
	return site, known
}

// Delivers tells whether so far a way is within the store's own radius.
func (s Site) Delivers(miles float64) bool { return miles <= s.RadiusMiles }

// Nearby is a search for the stores that are nearest to a place.
type Nearby struct {
	Origin      Point
	MaxMiles    float64
	Fulfillment Fulfillment
	Partner     Partner // who searches, and finds its own stores only
	Limit       int
}

// Near is a store that was found.
type Near struct {
	StoreID   string
	Miles     float64
	UpdatedOn int64 // Unix ms, of the store as it was seen
}

// Pick gives the nearest of these stores: those that offer what is searched
// for, and are near enough (BEHAVIOUR, nearby), in the order of their distance.
func (n Nearby) Pick(sites []Site) []Near {
	mayUse := n.Partner.stores()
	var found []Near
	for _, s := range sites {
		if !s.offers(n.Fulfillment) || !mayUse(s.StoreID) {
			continue
		}
		miles := n.Origin.MilesTo(s.At)
		if miles <= n.MaxMiles && (n.Fulfillment == ByPickup || s.Delivers(miles)) {
			found = append(found, Near{s.StoreID, miles, s.UpdatedOn})
		}
	}
	slices.SortFunc(found, func(a, b Near) int {
		return cmp.Or(cmp.Compare(a.Miles, b.Miles), cmp.Compare(a.StoreID, b.StoreID))
	})
	return found[:min(len(found), n.Limit)]
}

func (s Site) offers(f Fulfillment) bool {
	if f == ByPickup {
		return s.PickupEnabled
	}
	return s.DeliveryEnabled
}

// stores is MayUse for many stores at once.
func (p Partner) stores() func(storeID string) bool {
	if len(p.StoreIDs) == 0 {
		return func(string) bool { return true }
	}
	allowed := make(map[string]bool, len(p.StoreIDs))
	for _, id := range p.StoreIDs {
		allowed[id] = true
	}
	return func(id string) bool { return allowed[id] }
}

// Narrowest is the same search in a small circle: where stores are many, it
// finds enough of them, and need not look at all that are near.
func (n Nearby) Narrowest() Nearby {
	n.MaxMiles = min(1, n.MaxMiles)
	return n
}

// Wider is the search to go on with after the narrower one has found so many;
// false: it has found all that there are to find, or as many as are wanted.
// Were stores spread evenly, the wider circle would have twice as many as are
// wanted.
func (n Nearby) Wider(narrower Nearby, found int) (Nearby, bool) {
	if found >= n.Limit || narrower.MaxMiles >= n.MaxMiles {
		return n, false
	}
	growth := math.Sqrt(2 * float64(n.Limit) / float64(max(found, 1)))
	n.MaxMiles = min(n.MaxMiles, narrower.MaxMiles*min(max(growth, 2), 10))
	return n, true
}
