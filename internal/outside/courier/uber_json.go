package courier

import (
	"bytes"
	"cmp"
	"encoding/json"
	"slices"
	"strings"
	"time"

	"purveyor/internal/commerce"
)

const (
	maxUberNotes = 280 // characters
	maxUberName  = 100 // of a manifest's line, in bytes: couriers cannot use longer ones
)

// uberTrip is the part that a quote and its delivery share. Uber refuses a delivery
// that differs from its quote.
type uberTrip struct {
	PickupAddress    string         `json:"pickup_address"`
	PickupLatitude   *float64       `json:"pickup_latitude,omitempty"`
	PickupLongitude  *float64       `json:"pickup_longitude,omitempty"`
	PickupPhone      string         `json:"pickup_phone_number,omitempty"`
	PickupReady      *time.Time     `json:"pickup_ready_dt,omitempty"`
	DropoffAddress   string         `json:"dropoff_address"`
	DropoffLatitude  *float64       `json:"dropoff_latitude,omitempty"`
	DropoffLongitude *float64       `json:"dropoff_longitude,omitempty"`
	DropoffPhone     string         `json:"dropoff_phone_number,omitempty"`
	Value            commerce.Cents `json:"manifest_total_value,omitempty"`
	StoreID          string         `json:"external_store_id,omitempty"`
}

func toUberTrip(r QuoteRequest) uberTrip {
	t := uberTrip{
		PickupAddress:  uberAddress(r.Pickup.Address),
		DropoffAddress: uberAddress(r.Dropoff.Address),
		Value:          r.ValueCents,
		StoreID:        r.StoreID,
		PickupReady:    timeOf(r.ReadyAt),
	}
	t.PickupLatitude, t.PickupLongitude = uberPoint(r.Pickup.At)
	t.DropoffLatitude, t.DropoffLongitude = uberPoint(r.Dropoff.At)
	// Uber requires both numbers. If one is missing, the other one is used, because
	// it belongs to someone with knowledge of the order.
	pickup, _ := commerce.E164(r.Pickup.Phone)
	dropoff, _ := commerce.E164(r.Dropoff.Phone)
	t.PickupPhone, t.DropoffPhone = cmp.Or(pickup, dropoff), cmp.Or(dropoff, pickup)
	return t
}

// timeOf is nil for no time.
func timeOf(at commerce.Millis) *time.Time {
	if at == 0 {
		return nil
	}
	t := at.Time().UTC()
	return &t
}

// uberAddress is a JSON object, encoded as a string.
func uberAddress(a commerce.Address) string {
	street := slices.DeleteFunc([]string{a.Line1, a.Line2}, func(s string) bool { return s == "" })
	encoded, _ := json.Marshal(struct { // a struct of strings always encodes
		Street  []string `json:"street_address"`
		City    string   `json:"city"`
		State   string   `json:"state"`
		ZipCode string   `json:"zip_code"`
		Country string   `json:"country"`
	}{street, a.City, a.State, a.PostalCode, uberCountry(a.Country)})
	return string(encoded)
}

func uberCountry(name string) string {
	switch name = strings.ToUpper(strings.TrimSpace(name)); name {
	case "", "USA", "U.S.", "U.S.A.", "UNITED STATES", "UNITED STATES OF AMERICA":
		return "US"
	}
	return name
}

func uberPoint(at *commerce.Point) (lat, lng *float64) {
	if at == nil || !at.Valid() {
		return nil, nil
	}
	return &at.Lat, &at.Lng
}

// uberRequest asks for a delivery.
type uberRequest struct {
	uberTrip
	QuoteID             string     `json:"quote_id,omitempty"`
	PickupName          string     `json:"pickup_name"`
	PickupNotes         string     `json:"pickup_notes,omitempty"`
	DropoffName         string     `json:"dropoff_name"`
	DropoffNotes        string     `json:"dropoff_notes,omitempty"`
	Items               []uberItem `json:"manifest_items"`
	Reference           string     `json:"manifest_reference,omitempty"` // the courier can tell it to the store
	ExternalID          string     `json:"external_id"`
	IdempotencyKey      string     `json:"idempotency_key"`
	UndeliverableAction string     `json:"undeliverable_action"`
	Test                *uberTest  `json:"test_specifications,omitempty"`
}

