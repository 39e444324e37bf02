package courier

import (
	"bytes"
	"cmp"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"net/http"
	"strings"
	"time"

	"purveyor/internal/commerce"
	"purveyor/internal/outside/httpcall"
)

const maxDoorDashAnswer = 1 << 20

// doordashOrder is a request for a quote or a delivery.
type doordashOrder struct {
	ExternalDeliveryID string         `json:"external_delivery_id"`
	PickupAddress      string         `json:"pickup_address"`
	PickupBusinessName string         `json:"pickup_business_name,omitempty"`
	PickupPhone        string         `json:"pickup_phone_number,omitempty"`
	PickupInstructions string         `json:"pickup_instructions,omitempty"`
	PickupReferenceTag string         `json:"pickup_reference_tag,omitempty"`
	DropoffAddress     string         `json:"dropoff_address"`
	DropoffPhone       string         `json:"dropoff_phone_number"`
	DropoffNotes       string         `json:"dropoff_instructions,omitempty"`
	DropoffGivenName   string         `json:"dropoff_contact_given_name,omitempty"`
	DropoffFamilyName  string         `json:"dropoff_contact_family_name,omitempty"`
	OrderValue         commerce.Cents `json:"order_value"`
	Items              []doordashItem `json:"items,omitempty"`
	Undeliverable      string         `json:"action_if_undeliverable"`
}

type doordashItem struct {
	Name     string         `json:"name"`
	Quantity int64          `json:"quantity"`
	Price    commerce.Cents `json:"price"`
}

// doordashDelivery is a delivery in an answer or a callback. Any field may be absent
// or null.
type doordashDelivery struct {
	ExternalDeliveryID   string          `json:"external_delivery_id"`
	DeliveryStatus       string          `json:"delivery_status"`
	CancellationReason   string          `json:"cancellation_reason"`
	Currency             string          `json:"currency"`
	Fee                  commerce.Cents  `json:"fee"`
	PickupTimeEstimated  string          `json:"pickup_time_estimated"`
	DropoffTimeEstimated string          `json:"dropoff_time_estimated"`
	TrackingURL          string          `json:"tracking_url"`
	DasherName           string          `json:"dasher_name"`
	DasherDropoffPhone   string          `json:"dasher_dropoff_phone_number"` // a number that connects the customer only
	DasherPickupPhone    string          `json:"dasher_pickup_phone_number"`  // a number that connects the store only
	DasherVehicleMake    string          `json:"dasher_vehicle_make"`
	DasherVehicleModel   string          `json:"dasher_vehicle_model"`
	DasherLocation       *commerce.Point `json:"dasher_location"`
}

// toDoorDashOrder builds the part of the request that quotes and deliveries share.
// Goods that cannot be handed over go back to the store: by default DoorDash would
// dispose of them.
func toDoorDashOrder(r QuoteRequest) (doordashOrder, error) {
	pickupPhone, _ := commerce.E164(r.Pickup.Phone)
	phone, ok := commerce.E164(r.Dropoff.Phone)
	if !ok {
		phone = pickupPhone // the courier needs a number to call when the door stays shut
	}
	if phone == "" {
		return doordashOrder{}, &Refusal{Code: BadAddress, Message: "DoorDash needs a phone number of the customer or of the store"}
	}
	given, family, _ := strings.Cut(strings.TrimSpace(r.Dropoff.Name), " ")
	return doordashOrder{
		PickupAddress:      doordashAddress(r.Pickup.Address),
		PickupBusinessName: r.Pickup.Name,
		PickupPhone:        pickupPhone,
		PickupInstructions: r.Pickup.Instructions,
		DropoffAddress:     doordashAddress(r.Dropoff.Address),
		DropoffPhone:       phone,
		DropoffNotes:       r.Dropoff.Instructions,
		DropoffGivenName:   given,
		DropoffFamilyName:  strings.TrimSpace(family),
		OrderValue:         r.ValueCents,
		Undeliverable:      "return_to_pickup",
	}, nil
}

// doordashAddress writes an address in DoorDash's form: 3180 18th St, Apt 2, San
// Francisco, CA 94110, US.
func doordashAddress(a commerce.Address) string {
	var parts []string
	for _, part := range []string{a.Line1, a.Line2, a.City, a.State + " " + a.PostalCode, a.Country} {
		if part = strings.TrimSpace(part); part != "" {
			parts = append(parts, part)
		}
	}
	return strings.Join(parts, ", ")
}

// doordashState is our meaning of a status or an event of DoorDash.
type doordashState struct {
	status commerce.CourierStatus
	near   bool // the courier is close to the store or the door
}

