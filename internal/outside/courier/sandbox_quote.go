package courier

import (
	"context"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"purveyor/internal/commerce"
)

const (
	quotePrefix = "dqt_test_"
	quoteLife   = 15 * time.Minute

	zoneMiles    = 30.0
	baseFee      = 499
	feePerMile   = 90.0
	milesPerHour = 20.0

	searchTime  = 4 * time.Minute // until a courier is found
	loadingTime = 3 * time.Minute
)

// route is the way from the store to the door.
type route struct{ From, To commerce.Point }

// route returns the coordinates of both ends, or a refusal if they are too far apart.
func (s *Sandbox) route(ctx context.Context, r QuoteRequest) (route, error) {
	from, ok := s.place(ctx, r.Pickup)
	if !ok {
		return route{}, &Refusal{BadAddress, "Nobody knows where the store is."}
	}
	to, ok := s.place(ctx, r.Dropoff)
	if !ok {
		return route{}, &Refusal{BadAddress, "Nobody knows where the address is."}
	}
	if miles := from.MilesTo(to); miles > zoneMiles {
		return route{}, &Refusal{OutOfZone, fmt.Sprintf("The address is %.1f miles from the store; the sandbox delivers up to %.0f.", miles, zoneMiles)}
	}
	return route{from, to}, nil
}

func (s *Sandbox) place(ctx context.Context, stop Stop) (commerce.Point, bool) {
	if stop.At != nil {
		return *stop.At, stop.At.Valid()
	}
	if s.Locate == nil {
		return commerce.Point{}, false
	}
	at, ok := s.Locate(ctx, stop.Address)
	return at, ok && at.Valid()
}

// offer returns the quote for this way at the time now. Its id holds that time and is
// signed with the secret of the sandboxes.
func (s *Sandbox) offer(ctx context.Context, w route, now commerce.Millis) (Quote, error) {
	prefix := quotePrefix + strconv.FormatInt(int64(now), 36) + "_"
	id, err := s.Signer.ID(ctx, prefix, fmt.Sprint(w.From, w.To))
	if err != nil {
		return Quote{}, err
	}
	pickup, dropoff := w.times()
	return Quote{
		ID:                    id,
		FeeCents:              baseFee + commerce.Cents(math.Round(feePerMile*w.From.MilesTo(w.To))),
		Currency:              "USD",
		DropoffETA:            now.Add(dropoff),
		ExpiresOn:             now.Add(quoteLife),
		DurationSeconds:       int64(dropoff / time.Second),
		PickupDurationSeconds: int64(pickup / time.Second),
	}, nil
}

// honour returns the quote with this id if it was given for this way and has not
// expired, and otherwise a new one.
func (s *Sandbox) honour(ctx context.Context, id string, w route, now commerce.Millis) (Quote, error) {
	given, ok := givenOn(id)
	if !ok || given > now || now >= given.Add(quoteLife) {
		given = now
	}
	return s.offer(ctx, w, given) // the same way and time give the same quote
}

// givenOn returns the time that the id of a quote holds.
func givenOn(id string) (commerce.Millis, bool) {
	body, ok := strings.CutPrefix(id, quotePrefix)
	text, _, found := strings.Cut(body, "_")
	given, err := strconv.ParseInt(text, 36, 64)
	return commerce.Millis(given), ok && found && err == nil
}

// times returns how long pick-up and drop-off take, counted from the request.
func (w route) times() (pickup, dropoff time.Duration) {
	pickup = searchTime + drive(approachMiles)
	return pickup, pickup + loadingTime + drive(w.From.MilesTo(w.To))
}

func drive(miles float64) time.Duration {
	return time.Duration(miles / milesPerHour * float64(time.Hour)).Round(time.Second)
}

// approachMiles is the distance between the store and the courier when one is found.
const approachMiles = 0.8

const milesPerDegree = 69.0 // of latitude

// place returns the courier's position at a stage.
func (x *delivery) place(at stage) commerce.Point {
	if at.toDoor {
		return along(streets(x.Way.From, x.Way.To), at.at)
	}
	return along(streets(x.start(), x.Way.From), at.at)
}

