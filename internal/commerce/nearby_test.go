package commerce

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// places are anywhere, and more often where it is hard: the poles, the date
// line, the edges of bands.
func places() *rapid.Generator[Point] {
	lats := rapid.OneOf(rapid.Float64Range(-90, 90), rapid.SampledFrom([]float64{-90, -89.9999999, -89.5, -0.05, 0, 0.05, 40.7, 89, 89.99, 89.9999999, 90}))
	lngs := rapid.OneOf(rapid.Float64Range(-180, 180), rapid.SampledFrom([]float64{-180, -179.9999999, -179.5, 0, 179.5, 179.9999999, 180}))
	return rapid.Custom(func(t *rapid.T) Point { return Point{lats.Draw(t, "lat"), lngs.Draw(t, "lng")} })
}

// go from a place a distance in a direction (0 is north).
func (p Point) travel(miles, direction float64) Point {
	d, lat, lng := miles/earthMiles, p.Lat*radian, p.Lng*radian
	sin := math.Sin(lat)*math.Cos(d) + math.Cos(lat)*math.Sin(d)*math.Cos(direction)
	lat2 := math.Asin(max(-1, min(1, sin)))
	lng2 := lng + math.Atan2(math.Sin(direction)*math.Sin(d)*math.Cos(lat), math.Cos(d)-math.Sin(lat)*sin)
	return Point{lat2 / radian, math.Remainder(lng2/radian, 360)}
}

// eastmost is the direction in which a circle reaches furthest east, a little
// north or south of it (Clairaut's relation).
func eastmost(p Point, miles float64) float64 {
	widest := math.Asin(max(-1, min(1, math.Sin(p.Lat*radian)/math.Cos(miles/earthMiles))))
	direction := math.Asin(min(1, math.Cos(widest)/math.Cos(p.Lat*radian)))
	if p.Lat < 0 {
		return math.Pi - direction
	}
	return direction
}

func TestStripsHoldTheCircle(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		origin := places().Draw(t, "origin")
		miles := rapid.SampledFrom([]float64{1e-9, 0.001, 1, 3.4, 10, 62.5, 100, 1000}).Draw(t, "miles")
		share := rapid.OneOf(rapid.Just(1.0), rapid.Float64Range(0, 1)).Draw(t, "share")
		direction := rapid.OneOf(rapid.Float64Range(0, 2*math.Pi), rapid.SampledFrom([]float64{0, math.Pi / 2, math.Pi, eastmost(origin, miles)})).Draw(t, "direction")
		at := origin.travel(miles*share, direction)
		if origin.MilesTo(at) > miles {
			t.Skip("rounded out of the circle")
		}
		for _, at := range []Point{at, {at.Lat, -180}, {at.Lat, 180}} { // the date line has two names
			if origin.MilesTo(at) <= miles && !within(StripsAround(origin, miles), at) {
				t.Fatalf("%v is %v miles from %v and in none of its strips for %v miles", at, origin.MilesTo(at), origin, miles)
			}
		}
	})
}

func within(strips []Strip, p Point) bool {
	return slices.ContainsFunc(strips, func(s Strip) bool {
		return Store{Lat: &p.Lat, Lng: &p.Lng}.Band() == s.Band && s.West <= p.Lng && p.Lng <= s.East
	})
}

// Strips overlap nowhere, for a store is found once, and are not much larger
// than the circle and a band on each side of it.
func TestStripsAreNarrow(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		origin := places().Draw(t, "origin")
		miles := rapid.Float64Range(0.1, 100).Draw(t, "miles")
		strips, area := StripsAround(origin, miles), 0.0
		for i, s := range strips {
			if s.West > s.East || s.West < -180 || s.East > 180 {
				t.Fatalf("%+v is no strip", s)
			}
			for _, other := range strips[:i] {
				if s.Band == other.Band && s.West <= other.East && other.West <= s.East {
					t.Fatalf("%+v overlaps %+v", s, other)
				}
			}
			bottom := float64(s.Band)/bandsPerDegree - 90
			top := min(90, bottom+1.0/bandsPerDegree)
			area += (s.East - s.West) * radian * (math.Sin(top*radian) - math.Sin(bottom*radian)) * sq(earthMiles)
		}
		const band = earthMiles * radian / bandsPerDegree
		if most := math.Pi*sq(miles+2*band) + 1; math.Abs(origin.Lat) < 85 && area > most {
			t.Fatalf("%v square miles for a circle of %v miles around %v, at most %v are expected", area, miles, origin, most)
		}
	})
}

