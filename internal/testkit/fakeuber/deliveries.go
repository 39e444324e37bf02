package fakeuber

import (
	"bytes"
	"encoding/json"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"time"
)

// trip is the part that requests for quotes and deliveries share.
type trip struct {
	PickupAddress    string   `json:"pickup_address"`
	PickupLatitude   *float64 `json:"pickup_latitude"`
	PickupLongitude  *float64 `json:"pickup_longitude"`
	PickupPhone      string   `json:"pickup_phone_number"`
	PickupReady      string   `json:"pickup_ready_dt"`
	DropoffAddress   string   `json:"dropoff_address"`
	DropoffLatitude  *float64 `json:"dropoff_latitude"`
	DropoffLongitude *float64 `json:"dropoff_longitude"`
	DropoffPhone     string   `json:"dropoff_phone_number"`
	Value            *int64   `json:"manifest_total_value"`
	StoreID          string   `json:"external_store_id"`
}

type request struct {
	trip
	QuoteID             string `json:"quote_id"`
	PickupName          string `json:"pickup_name"`
	PickupNotes         string `json:"pickup_notes"`
	DropoffName         string `json:"dropoff_name"`
	DropoffNotes        string `json:"dropoff_notes"`
	Items               []item `json:"manifest_items"`
	Reference           string `json:"manifest_reference"`
	ExternalID          string `json:"external_id"`
	IdempotencyKey      string `json:"idempotency_key"`
	UndeliverableAction string `json:"undeliverable_action"`
	Test                *struct {
		Robo struct {
			Mode string `json:"mode"`
		} `json:"robo_courier_specification"`
	} `json:"test_specifications"`
}

type item struct {
	Name     string `json:"name"`
	Quantity int64  `json:"quantity"`
	Size     string `json:"size"`
	Price    int64  `json:"price,omitempty"`
}

type quote struct {
	trip    trip
	expires time.Time
	used    bool
}

// key is an idempotency key, which the server keeps for an hour.
type key struct {
	deliveryID string
	until      time.Time
}

const (
	fee         = 799
	pickupTakes = 12 * time.Minute
	allTakes    = 34 * time.Minute
)

// delivery is a delivery as the API shows it.
type delivery struct {
	ID                  string    `json:"id"`
	QuoteID             string    `json:"quote_id"`
	Kind                string    `json:"kind"`
	ExternalID          string    `json:"external_id"`
	Status              string    `json:"status"`
	Complete            bool      `json:"complete"`
	Created             string    `json:"created"`
	Updated             string    `json:"updated"`
	PickupETA           *string   `json:"pickup_eta"`
	DropoffETA          *string   `json:"dropoff_eta"`
	Fee                 int64     `json:"fee"`
	Currency            string    `json:"currency"`
	TrackingURL         string    `json:"tracking_url"`
	Courier             *courier  `json:"courier"`
	Imminent            bool      `json:"courier_imminent"`
	LiveMode            bool      `json:"live_mode"`
	ManifestItems       []item    `json:"manifest_items"`
	UndeliverableAction string    `json:"undeliverable_action"`
	UndeliverableReason string    `json:"undeliverable_reason"`
	Related             []related `json:"related_deliveries"`
}

type courier struct {
	Name     string `json:"name"`
	Rating   string `json:"rating"`
	Vehicle  string `json:"vehicle_type"`
	Phone    string `json:"phone_number"`
	Image    string `json:"img_href"`
	Location place  `json:"location"`
}

type place struct {
	Lat float64 `json:"lat"`
	Lng float64 `json:"lng"`
}

type related struct {
	ID           string `json:"id"`
	Relationship string `json:"relationship"`
}

func (d *delivery) isReturn() bool {
	return len(d.Related) > 0 && d.Related[0].Relationship == "original"
}

var phonePattern = regexp.MustCompile(`^\+[0-9]+$`)

// decode reads a body that has documented fields only.
func decode(body []byte, into any) error {
	decoder := json.NewDecoder(bytes.NewReader(body))
	decoder.DisallowUnknownFields()
	return decoder.Decode(into)
}

// fault returns what is wrong with a trip; "": nothing.
func (t trip) fault() (field, text string) {
	for field, address := range map[string]string{"pickup_address": t.PickupAddress, "dropoff_address": t.DropoffAddress} {
		var a struct {
			Street []string `json:"street_address"`
		}
		if json.Unmarshal([]byte(address), &a) != nil || len(a.Street) == 0 {
			return field, "This field is required."
		}
	}
	for field, phone := range map[string]string{"pickup_phone_number": t.PickupPhone, "dropoff_phone_number": t.DropoffPhone} {
		if phone != "" && !phonePattern.MatchString(phone) {
			return field, "phone number is not valid."
		}
	}
	return "", ""
}

func (t trip) same(o trip) bool {
	return t.PickupAddress == o.PickupAddress && t.DropoffAddress == o.DropoffAddress && t.StoreID == o.StoreID &&
		(t.Value == nil) == (o.Value == nil) && (t.Value == nil || *t.Value == *o.Value)
}

