package courier

import (
	"bytes"
	"cmp"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
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
	PickupTime         *time.Time     `json:"pickup_time,omitempty"` // when the courier comes; absent: as soon as possible
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
		PickupTime:         timeOf(r.ReadyAt),
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

var errNotDoorDash = errors.New("the answer is not one of DoorDash's; check the URL and proxies")

// doordashError is an answer by which DoorDash refuses a call.
type doordashError struct {
	status      int
	Code        string               `json:"code"`
	Message     string               `json:"message"`
	Reason      string               `json:"reason"` // why the delivery cannot be made or cancelled
	FieldErrors []doordashFieldError `json:"field_errors"`
}

type doordashFieldError struct {
	Field string `json:"field"`
	Error string `json:"error"`
}

func (e *doordashError) Error() string { return fmt.Sprintf("it answered %d: %s", e.status, e.words()) }

// words returns DoorDash's own text, cleaned for storage.
func (e *doordashError) words() string {
	words := []string{cmp.Or(e.Message, e.Reason, e.Code, "no reason given")}
	for _, f := range e.FieldErrors {
		words = append(words, f.Field+": "+f.Error)
	}
	if e.Reason != "" && e.Message != "" {
		words = append(words, e.Reason)
	}
	return commerce.CleanText(strings.Join(words, "; "), commerce.MaxNote)
}

func (e *doordashError) says(word string) bool { return e.Code == word || e.Reason == word }

// doordashSaid reports whether err is a refusal with this code or reason.
func doordashSaid(err error, word string) bool {
	e, ok := errors.AsType[*doordashError](err)
	return ok && e.says(word)
}

// denied reports whether DoorDash refuses our key or account, whatever the call.
func (e *doordashError) denied() bool {
	return e.status == http.StatusUnauthorized || e.status == http.StatusForbidden || e.says("authorization_error")
}

// definite reports whether the request itself is at fault. Otherwise the cause may
// pass, or the operator can fix it.
func (e *doordashError) definite() bool {
	return httpcall.BlamesRequest(e.status) && !e.denied() && !slices.ContainsFunc(doordashPasses, e.says)
}

// readDoorDashError reads an error answer. Proxies between us and DoorDash answer
// too: an answer without a code is not DoorDash's, unless it is about an outage, a
// limit or the key.
func readDoorDashError(answer httpcall.Answer, now time.Time) error {
	e := &doordashError{status: answer.Status}
	err := json.Unmarshal(answer.Body, e)
	switch {
	case e.status == http.StatusTooManyRequests:
		return &Limited{RetryAfter: httpcall.RetryAfter(answer.Header, now)}
	case e.status >= 500, e.status == http.StatusUnauthorized, e.status == http.StatusRequestTimeout:
		return e
	case err != nil || e.Code == "" || e.status/100 != 4:
		return fmt.Errorf("%w (it is %d)", errNotDoorDash, e.status)
	}
	return e
}

// doordashCodes are the codes and reasons that have a Code of ours.
var doordashCodes = map[string]Code{
	"distance_too_long":                OutOfZone,
	"pickup_address_not_in_coverage":   OutOfZone,
	"delivery_address_not_in_coverage": OutOfZone,
	"outside_of_delivery_time":         NoCouriers,
	"delivery_abandoned":               TooLate,
	"delivery_completed":               TooLate,
	"delivery_picked_up":               TooLate,
	"cancellation_window_closed":       TooLate,
	"unknown_delivery_id":              NotFound,
}

// doordashPasses are refusals that last while DoorDash still works on an earlier
// call.
var doordashPasses = []string{"delivery_creation_in_progress", "duplicate_request", "delivery_cancelled"}

// code returns the kind of refusal.
func (e *doordashError) code() Code {
	if code, ok := doordashCodes[e.Reason]; ok {
		return code
	}
	if code, ok := doordashCodes[e.Code]; ok {
		return code
	}
	for _, f := range e.FieldErrors {
		if strings.Contains(f.Field, "address") || strings.Contains(f.Field, "phone") {
			return f.code()
		}
	}
	if e.status == http.StatusNotFound {
		return NotFound
	}
	return Other
}

// code tells an address that DoorDash does not serve from one that it does not
// understand. DoorDash has one code for both, so its text decides.
func (f doordashFieldError) code() Code {
	words := strings.ToLower(f.Error)
	for _, w := range []string{"distance", "does not serve", "service area", "serviceable", "coverage"} {
		if strings.Contains(words, w) {
			return OutOfZone
		}
	}
	return BadAddress
}

// doordashFailure turns err into a *Refusal if the call was definitely refused, and
// returns nil for nil.
// Otherwise the call may be repeated, and the text says what an operator can do. The
// text contains no secret.
func doordashFailure(doing string, err error) error {
	if limited, ok := errors.AsType[*Limited](err); ok {
		return limited
	}
	answer, answered := errors.AsType[*doordashError](err)
	switch {
	case err == nil:
		return nil
	case answered && answer.status == http.StatusUnauthorized:
		return &commerce.CredentialsError{Message: "DoorDash: " + doing + ": it does not accept the key: check the developer id, key id and signing secret, and this machine's clock"}
	case answered && answer.denied():
		return &commerce.CredentialsError{Message: "DoorDash: " + doing + ": this account may not do this: " + answer.words()}
	case answered && answer.definite():
		return &Refusal{Code: answer.code(), Message: answer.words()}
	case answered:
		return fmt.Errorf("DoorDash: %s: %w", doing, answer)
	}
	return fmt.Errorf("DoorDash: %s: %w", doing, err)
}