type uberItem struct {
	Name     string         `json:"name"`
	Quantity int64          `json:"quantity"`
	Size     string         `json:"size"`
	Price    commerce.Cents `json:"price,omitempty"`
}

type uberTest struct {
	Robo struct {
		Mode string `json:"mode"`
	} `json:"robo_courier_specification"`
}

func toUberRequest(r CreateRequest, robo bool) (uberRequest, error) {
	request := uberRequest{
		uberTrip:            toUberTrip(r.QuoteRequest),
		QuoteID:             r.QuoteID,
		PickupName:          cmp.Or(r.Pickup.Name, "Store"),
		PickupNotes:         commerce.Cut(r.Pickup.Instructions, maxUberNotes),
		DropoffName:         cmp.Or(r.Dropoff.Name, "Customer"),
		DropoffNotes:        commerce.Cut(r.Dropoff.Instructions, maxUberNotes),
		Reference:           r.OrderID,
		ExternalID:          r.Ref,
		IdempotencyKey:      r.Ref,
		UndeliverableAction: "return",
	}
	if request.PickupPhone == "" { // then there is no number at all
		return request, &Refusal{Code: BadAddress, Message: "a phone number is missing: Uber Direct needs one that can be dialled, of the customer or of the store"}
	}
	for _, i := range r.Items {
		request.Items = append(request.Items, uberItem{
			Name: commerce.CleanText(cmp.Or(i.Name, "Item"), maxUberName), Quantity: i.Quantity, Size: "small", Price: i.PriceCents})
	}
	if robo {
		request.Test = &uberTest{}
		request.Test.Robo.Mode = "auto"
	}
	return request, nil
}

// uberQuote is an offer.
type uberQuote struct {
	ID             string         `json:"id"`
	Fee            commerce.Cents `json:"fee"`
	Currency       string         `json:"currency"`      // in lower case
	CurrencyType   string         `json:"currency_type"` // in upper case
	DropoffETA     uberTime       `json:"dropoff_eta"`
	Expires        uberTime       `json:"expires"`
	Duration       int64          `json:"duration"`        // minutes
	PickupDuration int64          `json:"pickup_duration"` // minutes
	LiveMode       *bool          `json:"live_mode"`
}

func (q uberQuote) quote() Quote {
	return Quote{
		ID: q.ID, FeeCents: q.Fee, Currency: strings.ToUpper(cmp.Or(q.CurrencyType, q.Currency)),
		DropoffETA: commerce.Millis(q.DropoffETA), ExpiresOn: commerce.Millis(q.Expires),
		DurationSeconds: q.Duration * 60, PickupDurationSeconds: q.PickupDuration * 60,
	}
}

// uberDelivery holds the fields of a delivery that we use.
type uberDelivery struct {
	ID                  string         `json:"id"`
	QuoteID             string         `json:"quote_id"`
	ExternalID          string         `json:"external_id"`
	Status              string         `json:"status"`
	Complete            *bool          `json:"complete"`
	TrackingURL         string         `json:"tracking_url"`
	Fee                 commerce.Cents `json:"fee"`
	Created             uberTime       `json:"created"`
	PickupETA           uberTime       `json:"pickup_eta"`
	DropoffETA          uberTime       `json:"dropoff_eta"`
	Courier             *courierJSON   `json:"courier"`
	Imminent            bool           `json:"courier_imminent"`
	UndeliverableReason string         `json:"undeliverable_reason"`
	LiveMode            *bool          `json:"live_mode"`
	Related             uberRelated    `json:"related_deliveries"`
}

// uberPlace returns the coordinates of a place, or nil if there are none. Zeros mean
// none.
func uberPlace(p *commerce.Point) *commerce.Point {
	if p == nil || *p == (commerce.Point{}) || !p.Valid() {
		return nil
	}
	return p
}

// uberStatuses are all documented statuses except returned.
var uberStatuses = map[string]commerce.CourierStatus{
	"pending":         commerce.CourierPending,
	"pickup":          commerce.CourierAssigned,
	"pickup_complete": commerce.CourierLoaded,
	"dropoff":         commerce.CourierEnRoute,
	"delivered":       commerce.CourierDone,
	uberCanceled:      commerce.CourierCancelled,
}

