package fakedoordash

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"time"
)

// Order is the request for a quote or a delivery. DoorDash accepts more fields than
// these, and no unknown ones.
type Order struct {
	ExternalDeliveryID string `json:"external_delivery_id"`
	PickupAddress      string `json:"pickup_address"`
	PickupBusinessName string `json:"pickup_business_name"`
	PickupPhone        string `json:"pickup_phone_number"`
	PickupInstructions string `json:"pickup_instructions"`
	PickupReferenceTag string `json:"pickup_reference_tag"`
	PickupTime         string `json:"pickup_time"`
	DropoffAddress     string `json:"dropoff_address"`
	DropoffPhone       string `json:"dropoff_phone_number"`
	DropoffNotes       string `json:"dropoff_instructions"`
	DropoffGivenName   string `json:"dropoff_contact_given_name"`
	DropoffFamilyName  string `json:"dropoff_contact_family_name"`
	OrderValue         int64  `json:"order_value"`
	Items              []Item `json:"items"`
	Undeliverable      string `json:"action_if_undeliverable"`
}

// Item is one line of the goods.
type Item struct {
	Name     string `json:"name"`
	Quantity int64  `json:"quantity"`
	Price    int64  `json:"price"`
}

// Delivery is a quote or a delivery, and its state.
type Delivery struct {
	Order
	DeliveryStatus       string    `json:"delivery_status"`
	CancellationReason   string    `json:"cancellation_reason,omitempty"`
	Currency             string    `json:"currency"`
	Fee                  int64     `json:"fee"`
	UpdatedAt            string    `json:"updated_at"`
	PickupTimeEstimated  *string   `json:"pickup_time_estimated"` // null after the pick-up
	DropoffTimeEstimated *string   `json:"dropoff_time_estimated"`
	TrackingURL          string    `json:"tracking_url"`
	DasherID             int64     `json:"dasher_id,omitempty"`
	DasherName           string    `json:"dasher_name,omitempty"`
	DasherDropoffPhone   string    `json:"dasher_dropoff_phone_number,omitempty"`
	DasherPickupPhone    string    `json:"dasher_pickup_phone_number,omitempty"`
	DasherVehicleMake    string    `json:"dasher_vehicle_make,omitempty"`
	DasherVehicleModel   string    `json:"dasher_vehicle_model,omitempty"`
	DasherVehicleYear    string    `json:"dasher_vehicle_year,omitempty"`
	DasherLocation       *location `json:"dasher_location"`
}

type location struct {
	Lat float64 `json:"lat"`
	Lng float64 `json:"lng"`
}

var (
	wellNamed = regexp.MustCompile(`^[a-zA-Z0-9-._~]+$`)
	dialable  = regexp.MustCompile(`^\+[1-9][0-9]{7,14}$`)
)

// problems returns what is wrong with an order.
func (o Order) problems() (all []fieldError) {
	check := func(field string, fine bool, wrong string) {
		if !fine {
			all = append(all, fieldError{field, wrong})
		}
	}
	check("external_delivery_id", wellNamed.MatchString(o.ExternalDeliveryID), "Must match the pattern")
	check("pickup_address", o.PickupAddress != "", "Could not resolve to a valid address")
	check("dropoff_address", o.DropoffAddress != "", "Could not resolve to a valid address")
	check("pickup_phone_number", o.PickupPhone == "" || dialable.MatchString(o.PickupPhone), "Phone number provided does not seem to be a valid one")
	check("dropoff_phone_number", dialable.MatchString(o.DropoffPhone), "Phone number provided does not seem to be a valid one")
	check("order_value", o.OrderValue >= 0, "Must not be negative")
	check("action_if_undeliverable", slices.Contains([]string{"", "dispose", "return_to_pickup"}, o.Undeliverable), "Unknown value")
	for i, item := range o.Items {
		check(fmt.Sprintf("items[%d]", i), item.Name != "" && item.Quantity > 0 && item.Price >= 0, "Not an item")
	}
	return all
}

// create makes a quote or a delivery. A name is used once, even for a quote.
func (s *Server) create(body []byte, status string) answer {
	var o Order
	decoder := json.NewDecoder(bytes.NewReader(body))
	decoder.DisallowUnknownFields() // a misspelled field would have no effect
	if err := decoder.Decode(&o); err != nil {
		return refuse(http.StatusBadRequest, "validation_error", err.Error())
	}
	if wrong := o.problems(); wrong != nil {
		return answer{http.StatusBadRequest, encode(problem{Code: "validation_error", Message: "Validation Failed", FieldErrors: wrong})}
	}
	if s.deliveries[o.ExternalDeliveryID] != nil {
		return answer{http.StatusConflict, encode(problem{Code: "duplicate_delivery_id",
			Message: "Duplicate delivery ID", ExternalDeliveryID: o.ExternalDeliveryID})}
	}
	s.made++
	d := &Delivery{
		Order: o, DeliveryStatus: status, Currency: "USD", Fee: 975, UpdatedAt: stamp(0),
		PickupTimeEstimated: new(stamp(15 * time.Minute)), DropoffTimeEstimated: new(stamp(40 * time.Minute)),
		TrackingURL: fmt.Sprintf("https://track.doordash.com/order/standin-%06d/track", s.made),
	}
	s.deliveries[o.ExternalDeliveryID] = d
	return answer{http.StatusOK, encode(d)}
}

