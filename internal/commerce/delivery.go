package commerce

import (
	"strconv"
	"strings"
	"time"
)

// CourierStatus is the progress of a courier. Each provider has other words for it,
// which its adapter translates into these.
type CourierStatus string

// The statuses, in the order in which a delivery may reach them. Callbacks may be lost,
// so a delivery may skip any status but the first.
const (
	CourierPending   CourierStatus = "pending"             // the provider looks for a courier
	CourierAssigned  CourierStatus = "pickup"              // the courier is on the way to the store
	CourierLoaded    CourierStatus = "pickup_complete"     // the courier has the goods
	CourierEnRoute   CourierStatus = "en_route_to_dropoff" // the courier is on the way to the customer, with the goods
	CourierReturning CourierStatus = "returning"           // the courier brings the goods back to the store
	CourierDone      CourierStatus = "delivered"           // final: the customer has the goods
	CourierCancelled CourierStatus = "cancelled"           // final: the provider or the service cancelled the delivery
	CourierReturned  CourierStatus = "returned"            // final: the goods are at the store again
)

// Rank orders the statuses. A delivery never goes to a status of lower rank. The rank
// of an unknown status is 0; all final statuses share the highest rank.
func (s CourierStatus) Rank() int { return courierRanks[s] }

var courierRanks = map[CourierStatus]int{
	CourierPending: 1, CourierAssigned: 2, CourierLoaded: 3, CourierEnRoute: 4, CourierReturning: 5,
	CourierDone: 6, CourierCancelled: 6, CourierReturned: 6,
}

// Over reports whether the status is final.
func (s CourierStatus) Over() bool { return s.Rank() == 6 }

// HasGoods reports whether the courier has, or had, the goods.
func (s CourierStatus) HasGoods() bool {
	r := s.Rank()
	return r >= 3 && s != CourierCancelled
}

// Courier is the driver of a delivery. Fields that the provider did not give are empty.
type Courier struct {
	Name, Phone, Vehicle, ImageURL string
	At                             *Point // the last known position; nil: unknown
}

// DeliveryState is the phase of a delivery. It determines what moves the delivery on.
type DeliveryState string

// The states.
const (
	DeliveryDispatching DeliveryState = "dispatching" // a job looks for a provider that accepts the delivery
	DeliveryActive      DeliveryState = "active"      // the provider accepted it, and its callbacks move it on
	DeliveryOver        DeliveryState = "over"        // delivered, returned, cancelled or given up: nothing moves it on
)

// Delivery is the way of one order's goods to the customer. An order has one row, which
// describes the current attempt. If a courier cancels before the pick-up, the next
// attempt replaces it in the row.
type Delivery struct {
	StoreID, OrderID string
	// Attempt counts from 1. The order's id and Attempt make the name of the delivery
	// at its provider (Ref). A provider creates at most one delivery for a name,
	// however often the service asks.
	Attempt int64
	State   DeliveryState
	// Provider is the provider that has the delivery or may have it. It is stored
	// before the provider is called, so that after a crash no other provider is asked
	// for the same order. Empty: no provider was asked yet.
	Provider   string
	AskedOn    Millis // when the provider was first asked
	ProviderID string // the provider's id of the delivery; empty: not known to exist
	QuoteID    string
	FeeCents   Cents // what the provider charges the merchant; the customer pays Order.DeliveryFeeCents
	// Avoid is the provider that cancelled the previous attempt. It is asked last.
	Avoid       string
	TrackingURL string
	Status      CourierStatus // empty: no provider has created the delivery yet
	ReadyAt     Millis        // when the courier can have the goods, as the partner said; 0: it did not
	PickupETA   Millis        // 0: unknown
	DropoffETA  Millis        // 0: unknown
	Courier     Courier
	Imminent    bool   // the courier is about to arrive
	SeenOn      Millis // the provider's time of its last report
	HeardOn     Millis // when the service got that report
	// ToldOn is when the partner last got a courier update. Untold reports that a later
	// change waits for a job, which sends the next update.
	ToldOn Millis
	Untold bool
	// CalledOff reports that the provider cancelled the delivery because the service
	// asked for that, and not because the courier gave up.
	CalledOff bool
	// Replacing reports that staff asked for another courier. The job that cancels this one
	// looks for the next when the provider has cancelled.
	Replacing bool
	TraceID   string // of the request that asked for the delivery
	Error     string // why the last try to dispatch it failed
	CreatedOn Millis
	UpdatedOn Millis
	Changes   int64 // counts the changes that tracking shows
}

