package payment

import (
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"purveyor/internal/commerce"
	"purveyor/internal/outside/sandbox"
)

// CallbackPath is the inbound path that takes callbacks of payments, as
// sandbox.Callback names it.
const CallbackPath = "payments"

// maxCallbackBytes is far above what a sandbox says.
const maxCallbackBytes = 64 << 10

// callbackJSON is a Callback as the sandbox posts it.
type callbackJSON struct {
	ID          string         `json:"id"`
	Kind        CallbackKind   `json:"kind"`
	OrderID     string         `json:"order_id"`
	SessionID   string         `json:"session_id,omitempty"`
	PaymentID   string         `json:"payment_id,omitempty"`
	AmountCents commerce.Cents `json:"amount_cents"`
	RefundID    string         `json:"refund_id,omitempty"`
	OurRefundID string         `json:"our_refund_id,omitempty"`
	Message     string         `json:"message,omitempty"`
}

// tell adds a callback to the change that is being made. Its id is made of the
// session's and a number, so that it is the same whoever sends it how often.
func (x *session) tell(after time.Duration, n Callback) {
	x.Told++
	n.ID = "evt_test_" + strings.TrimPrefix(x.ID, sessionPrefix) + "_" + strconv.Itoa(x.Told)
	n.OrderID = x.Request.OrderID
	if n.RefundID == "" {
		n.SessionID = x.ID
	}
	body, err := json.Marshal(callbackJSON(n))
	if err != nil {
		panic(err) // texts and numbers always encode
	}
	callback := sandbox.Callback{To: CallbackPath, After: after, Body: body}
	x.callbacks = append(x.callbacks, callback)
	if asks(x.email(), tagTwice) {
		x.callbacks = append(x.callbacks, callback)
	}
}

// decodeCallback reads what tell has made. Fields that a newer process has added
// are passed over; a kind that is not known may be by the process that gets
// the next try.
func decodeCallback(body []byte) (Callback, error) {
	var n callbackJSON
	if err := json.Unmarshal(body, &n); err != nil {
		return Callback{}, fmt.Errorf("it is no JSON as the sandbox writes it: %w", err)
	}
	switch n.Kind {
	case CallbackPaid, CallbackPending, CallbackDeclined, CallbackExpired, CallbackRefunded, CallbackRefundFailed:
	default:
		return Callback{}, fmt.Errorf("its kind %q is not known", n.Kind)
	}
	if n.ID == "" || n.OrderID == "" {
		return Callback{}, errors.New("it names no order or has no id")
	}
	return Callback(n), nil
}
