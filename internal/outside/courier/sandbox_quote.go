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