// start returns where the courier is found. Its direction from the store is derived
// from the delivery's id.
func (x *delivery) start() commerce.Point {
	bearing := float64(drawn(x.ID[len(x.ID)-8:], 360)) * math.Pi / 180
	store := x.Way.From
	const steepest = 0.01 // degrees of longitude shrink to nothing at a pole
	return onEarth(commerce.Point{
		Lat: store.Lat + approachMiles/milesPerDegree*math.Cos(bearing),
		Lng: store.Lng + approachMiles/milesPerDegree*math.Sin(bearing)/max(steepest, math.Cos(store.Lat*math.Pi/180)),
	})
}

// streets returns a way around two corners, as in a town with a rectangular grid.
// Across the date line its longitudes continue beyond 180.
func streets(a, b commerce.Point) []commerce.Point {
	b.Lng = a.Lng + math.Remainder(b.Lng-a.Lng, 360)
	middle := (a.Lng + b.Lng) / 2
	return []commerce.Point{a, {Lat: a.Lat, Lng: middle}, {Lat: b.Lat, Lng: middle}, b}
}

// along returns the point at this share of a way.
func along(way []commerce.Point, part float64) commerce.Point {
	var length float64
	for i, p := range way[1:] {
		length += way[i].MilesTo(p)
	}
	left := part * length
	for i, p := range way[1:] {
		miles := way[i].MilesTo(p)
		if left < miles {
			return onEarth(between(way[i], p, left/miles))
		}
		left -= miles
	}
	return onEarth(way[len(way)-1])
}

func between(a, b commerce.Point, part float64) commerce.Point {
	return commerce.Point{Lat: a.Lat + (b.Lat-a.Lat)*part, Lng: a.Lng + (b.Lng-a.Lng)*part}
}

// onEarth returns p with latitude and longitude in their normal range.
func onEarth(p commerce.Point) commerce.Point {
	return commerce.Point{Lat: min(90, max(-90, p.Lat)), Lng: math.Remainder(p.Lng, 360)}
}

// couriers are the sandbox's couriers. Their phone numbers are not in service.
var couriers = []struct{ name, vehicle, color string }{
	{"Amara O.", "bicycle", "#0b4fb3"},
	{"Ben T.", "car", "#8a3ffc"},
	{"Chiara L.", "scooter", "#b3261e"},
	{"Dmitri V.", "van", "#1b6e3c"},
	{"Esra K.", "bicycle", "#9a5b00"},
	{"Finn M.", "walker", "#005d73"},
	{"Grace N.", "car", "#a2195b"},
	{"Hiro S.", "motorcycle", "#3d4551"},
	{"Ines P.", "scooter", "#5b2d90"},
	{"Jamal R.", "truck", "#0a5f52"},
	{"Kavya D.", "car", "#7a3b12"},
	{"Luca B.", "bicycle", "#274690"},
}

const picturesPath = "/sandbox/couriers/"

// courierOf returns the courier of a delivery, without the position.
func (s *Sandbox) courierOf(id string) commerce.Courier {
	i := drawn(id[len(deliveryPrefix):], len(couriers))
	return commerce.Courier{
		Name:     couriers[i].name,
		Phone:    fmt.Sprintf("+120255501%02d", i+1),
		Vehicle:  couriers[i].vehicle,
		ImageURL: s.URL + picturesPath + strconv.Itoa(i+1) + ".svg",
	}
}

// drawn returns a number below n, derived from the first hexadecimal digits of an id.
func drawn(digits string, n int) int {
	v, err := strconv.ParseUint(digits[:8], 16, 32)
	if err != nil {
		panic(err) // ids are checked when they are parsed
	}
	return int(v % uint64(n))
}

// vehicles maps the providers' names of vehicles to words.
var vehicles = map[string]string{
	"bicycle": "by bicycle", "car": "by car", "scooter": "by scooter", "van": "by van",
	"walker": "on foot", "motorcycle": "by motorcycle", "truck": "by truck",
}

// portrait is the picture of a courier, made from a name, a colour and an initial.
const portrait = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 96 96" width="96" height="96" role="img"><title>%s</title>` +
	`<rect width="96" height="96" fill="%s"/><circle cx="48" cy="38" r="19" fill="#fff"/><path d="M12 96a36 34 0 0 1 72 0z" fill="#fff"/>` +
	`<text x="48" y="90" font-family="sans-serif" font-size="20" font-weight="700" text-anchor="middle" fill="#16191d">%s</text></svg>
`
