package commerce

import (
	"cmp"
	"math"
	"slices"
)

// Point is a place on earth, in degrees.
type Point struct{ Lat, Lng float64 }

// Valid reports whether the coordinates are those of a place on earth.
func (p Point) Valid() bool {
	return p.Lat >= -90 && p.Lat <= 90 && p.Lng >= -180 && p.Lng <= 180 // false for NaN
}

const (
	earthMiles = 3958.7613 // mean radius
	radian     = math.Pi / 180
)

// MilesTo is the great-circle distance between two places, by the haversine formula. It is
// right at the poles and across the date line.
func (p Point) MilesTo(q Point) float64 {
	lat, lng := (q.Lat-p.Lat)*radian, (q.Lng-p.Lng)*radian
	a := sq(math.Sin(lat/2)) + math.Cos(p.Lat*radian)*math.Cos(q.Lat*radian)*sq(math.Sin(lng/2))
	return 2 * earthMiles * math.Asin(math.Sqrt(min(1, a)))
}

func sq(x float64) float64 { return x * x }

// Point is the place of the store; false if it is not known.
func (s Store) Point() (Point, bool) {
	if s.Lat == nil || s.Lng == nil {
		return Point{}, false
	}
	p := Point{*s.Lat, *s.Lng}
	return p, p.Valid()
}

// How far an address may be from the point that stands for it, in miles. A house number has
// no such distance.
const (
	StreetMiles  = 1.0
	MinAreaMiles = 1.0  // of a ZIP code or a city
	MaxAreaMiles = 10.0 // the same; also used where the size is not known
)

// Place is where an address is, as precisely as that is known.
type Place struct {
	Point
	RadiusMiles float64 // the address lies within so many miles of the point
}

// Reach is how far an address is from a store.
type Reach struct {
	Miles  *float64 // nil: the address or the store cannot be placed
	Beyond bool     // the store does not deliver so far
}

// ReachOf applies the one rule of reach: an address is out of reach if its distance is larger
// than the sum of the store's radius and the place's own radius. If to is nil, the address
// has no place; it is never out of reach, and the courier decides.
func (s Store) ReachOf(to *Place) Reach {
	at, known := s.Point()
	if !known || to == nil {
		return Reach{}
	}
	miles := at.MilesTo(to.Point)
	return Reach{Miles: &miles, Beyond: s.RadiusMiles != nil && miles > *s.RadiusMiles+to.RadiusMiles}
}

// OutOfRadius is the refusal to sell or quote a delivery that is out of reach.
func OutOfRadius() *Error {
	return &Error{Kind: KindInvalid, Code: "out_of_radius", Field: "delivery_address",
		Message: "The address lies outside of the area that the store delivers to"}
}

// Site is the part of a store that a search for stores reads: where it is, and how it
// fulfils orders.
type Site struct {
	StoreID                        string
	At                             Point
	PickupEnabled, DeliveryEnabled bool
	RadiusMiles                    float64 // how far it delivers; +Inf: no limit of its own
	UpdatedOn                      Millis  // of the store
}

// Site is the site of the store; false if its place is not known.
func (s Store) Site() (Site, bool) {
	at, known := s.Point()
	site := Site{StoreID: s.ID, At: at, PickupEnabled: s.PickupEnabled, DeliveryEnabled: s.DeliveryEnabled, RadiusMiles: math.Inf(1), UpdatedOn: s.UpdatedOn}
	if s.RadiusMiles != nil {
		site.RadiusMiles = *s.RadiusMiles
	}
	return site, known
}

// Delivers reports whether a distance is within the store's own radius.
func (s Site) Delivers(miles float64) bool { return miles <= s.RadiusMiles }

// Nearby is a search for the stores that are nearest to a place.
type Nearby struct {
	Origin      Point
	MaxMiles    float64
	Fulfillment Fulfillment
	Partner     Partner // only stores that this partner may use are found
	Limit       int
}

// StoreMatch is a store that was found.
type StoreMatch struct {
	StoreID   string
	Miles     float64
	UpdatedOn Millis // of the store as it was seen
}

