package courier

import (
	"cmp"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"net/http"

	"purveyor/internal/commerce"
)

const maxUberCallback = 256 << 10 // bytes

// uberSignatures are the headers that may carry the signature: the current one, and
// its predecessor.
var uberSignatures = []string{"X-Uber-Signature", "X-Postmates-Signature"}

// uberEvent is what Uber posts. Any field may be absent.
type uberEvent struct {
	ID         string          `json:"id"`
	Kind       string          `json:"kind"`
	Created    uberTime        `json:"created"`
	Status     string          `json:"status"`
	DeliveryID string          `json:"delivery_id"`
	LiveMode   *bool           `json:"live_mode"`
	Location   *commerce.Point `json:"location"` // of the courier
	Data       uberDelivery    `json:"data"`
}

// ReadCallback reads an event: a new status, or the courier's position, which comes
// every 20 seconds. The signature does not cover the time of posting, so a repeated
// event is recognised by its id alone.
func (u *Uber) ReadCallback(ctx context.Context, header http.Header, body []byte) ([]Callback, error) {
	if !u.signed(header, body) {
		return nil, &BadCallback{Reason: "it is not signed with a signing key of ours"}
	}
	var e uberEvent
	if err := json.Unmarshal(body, &e); err != nil {
		return nil, &BadCallback{Reason: u.clean(err.Error())}
	}
	switch e.Kind {
	case "":
		return nil, &BadCallback{Reason: "it is no event of Uber Direct"}
	case "event.delivery_status":
		e.Data.Status = cmp.Or(e.Status, e.Data.Status)
	case "event.courier_update":
	default:
		return nil, nil
	}
	n := e.callback(body)
	if n.Delivery.ID == "" {
		return nil, &BadCallback{Reason: "it does not tell which delivery it is about"}
	}
	if err := u.checkMode(ctx, cmp.Or(e.LiveMode, e.Data.LiveMode), "delivery", n.Delivery.ID); err != nil {
		return nil, &BadCallback{Reason: err.Error()}
	}
	return []Callback{n}, nil
}

// CallbackForm implements Provider.
func (*Uber) CallbackForm() (headers []string, maxBytes int) {
	return uberSignatures, maxUberCallback
}

// signed reports whether one of our keys has signed the body.
func (u *Uber) signed(header http.Header, body []byte) bool {
	for _, key := range u.options.SigningKeys {
		if key == "" { // anyone could sign with an empty key
			continue
		}
		mac := hmac.New(sha256.New, []byte(key))
		mac.Write(body)
		want := mac.Sum(nil)
		for _, name := range uberSignatures {
			for _, text := range header.Values(name) {
				if given, err := hex.DecodeString(text); err == nil && hmac.Equal(given, want) {
					return true
				}
			}
		}
	}
	return false
}

// callback translates an event.
func (e uberEvent) callback(body []byte) Callback {
	d := e.Data.delivery(Key{ID: e.DeliveryID})
	if at := uberPlace(e.Location); at != nil {
		d.Courier.At = at
	}
	if original := e.Data.original(); original != "" {
		d = wayBack(original, e.Data, d)
	}
	d.SeenOn = commerce.Millis(e.Created)
	digest := sha256.Sum256(body)
	return Callback{ID: cmp.Or(e.ID, "uber_"+hex.EncodeToString(digest[:16])), Delivery: d}
}

// wayBack returns the state of a delivery whose goods are brought back by another
// one. Price and tracking page of the way back are not the customer's.
func wayBack(original string, back uberDelivery, d Delivery) Delivery {
	status := commerce.CourierReturning
	if back.Status == "delivered" {
		status = commerce.CourierReturned
	}
	return Delivery{ID: original, Ref: back.ExternalID, Status: status, Courier: d.Courier, Reason: d.Reason}
}