func stamp(ahead time.Duration) string {
	return time.Now().Add(ahead).UTC().Format("2006-01-02T15:04:05.000000Z")
}

func (s *Server) cancel(d *Delivery) answer {
	reason := map[string]string{
		"cancelled": "delivery_cancelled", "delivered": "delivery_completed", "returned": "delivery_completed",
		"picked_up": "delivery_picked_up", "enroute_to_dropoff": "delivery_picked_up", "arrived_at_dropoff": "delivery_picked_up",
		"enroute_to_return": "delivery_picked_up", "arrived_at_return": "delivery_picked_up",
	}[d.DeliveryStatus]
	if reason != "" {
		return answer{http.StatusConflict, encode(problem{Code: "cancel_not_allowed", Message: "Delivery cannot be cancelled", Reason: reason})}
	}
	d.CancellationReason = "cancelled_by_creator"
	s.move(d, "cancelled")
	return answer{http.StatusOK, encode(d)}
}

// Made returns the number of deliveries.
func (s *Server) Made() (n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, d := range s.deliveries {
		if d.DeliveryStatus != "quote" {
			n++
		}
	}
	return n
}

// Find returns the state of a delivery or a quote; false: it does not exist.
func (s *Server) Find(name string) (Delivery, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	d := s.deliveries[name]
	if d == nil {
		return Delivery{}, false
	}
	return *d, true
}

// The statuses that a delivery goes through.
var (
	there = []string{"created", "confirmed", "enroute_to_pickup", "arrived_at_pickup", "picked_up", "enroute_to_dropoff", "arrived_at_dropoff", "delivered"}
	back  = []string{"created", "confirmed", "enroute_to_pickup", "arrived_at_pickup", "picked_up", "enroute_to_dropoff", "enroute_to_return", "arrived_at_return", "returned"}
)

// Move makes the Dasher go on until the delivery has this status.
func (s *Server) Move(name, to string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	d := s.deliveries[name]
	if d == nil {
		return fmt.Errorf("there is no delivery %q", name)
	}
	way := there
	if !slices.Contains(there, to) {
		way = back
	}
	from, until := slices.Index(way, d.DeliveryStatus), slices.Index(way, to)
	if from < 0 || until < from {
		return fmt.Errorf("from %s no way leads to %s", d.DeliveryStatus, to)
	}
	for _, status := range way[from+1 : until+1] {
		s.move(d, status)
	}
	return nil
}

// GiveUp makes DoorDash cancel a delivery.
func (s *Server) GiveUp(name, reason string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	d := s.deliveries[name]
	if d == nil {
		return fmt.Errorf("there is no delivery %q", name)
	}
	d.CancellationReason = reason
	s.move(d, "cancelled")
	return nil
}

func (s *Server) move(d *Delivery, status string) {
	d.DeliveryStatus, d.UpdatedAt = status, stamp(0)
	d.DasherID, d.DasherName, d.DasherDropoffPhone, d.DasherPickupPhone = 123212, "John D.", "+16505550188", "+16505550177"
	d.DasherVehicleMake, d.DasherVehicleModel, d.DasherVehicleYear = "Toyota", "Prius", "2019"
	d.DasherLocation = &location{37.7701, -122.4101}
	if slices.Index(there, status) >= slices.Index(there, "picked_up") {
		d.PickupTimeEstimated = nil
	}
	if name := eventNames[status]; name != "" {
		s.post(name, d)
	}
}

// eventNames are the events of each status. An account has to switch on the
// lower-case ones.
var eventNames = map[string]string{
	"confirmed":          "DASHER_CONFIRMED",
	"enroute_to_pickup":  "dasher_enroute_to_pickup",
	"arrived_at_pickup":  "DASHER_CONFIRMED_PICKUP_ARRIVAL",
	"picked_up":          "DASHER_PICKED_UP",
	"enroute_to_dropoff": "dasher_enroute_to_dropoff",
	"arrived_at_dropoff": "DASHER_CONFIRMED_DROPOFF_ARRIVAL",
	"delivered":          "DASHER_DROPPED_OFF",
	"enroute_to_return":  "DELIVERY_RETURN_INITIALIZED",
	"arrived_at_return":  "DASHER_CONFIRMED_RETURN_ARRIVAL",
	"returned":           "DELIVERY_RETURNED",
	"cancelled":          "DELIVERY_CANCELLED",
}

// Event is a posted event.
type Event struct {
	Name string
	Body []byte
}

// post posts an event about a delivery. It has no id, and no status other than its
// name.
func (s *Server) post(name string, d *Delivery) {
	var fields map[string]any
	if err := json.Unmarshal(encode(d), &fields); err != nil {
		panic(err)
	}
	for field, value := range fields {
		if value == nil || value == "" || strings.HasPrefix(field, "delivery_status") {
			delete(fields, field)
		}
	}
	fields["event_name"], fields["created_at"] = name, stamp(0)
	s.events = append(s.events, Event{name, encode(fields)})
}

// Take returns the events since the last call, in order.
func (s *Server) Take() []Event {
	s.mu.Lock()
	defer s.mu.Unlock()
	taken := s.events
	s.events = nil
	return taken
}

// Header returns the header of an event.
func (s *Server) Header() http.Header {
	r := http.Request{Header: http.Header{"Content-Type": {"application/json"}}}
	r.SetBasicAuth(s.User, s.Password)
	return r.Header
}
