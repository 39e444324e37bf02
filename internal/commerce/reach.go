package commerce

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