// MaxReadyMinutes bounds how long an order may take to be ready for its courier: a day.
const MaxReadyMinutes = 24 * 60

// MaxDispatches is the largest number of attempts for an order: the first, and one
// after each of up to three couriers that cancelled (BEHAVIOUR, Lifecycle).
const MaxDispatches = 4

// NoNewCourier is the reason why staff cannot have another courier looked for; empty: they
// can. known reports that the order has a delivery.
func NoNewCourier(o Order, d Delivery, known bool) string {
	switch {
	case o.Fulfillment != ByDelivery:
		return "The customer picks this order up"
	case !o.StillToFulfil():
		return "There is nothing left to deliver"
	case !known:
		return "It is not confirmed yet"
	case d.Status.HasGoods() && d.Status != CourierReturned:
		return "The courier has the goods"
	case d.State == DeliveryDispatching || d.State == DeliveryOver && d.Unsure():
		return "A courier is being looked for"
	case d.Replacing:
		return "The courier is being called off, and another one is looked for then"
	}
	return ""
}

// Key of the row.
func (d Delivery) Key() OrderKey { return OrderKey{d.StoreID, d.OrderID} }

// Ref names this attempt at its provider.
func (d Delivery) Ref() string { return DeliveryRef(d.OrderID, d.Attempt) }

// Unsure reports whether a provider was asked to create the delivery, and it is unknown
// whether the provider did.
func (d Delivery) Unsure() bool { return d.Provider != "" && d.ProviderID == "" }

// Fresh reports whether the last report is under 60 seconds old, so that it may be shown
// without asking the provider (SPEC, driver-location). A report from far ahead was
// written while a clock was wrong, and is not fresh.
func (d Delivery) Fresh(now Millis) bool {
	const freshness = time.Minute
	return d.HeardOn > now.Add(-freshness) && d.HeardOn <= now.Add(freshness)
}

// CourierUpdateEvery is the least time between two courier updates about one order that
// are sent to its partner.
const CourierUpdateEvery = 30 * time.Second

// StrayCallback is a callback about an unknown delivery, as the provider posted it. It
// is stored so that an operator can look at it.
type StrayCallback struct {
	Provider   string
	DeliveryID string
	ID         string // given by the committer
	Body       string
	ReceivedOn Millis
}

// GeocodedAddress is an address that a geocoder has found.
type GeocodedAddress struct {
	Address   string // the digest of the normalised address
	At        Point
	Precision string
	Source    string // the geocoder that found it
	FoundOn   Millis
}

// Outdated reports whether a geocoder must look for the address again, because houses
// are built and streets renamed. A FoundOn that lies far ahead was written while a clock
// was wrong, and counts as outdated.
func (p GeocodedAddress) Outdated(now Millis) bool {
	const keep = 180 * day
	return p.FoundOn < now.Add(-keep) || p.FoundOn > now.Add(day)
}

// PrefixDelivery is the prefix of the name of a delivery at its provider.
const PrefixDelivery = "dlv_"

// DeliveryRef is the name of an attempt to deliver an order. It is derived from its
// arguments, so that each repeat of a call to a provider uses the same name.
func DeliveryRef(orderID string, attempt int64) string {
	return PrefixDelivery + strings.TrimPrefix(orderID, PrefixOrder) + "_" + strconv.FormatInt(attempt, 10)
}

// ParseDeliveryRef is the inverse of DeliveryRef. It returns false for any other text.
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
