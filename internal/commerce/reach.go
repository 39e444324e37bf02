package commerce

// How far an address may lie from the point that stands for it, in miles. A
// house number is the point itself.
const (
	StreetMiles  = 1.0
	MinAreaMiles = 1.0  // of a ZIP code or a city
	MaxAreaMiles = 10.0 // the same; also what holds where the size is not known
)

// Place is where an address is, as well as that is known.
type Place struct {
	Point
	RadiusMiles float64 // the address lies within so many miles of the point
}

// Reach is how far an address is from a store.
type Reach struct {
	Miles  *float64 // nil: the address or the store cannot be placed
	Beyond bool     // the store does not deliver so far
}

// ReachOf applies the one rule of reach: an address is out of reach when it is
// farther than the store's radius and the place's own radius together. to may
// be nil: an address without a place is never out of reach, the courier decides.
func (s Store) ReachOf(to *Place) Reach {
	at, known := s.Point()
	if !known || to == nil {
		return Reach{}
	}
	miles := at.MilesTo(to.Point)
	return Reach{Miles: &miles, Beyond: s.RadiusMiles != nil && miles > *s.RadiusMiles+to.RadiusMiles}
}

// OutOfRadius refuses to sell or to quote a delivery that is out of reach.
func OutOfRadius() *Error {
	return &Error{Kind: KindInvalid, Code: "out_of_radius", Field: "delivery_address",
		Message: "The address lies outside of the area that the store delivers to"}
}