func (s *Server) createQuote(body []byte) answer {
	var t trip
	if err := decode(body, &t); err != nil {
		return invalid("param_details", err.Error())
	}
	if field, text := t.fault(); field != "" {
		return invalid(field, text)
	}
	now, id := s.now(), s.id("dqt")
	q := &quote{trip: t, expires: now.Add(s.quoteLife)}
	s.quotes[id] = q
	return marshal(http.StatusOK, map[string]any{
		"kind": "delivery_quote", "id": id, "created": stamp(now), "expires": stamp(q.expires), "fee": fee, "currency": "usd", "currency_type": "USD",
		"dropoff_eta": stamp(now.Add(allTakes)), "duration": int(allTakes.Minutes()), "pickup_duration": int(pickupTakes.Minutes()),
		"dropoff_deadline": stamp(now.Add(2 * allTakes)), "live_mode": s.Live,
	})
}

func (s *Server) createDelivery(body []byte) answer {
	var r request
	if err := decode(body, &r); err != nil {
		return invalid("param_details", err.Error())
	}
	if field, text := r.fault(); field != "" {
		return invalid(field, text)
	}
	now := s.now()
	if k, ok := s.keys[r.IdempotencyKey]; ok && now.Before(k.until) {
		return refuse(http.StatusConflict, "duplicate_delivery", "An active delivery like this already exists.", map[string]string{"delivery_id": k.deliveryID})
	}
	if r.QuoteID != "" {
		q := s.quotes[r.QuoteID]
		switch {
		case q == nil || !now.Before(q.expires):
			return refuse(http.StatusBadRequest, "expired_quote", "The price quote specified has expired.", nil)
		case q.used:
			return refuse(http.StatusBadRequest, "used_quote", "The price quote specified has been used.", nil)
		case !q.trip.same(r.trip):
			return refuse(http.StatusBadRequest, "mismatched_price_quote", "Quote mismatch, please recreate the quote.", nil)
		}
		q.used = true
	}
	d := &delivery{
		ID: s.id("del"), QuoteID: r.QuoteID, Kind: "delivery", ExternalID: r.ExternalID, Status: "pending", Created: stamp(now), Updated: stamp(now),
		PickupETA: new(stamp(now.Add(pickupTakes))), DropoffETA: new(stamp(now.Add(allTakes))), Fee: fee, Currency: "usd",
		LiveMode: s.Live, ManifestItems: r.Items, Related: []related{},
	}
	d.TrackingURL = "https://www.ubereats.com/orders/" + d.ID
	s.deliveries = append(s.deliveries, d)
	if r.IdempotencyKey != "" {
		s.keys[r.IdempotencyKey] = key{d.ID, now.Add(time.Hour)}
	}
	s.event(d)
	return marshal(http.StatusOK, d)
}

// fault returns what is wrong with a request; "": nothing.
func (r request) fault() (field, text string) {
	if field, text = r.trip.fault(); field != "" {
		return field, text
	}
	for field, text := range map[string]string{"pickup_name": r.PickupName, "dropoff_name": r.DropoffName,
		"pickup_phone_number": r.PickupPhone, "dropoff_phone_number": r.DropoffPhone} {
		if text == "" {
			return field, "This field is required."
		}
	}
	switch {
	case len([]rune(r.PickupNotes)) > 280 || len([]rune(r.DropoffNotes)) > 280:
		return "notes", "too long"
	case len(r.Items) == 0:
		return "manifest_items", "This field is required."
	case !slices.Contains([]string{"", "return", "leave_at_door", "discard"}, r.UndeliverableAction):
		return "undeliverable_action", "unknown"
	case r.Test != nil && r.Test.Robo.Mode != "auto" && r.Test.Robo.Mode != "custom":
		return "test_specifications", "unknown mode"
	}
	for _, i := range r.Items {
		if i.Name == "" || i.Quantity < 1 || i.Price < 0 || !slices.Contains([]string{"", "small", "medium", "large", "xlarge"}, i.Size) {
			return "manifest_items", "invalid"
		}
	}
	return "", ""
}

// list returns pages, the newest first.
func (s *Server) list(r *http.Request) answer {
	offset, err := strconv.Atoi(r.URL.Query().Get("offset"))
	if err != nil && r.URL.Query().Has("offset") {
		return invalid("offset", "not a number")
	}
	newest := slices.Clone(s.deliveries)
	slices.Reverse(newest)
	page := map[string]any{"total_count": -1}
	rest := newest[min(offset, len(newest)):]
	if len(rest) > s.PageSize {
		rest = rest[:s.PageSize]
		page["next_href"] = "api.uber.com/v1/customers/" + s.CustomerID + "/deliveries?offset=" + strconv.Itoa(offset+s.PageSize)
	}
	page["data"] = rest
	return marshal(http.StatusOK, page)
}

func (s *Server) find(id string) *delivery {
	for _, d := range s.deliveries {
		if d.ID == id {
			return d
		}
	}
	return nil
}

func (s *Server) read(id string) answer {
	d := s.find(id)
	if d == nil {
		return refuse(http.StatusNotFound, "delivery_not_found", "The requested delivery does not exist.", nil)
	}
	return marshal(http.StatusOK, d)
}

func (s *Server) cancel(id string) answer {
	d := s.find(id)
	switch {
	case d == nil:
		return refuse(http.StatusNotFound, "delivery_not_found", "The requested delivery does not exist.", nil)
	case d.Status != "pending" && d.Status != "pickup":
		return refuse(http.StatusBadRequest, "noncancelable_delivery", "Delivery cannot be cancelled", nil)
	}
	s.end(d, "canceled")
	return marshal(http.StatusOK, d)
}

// stamp formats a time as Uber does.
func stamp(at time.Time) string { return at.UTC().Format("2006-01-02T15:04:05.000Z") }