func TestBands(t *testing.T) {
	for _, c := range []struct {
		lat  float64
		want int64
	}{{-90, 0}, {-89.951, 0}, {-89.75, 5}, {0, 1800}, {0.0499, 1800}, {40.7128, 2614}, {90, 3600}} {
		lng := 0.0
		if got := (Store{Lat: &c.lat, Lng: &lng}).Band(); got != c.want {
			t.Errorf("latitude %v is in band %d, want %d", c.lat, got, c.want)
		}
	}
	lat, wrong := 1.0, math.NaN()
	for _, s := range []Store{{}, {Lat: &lat}, {Lng: &lat}, {Lat: &lat, Lng: &wrong}} {
		if s.Band() != NoBand {
			t.Errorf("%+v is in band %d", s, s.Band())
		}
	}
}

func site(id string, lat, lng, radius float64) Site {
	return Site{StoreID: id, At: Point{lat, lng}, PickupEnabled: true, DeliveryEnabled: true, RadiusMiles: radius}
}

// A degree of latitude is 69.09 miles.
func TestPick(t *testing.T) {
	noPickup, noDelivery := site("no-pickup", 0.01, 0, 100), site("no-delivery", 0.02, 0, 100)
	noPickup.PickupEnabled, noDelivery.DeliveryEnabled = false, false
	sites := []Site{
		site("far", 1.5, 0, math.Inf(1)), site("near", 0.1, 0, math.Inf(1)), site("short", 0.1, 0.1, 5), site("exact", 0, 0.1, Point{}.MilesTo(Point{0, 0.1})),
		site("twin-b", 0, -0.3, 100), site("twin-a", 0, 0.3, 100), noPickup, noDelivery, site("here", 0, 0, 0),
	}
	for name, c := range map[string]struct {
		search Nearby
		want   []string
	}{
		"delivery: the smaller of both cutoffs": {Nearby{MaxMiles: 10, Fulfillment: ByDelivery, Limit: 50}, []string{"here", "no-pickup", "exact", "near"}},
		"pickup: the store's radius is nothing": {Nearby{MaxMiles: 10, Fulfillment: ByPickup, Limit: 50}, []string{"here", "no-delivery", "exact", "near", "short"}},
		"as near are in the order of their ids": {Nearby{MaxMiles: 100, Fulfillment: ByDelivery, Limit: 50}, []string{"here", "no-pickup", "exact", "near", "twin-a", "twin-b"}},
		"no radius is no limit":                 {Nearby{MaxMiles: 104, Fulfillment: ByDelivery, Limit: 50}, []string{"here", "no-pickup", "exact", "near", "twin-a", "twin-b", "far"}},
		"the nearest of too many":               {Nearby{MaxMiles: 104, Fulfillment: ByPickup, Limit: 2}, []string{"here", "no-delivery"}},
		"a restricted key":                      {Nearby{MaxMiles: 104, Fulfillment: ByPickup, Limit: 2, Partner: Partner{StoreIDs: []string{"short", "far", "x"}}}, []string{"short", "far"}},
		"none":                                  {Nearby{Origin: Point{-45, 100}, MaxMiles: 100, Fulfillment: ByPickup, Limit: 2}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			var got []string
			for _, n := range c.search.Pick(sites) {
				got = append(got, n.StoreID)
			}
			if !slices.Equal(got, c.want) {
				t.Errorf("got %v, want %v", got, c.want)
			}
		})
	}
}

// Going from narrow to wide finds what the widest search finds, and ends.
func TestWider(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := Nearby{MaxMiles: rapid.Float64Range(1e-6, 100).Draw(t, "max"), Fulfillment: ByDelivery, Limit: rapid.IntRange(1, 30).Draw(t, "limit")}
		var sites []Site
		for i := range rapid.IntRange(0, 60).Draw(t, "stores") {
			miles := math.Pow(10, rapid.Float64Range(-3, 2.1).Draw(t, "miles"))
			sites = append(sites, Site{StoreID: fmt.Sprint(i), At: Point{}.travel(miles, float64(i)), DeliveryEnabled: true,
				RadiusMiles: rapid.SampledFrom([]float64{1, 20, math.Inf(1)}).Draw(t, "radius")})
		}
		search, steps := n.Narrowest(), 0
		found := search.Pick(sites)
		for more := true; ; found = search.Pick(sites) {
			if search, more = n.Wider(search, len(found)); !more {
				break
			}
			steps++
		}
		if want := n.Pick(sites); !slices.Equal(found, want) || steps > 7 {
			t.Fatalf("after %d steps %v, want %v", steps, found, want)
		}
	})
}

// With no store around, few circles are looked at.
func TestWiderInTheDesert(t *testing.T) {
	n := Nearby{MaxMiles: 100, Limit: 50}
	var miles []float64
	for search, more := n.Narrowest(), true; more; search, more = n.Wider(search, 0) {
		miles = append(miles, search.MaxMiles)
	}
	if !slices.Equal(miles, []float64{1, 10, 100}) {
		t.Errorf("circles of %v miles", miles)
	}
}