// doordashStates maps the statuses of deliveries and the events of callbacks, whose
// names never overlap. The operator has to switch on the events about the courier's
// way in the portal.
var doordashStates = map[string]doordashState{
	"created":            {commerce.CourierPending, false},
	"confirmed":          {commerce.CourierAssigned, false},
	"enroute_to_pickup":  {commerce.CourierAssigned, false},
	"arrived_at_pickup":  {commerce.CourierAssigned, true},
	"picked_up":          {commerce.CourierLoaded, false},
	"enroute_to_dropoff": {commerce.CourierEnRoute, false},
	"arrived_at_dropoff": {commerce.CourierEnRoute, true},
	"delivered":          {commerce.CourierDone, false},
	"enroute_to_return":  {commerce.CourierReturning, false},
	"arrived_at_return":  {commerce.CourierReturning, false},
	"returned":           {commerce.CourierReturned, false},
	"cancelled":          {commerce.CourierCancelled, false},

	"delivery_created":                 {commerce.CourierPending, false},
	"dasher_confirmed":                 {commerce.CourierAssigned, false},
	"dasher_enroute_to_pickup":         {commerce.CourierAssigned, false},
	"dasher_confirmed_pickup_arrival":  {commerce.CourierAssigned, true},
	"dasher_picked_up":                 {commerce.CourierLoaded, false},
	"dasher_enroute_to_dropoff":        {commerce.CourierEnRoute, false},
	"dasher_confirmed_dropoff_arrival": {commerce.CourierEnRoute, true},
	"dasher_dropped_off":               {commerce.CourierDone, false},
	"delivery_return_initialized":      {commerce.CourierReturning, false},
	"dasher_enroute_to_return":         {commerce.CourierReturning, false},
	"dasher_confirmed_return_arrival":  {commerce.CourierReturning, false},
	"delivery_returned":                {commerce.CourierReturned, false},
	"delivery_cancelled":               {commerce.CourierCancelled, false},
}

// delivery translates the delivery. A status that we do not know becomes empty.
func (a doordashDelivery) delivery() Delivery {
	state := doordashStates[a.DeliveryStatus]
	d := Delivery{
		ID: a.ExternalDeliveryID, Ref: a.ExternalDeliveryID,
		Status: state.status, Imminent: state.near,
		TrackingURL: webLink(a.TrackingURL),
		FeeCents:    a.Fee,
		PickupETA:   doordashTime(a.PickupTimeEstimated),
		DropoffETA:  doordashTime(a.DropoffTimeEstimated),
		Courier: commerce.Courier{
			Name:    commerce.CleanText(a.DasherName, commerce.MaxNote),
			Phone:   commerce.CleanText(cmp.Or(a.DasherDropoffPhone, a.DasherPickupPhone), commerce.MaxNote),
			Vehicle: commerce.CleanText(strings.TrimSpace(a.DasherVehicleMake+" "+a.DasherVehicleModel), commerce.MaxNote),
		},
		Reason: commerce.CleanText(a.CancellationReason, commerce.MaxNote),
	}
	if a.DasherLocation != nil && a.DasherLocation.Valid() {
		d.Courier.At = a.DasherLocation
	}
	return d
}

// doordashTime parses a time. It returns 0 for any other text.
func doordashTime(text string) commerce.Millis {
	at, err := time.Parse(time.RFC3339, text)
	if err != nil {
		return 0
	}
	return commerce.MillisOf(at)
}

// doordashTokenHeader is the first part of each token.
var doordashTokenHeader = base64.RawURLEncoding.EncodeToString([]byte(`{"alg":"HS256","typ":"JWT","dd-ver":"DD-JWT-V1"}`))

// token makes a JSON web token for one call. Its validity begins in the past, because
// DoorDash refuses a token whose validity has not begun by its own clock.
func (d *DoorDash) token() string {
	const lives, past = 300, 30 // seconds
	begins := d.now().Unix() - past
	claims, _ := json.Marshal(map[string]any{ // cannot fail
		"aud": "doordash", "iss": d.developerID, "kid": d.keyID, "iat": begins, "exp": begins + lives,
	})
	text := doordashTokenHeader + "." + base64.RawURLEncoding.EncodeToString(claims)
	mac := hmac.New(sha256.New, d.secret)
	mac.Write([]byte(text))
	return text + "." + base64.RawURLEncoding.EncodeToString(mac.Sum(nil))
}

// call makes one request about the delivery of this name, and returns the delivery of
// the answer. A refusal is a *doordashError or a *Limited.
func (d *DoorDash) call(ctx context.Context, method, path, name string, order any) (doordashDelivery, error) {
	token := d.token()
	call := httpcall.Call{Method: method, URL: d.base + path, JSON: order, Header: http.Header{"Authorization": {"Bearer " + token}}}
	answer, err := call.Do(ctx, d.client, maxDoorDashAnswer)
	if err != nil {
		return doordashDelivery{}, err
	}
	answer.Body = bytes.ReplaceAll(answer.Body, []byte(token), []byte("[token]")) // keep the token out of errors
	if !answer.OK() {
		return doordashDelivery{}, readDoorDashError(answer, d.now())
	}
	var a doordashDelivery
	if err := json.Unmarshal(answer.Body, &a); err != nil || a.ExternalDeliveryID != name {
		return doordashDelivery{}, errNotDoorDash
	}
	return a, nil
}