const uberCanceled = "canceled"

// status returns the status of a delivery. Uber makes the way back a delivery of its
// own: the original is "returned" from the start of the way back, and complete when
// it ends.
func (d uberDelivery) status() commerce.CourierStatus {
	switch {
	case d.Status == "returned" && d.Complete != nil && !*d.Complete:
		return commerce.CourierReturning
	case d.Status == "returned":
		return commerce.CourierReturned
	}
	return uberStatuses[d.Status]
}

// original returns the id of the delivery whose goods this one brings back; empty:
// this is no return.
func (d uberDelivery) original() string {
	for _, r := range d.Related {
		if r.Relationship == "original" {
			return r.ID
		}
	}
	return ""
}

// delivery translates the delivery. Parts of the key that Uber leaves out are taken
// from k.
func (d uberDelivery) delivery(k Key) Delivery {
	made := Delivery{
		ID: cmp.Or(d.ID, k.ID), Ref: cmp.Or(d.ExternalID, k.Ref), QuoteID: d.QuoteID, Status: d.status(),
		TrackingURL: webLink(d.TrackingURL), FeeCents: d.Fee, PickupETA: commerce.Millis(d.PickupETA), DropoffETA: commerce.Millis(d.DropoffETA),
		Imminent: d.Imminent, Reason: commerce.CleanText(d.UndeliverableReason, commerce.MaxNote),
	}
	if c := d.Courier; c != nil {
		made.Courier = commerce.Courier{
			Name: commerce.CleanText(c.Name, commerce.MaxNote), Phone: commerce.CleanText(c.Phone, commerce.MaxNote),
			Vehicle: commerce.CleanText(c.Vehicle, commerce.MaxNote), ImageURL: webLink(c.ImageURL), At: uberPlace(c.At),
		}
	}
	return made
}

// uberTime is Unix ms. A time that cannot be parsed counts as unknown, so that the
// delivery is not lost.
type uberTime int64

// UnmarshalJSON parses RFC 3339.
func (t *uberTime) UnmarshalJSON(data []byte) error {
	var text string
	if json.Unmarshal(data, &text) == nil {
		if at, err := time.Parse(time.RFC3339, text); err == nil {
			*t = uberTime(at.UnixMilli())
		}
	}
	return nil
}

// uberRelated lists other deliveries of the same goods.
type uberRelated []struct {
	ID           string `json:"id"`
	Relationship string `json:"relationship"` // what the other delivery is to this one
}

// UnmarshalJSON reads a list, or a single element.
func (r *uberRelated) UnmarshalJSON(data []byte) error {
	if bytes.HasPrefix(data, []byte("{")) {
		data = slices.Concat([]byte("["), data, []byte("]"))
	}
	type list uberRelated // a type without this method
	return json.Unmarshal(data, (*list)(r))
}

// uberList is a page of deliveries.
type uberList struct {
	Data uberPage `json:"data"`
	Next string   `json:"next_href"`
}

// uberPage is nil if the list is absent, which means that the answer is not Uber's.
type uberPage []uberDelivery

// UnmarshalJSON reads null as an empty list.
func (p *uberPage) UnmarshalJSON(data []byte) error {
	*p = uberPage{}
	if string(data) == "null" {
		return nil
	}
	return json.Unmarshal(data, (*[]uberDelivery)(p))
}

// next returns the query of the next page, empty if this is the last. The page is
// requested from the same host, whatever host the link names.
func (l uberList) next() string {
	_, query, _ := strings.Cut(l.Next, "?")
	return query
}

// endsBefore reports whether all pages after this one are older than since.
// Deliveries are sorted, newest first, so the last one of this page decides.
func (l uberList) endsBefore(since commerce.Millis) bool {
	newestFirst := slices.IsSortedFunc(l.Data, func(a, b uberDelivery) int { return cmp.Compare(b.Created, a.Created) })
	if len(l.Data) == 0 || !newestFirst {
		return false
	}
	last := l.Data[len(l.Data)-1].Created
	return last != 0 && commerce.Millis(last) < since
}