// Pick returns the nearest of these stores, nearest first: those that offer the fulfillment
// and are near enough (BEHAVIOUR, nearby).
func (n Nearby) Pick(sites []Site) []StoreMatch {
	mayUse := n.Partner.stores()
	var found []StoreMatch
	for _, s := range sites {
		if !s.offers(n.Fulfillment) || !mayUse(s.StoreID) {
			continue
		}
		miles := n.Origin.MilesTo(s.At)
		if miles <= n.MaxMiles && (n.Fulfillment == ByPickup || s.Delivers(miles)) {
			found = append(found, StoreMatch{s.StoreID, miles, s.UpdatedOn})
		}
	}
	slices.SortFunc(found, func(a, b StoreMatch) int {
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

// Narrowest is the same search in a small circle. Where there are many stores, it finds
// enough of them without reading all stores of the region.
func (n Nearby) Narrowest() Nearby {
	n.MaxMiles = min(1, n.MaxMiles)
	return n
}

// Wider is the next search after a narrower one that found this many stores. It returns
// false if the narrower one found enough or already had the full radius. If stores are
// spread evenly, the wider circle contains twice as many as are needed.
func (n Nearby) Wider(narrower Nearby, found int) (Nearby, bool) {
	if found >= n.Limit || narrower.MaxMiles >= n.MaxMiles {
		return n, false
	}
	growth := math.Sqrt(2 * float64(n.Limit) / float64(max(found, 1)))
	n.MaxMiles = min(n.MaxMiles, narrower.MaxMiles*min(max(growth, 2), 10))
	return n, true
}

// Stores are found by bands of latitude, which are numbered from the south
// pole, and by their longitude within a band.
const bandsPerDegree = 20

// NoBand is the band of stores without coordinates.
const NoBand = -1

// Band is the band of latitude of the store.
func (s Store) Band() int64 {
	if p, known := s.Point(); known {
		return bandOf(p.Lat)
	}
	return NoBand
}

func bandOf(lat float64) int64 { return int64(math.Floor((lat + 90) * bandsPerDegree)) }

// Strip is a part of a band, in degrees of longitude. West is never greater than East; a
// part that crosses the date line is two strips.
type Strip struct {
	Band       int64
	West, East float64
}

// slack is added to all angles (a quarter of an inch), so that rounding never excludes a
// point that is within a circle.
const slack = 1e-9

// StripsAround returns strips that cover a circle closely. The circle must be smaller than a
// quarter of the globe.
func StripsAround(p Point, miles float64) (list []Strip) {
	reach, lat := miles/earthMiles+slack, p.Lat*radian
	south, north := max(lat-reach, -math.Pi/2), min(lat+reach, math.Pi/2)
	// Where the circle is widest, in degrees of longitude, lies nearer to the pole
	// than its middle; it is the pole if that is inside.
	widest := math.Asin(max(-1, min(1, math.Sin(lat)/math.Cos(reach))))
	for band := bandOf(south / radian); band <= bandOf(north/radian); band++ {
		bottom := max(south, (float64(band)/bandsPerDegree-90)*radian)
		top := min(north, (float64(band+1)/bandsPerDegree-90)*radian)
		half := halfWidth(lat, max(bottom, min(widest, top)), reach)
		list = appendStrips(list, band, p.Lng, half/radian)
	}
	return list
}

// halfWidth of a circle at a latitude, in radians of longitude: the haversine
// formula, solved for it.
func halfWidth(middle, at, reach float64) float64 {
	h, shrink := sq(math.Sin(reach/2))-sq(math.Sin((at-middle)/2)), math.Cos(middle)*math.Cos(at)
	if shrink < slack || h >= shrink {
		return math.Pi // the circle goes round a pole
	}
	return 2*math.Asin(math.Sqrt(max(0, h/shrink))) + slack
}

func appendStrips(list []Strip, band int64, lng, half float64) []Strip {
	west, east := lng-half, lng+half
	switch {
	case half >= 180:
		return append(list, Strip{band, -180, 180})
	case west < -180:
		return append(list, Strip{band, west + 360, 180}, Strip{band, -180, east})
	case east > 180:
		return append(list, Strip{band, west, 180}, Strip{band, -180, east - 360})
	}
	return append(list, Strip{band, west, east})
}
