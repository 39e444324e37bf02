package courier

import (
	"cmp"
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"encoding/json"
	"net/http"
	"strings"

	"purveyor/internal/commerce"
)

const maxDoorDashCallback = 256 << 10 // bytes

// doordashCallback is what DoorDash posts: an event, and the delivery as far as
// there is something to tell.
type doordashCallback struct {
	doordashDelivery
	EventName string `json:"event_name"`
	EventType string `json:"event_type"` // another name for it, in some descriptions
	CreatedAt string `json:"created_at"`
	Reason    string `json:"reason"`
}

// ReadCallback reads an event. Nothing is signed: DoorDash proves who it is with
// the credentials that the endpoint has in its portal. An event that is new to us
// still counts if it comes with a status that we know.
func (d *DoorDash) ReadCallback(_ context.Context, header http.Header, body []byte) ([]Callback, error) {
	if !d.trusts(header.Get("Authorization")) {
		return nil, &BadCallback{Reason: "its credentials are not those of the DoorDash endpoint"}
	}
	var n doordashCallback
	if err := json.Unmarshal(body, &n); err != nil {
		return nil, &BadCallback{Reason: commerce.CleanText(err.Error(), commerce.MaxNote)}
	}
	event := strings.ToLower(cmp.Or(n.EventName, n.EventType))
	if n.ExternalDeliveryID == "" || event == "" {
		return nil, &BadCallback{Reason: "it is not a DoorDash Drive event"}
	}
	delivery := n.delivery()
	// The status may be ahead of the event, if that is late.
	if state := doordashStates[event]; state.status.Rank() >= delivery.Status.Rank() {
		delivery.Status, delivery.Imminent = state.status, state.near
	}
	if delivery.Status == "" || event == "delivery_batched" {
		return nil, nil
	}
	delivery.SeenOn = doordashTime(n.CreatedAt)
	delivery.Reason = cmp.Or(delivery.Reason, commerce.CleanText(n.Reason, commerce.MaxNote))
	// Events have no id, but one that is sent again is the same to the byte.
	digest := sha256.Sum256(body)
	return []Callback{{ID: hex.EncodeToString(digest[:]), Delivery: delivery}}, nil
}

// CallbackForm implements Provider.
func (*DoorDash) CallbackForm() (headers []string, maxBytes int) {
	return []string{"Authorization"}, maxDoorDashCallback
}

// trusts compares credentials, in a time that tells nothing of ours. The portal
// lets operators choose what stands before them: Basic, Bearer, or nothing.
func (d *DoorDash) trusts(authorization string) bool {
	credentials := authorization
	if _, after, ok := strings.Cut(authorization, " "); ok {
		credentials = after
	}
	digest := sha256.Sum256([]byte(credentials))
	return d.webhook != nil && subtle.ConstantTimeCompare(digest[:], d.webhook[:]) == 1
}
