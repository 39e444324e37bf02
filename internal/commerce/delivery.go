package commerce

import (
	"strconv"
	"strings"
	"time"
)

// CourierStatus is where a courier's delivery stands. Providers have words of
// their own, which their adapters translate.
type CourierStatus string

// The statuses, in the order in which a delivery may meet them. Any but the
// first may be skipped.
const (
	CourierPending   CourierStatus = "pending"             // the provider looks for a courier
	CourierAssigned  CourierStatus = "pickup"              // the courier is on the way to the store
	CourierLoaded    CourierStatus = "pickup_complete"     // the courier has the goods
	CourierEnRoute   CourierStatus = "en_route_to_dropoff" // and is on the way to the customer
	CourierReturning CourierStatus = "returning"           // and brings them back
	CourierDone      CourierStatus = "delivered"           // over
	CourierCancelled CourierStatus = "cancelled"           // over
	CourierReturned  CourierStatus = "returned"            // over; the goods are at the store again
)

// Rank orders the statuses: a delivery never goes back. 0 is for a status that
// is not known.
func (s CourierStatus) Rank() int {
	switch s {
	case CourierPending:
		return 1
	case CourierAssigned:
		return 2
	case CourierLoaded:
		return 3
	case CourierEnRoute:
		return 4
	case CourierReturning:
		return 5
	case CourierDone, CourierCancelled, CourierReturned:
		return 6
	}
	return 0
}

// Over tells whether nothing follows.
func (s CourierStatus) Over() bool { return s.Rank() == 6 }

// HasGoods tells whether the courier has, or had, the goods.
func (s CourierStatus) HasGoods() bool {
	r := s.Rank()
	return r >= 3 && s != CourierCancelled
}

// Courier is who brings the goods, as far as the provider tells.
type Courier struct {
	Name, Phone, Vehicle, ImageURL string
	At                             *Point // nil: not known
}

// DeliveryState says who moves a delivery on.
type DeliveryState string

// The states.
const (
	DeliveryDispatching DeliveryState = "dispatching" // a job, which looks for a provider that takes it
	DeliveryActive      DeliveryState = "active"      // its provider has it
	DeliveryOver        DeliveryState = "over"        // nobody: delivered, returned, cancelled, or given up
)

// Delivery is how the goods of one order get to the customer. The order has one
// row, which is about the present attempt: when a courier cancels before the
// pick-up, another attempt begins.
type Delivery struct {
	StoreID, OrderID string
	// Attempt counts from 1. With the order's id it names the delivery at its
	// provider (Ref), which makes one delivery of a name, however often it is asked.
	Attempt int64
	State   DeliveryState
	// Provider is who has it, or may have it: it is stored before the provider is
	// asked to make the delivery. Empty: nobody was asked.
	Provider   string
	AskedOn    Millis // when the provider was first asked
	ProviderID string // of the delivery, once it is known to be made
	QuoteID    string
	FeeCents   Cents // the courier's own, which is not what the customer pays
	// Avoid is the provider that cancelled the attempt before, which is asked last.
	Avoid       string
	TrackingURL string
	Status      CourierStatus // empty: there is no delivery yet
	PickupETA   Millis        // 0: not known
	DropoffETA  Millis        // 0: not known
	Courier     Courier
	Imminent    bool   // the courier is about to arrive
	SeenOn      Millis // what the provider last told was true then
	HeardOn     Millis // when we were told
	// ToldOn is the time of the last courier update that the partner was told of;
	// Untold says that a job will tell of what has come since.
	ToldOn Millis
	Untold bool
	// CalledOff reports that the provider cancelled the delivery because the service
	// asked for that, and not because the courier gave up.
	CalledOff bool
	TraceID   string // of the request that asked for it
	Error     string // why the last try to dispatch it failed
	CreatedOn Millis
	UpdatedOn Millis
	Changes   int64 // goes up with each change that a follower of the delivery may see
}

// MaxDispatches is how many attempts an order has: the first, and three after
// couriers who cancelled (BEHAVIOUR, Lifecycle).
const MaxDispatches = 4

// Key of the row.
func (d Delivery) Key() OrderKey { return OrderKey{d.StoreID, d.OrderID} }

// Ref names this attempt at its provider.
func (d Delivery) Ref() string { return DeliveryRef(d.OrderID, d.Attempt) }

// Unsure tells whether a provider was asked to make the delivery, and nobody
// knows whether it has.
func (d Delivery) Unsure() bool { return d.Provider != "" && d.ProviderID == "" }

// Fresh tells whether what is stored may be shown as it is: it is under 60
// seconds old (SPEC, driver-location).
func (d Delivery) Fresh(now Millis) bool {
	const freshness = time.Minute
	return d.HeardOn > now.Add(-freshness) && d.HeardOn <= now.Add(freshness)
}

// CourierUpdateEvery is the least time between two courier updates that a
// partner is told of for one order, in milliseconds.
const CourierUpdateEvery = 30 * time.Second

// StrayCallback is a callback about a delivery that is none of ours, as it was
// posted. It is kept for whoever looks for it.
type StrayCallback struct {
	Provider   string
	DeliveryID string
	ID         string // given by the committer
	Body       string
	ReceivedOn Millis
}

// GeocodedAddress is an address that a geocoder has found.
type GeocodedAddress struct {
	Address   string // normalised, as a digest
	At        Point
	Precision string
	Source    string // who found it
	FoundOn   Millis
}

// Outdated tells whether the place is to be looked for again: houses are built,
// and streets renamed. A time far ahead is not to be believed.
func (p GeocodedAddress) Outdated(now Millis) bool {
	const keep = 180 * day
	return p.FoundOn < now.Add(-keep) || p.FoundOn > now.Add(day)
}

// PrefixDelivery begins the name of a delivery at its provider.
const PrefixDelivery = "dlv_"

// DeliveryRef names an attempt to deliver an order. It is derived, so that
// whoever repeats a call to a provider names the same.
func DeliveryRef(orderID string, attempt int64) string {
	return PrefixDelivery + strings.TrimPrefix(orderID, PrefixOrder) + "_" + strconv.FormatInt(attempt, 10)
}

// ParseDeliveryRef reads DeliveryRef back; false: it is none.
func ParseDeliveryRef(ref string) (orderID string, attempt int64, ok bool) {
	body, ok := strings.CutPrefix(ref, PrefixDelivery)
	at := strings.LastIndexByte(body, '_')
	if !ok || at < 0 {
		return "", 0, false
	}
	attempt, err := strconv.ParseInt(body[at+1:], 10, 64)
	orderID = PrefixOrder + body[:at]
	_, known := StoreNoOfOrder(orderID)
	return orderID, attempt, err == nil && known && DeliveryRef(orderID, attempt) == ref
}
