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

// doordashCallback is what DoorDash posts: an event, and the delivery if the event
// has one.
type doordashCallback struct {
	doordashDelivery
	EventName string `json:"event_name"`
	EventType string `json:"event_type"` // some of DoorDash's documents use this name
	CreatedAt string `json:"created_at"`
	Reason    string `json:"reason"`
}

// ReadCallback reads an event. Events are not signed: DoorDash authenticates itself
// with the credentials that the operator has set for this endpoint in the portal. An
// event that we do not know still counts if it carries a status that we know.
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
	// A late event may carry a newer status.
	if state := doordashStates[event]; state.status.Rank() >= delivery.Status.Rank() {
		delivery.Status, delivery.Imminent = state.status, state.near
	}
	if delivery.Status == "" || event == "delivery_batched" {
		return nil, nil
	}
	delivery.SeenOn = doordashTime(n.CreatedAt)
	delivery.Reason = cmp.Or(delivery.Reason, commerce.CleanText(n.Reason, commerce.MaxNote))
	// Events have no id, but a repeated event has the same bytes.
	digest := sha256.Sum256(body)
	return []Callback{{ID: hex.EncodeToString(digest[:]), Delivery: delivery}}, nil
}

// CallbackForm implements Provider.
func (*DoorDash) CallbackForm() (headers []string, maxBytes int) {
	return []string{"Authorization"}, maxDoorDashCallback
}

// trusts compares the credentials in constant time. Operators choose in the portal
// whether they are preceded by Basic, Bearer or nothing.
func (d *DoorDash) trusts(authorization string) bool {
	credentials := authorization
	if _, after, ok := strings.Cut(authorization, " "); ok {
		credentials = after
	}
	digest := sha256.Sum256([]byte(credentials))
	return d.webhook != nil && subtle.ConstantTimeCompare(digest[:], d.webhook[:]) == 1
}
