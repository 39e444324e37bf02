package payment

import (
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"purveyor/internal/outside/sandbox"
)

// CallbackPath is the inbound path for callbacks of payments, as sandbox.Callback
// names it.
const CallbackPath = "payments"

// post adds a callback to the current change. Its id is derived from the session's id
// and a number: it is the same whichever process sends it, and however often.
func (x *session) post(after time.Duration, n Callback) {
	x.Told++
	n.ID = "evt_test_" + strings.TrimPrefix(x.ID, sessionPrefix) + "_" + strconv.Itoa(x.Told)
	n.OrderID = x.Request.OrderID
	if n.RefundID == "" {
		n.SessionID = x.ID
	}
	body, err := json.Marshal(n)
	if err != nil {
		panic(err) // strings and numbers always encode
	}
	callback := sandbox.Callback{To: CallbackPath, After: after, Body: body}
	x.callbacks = append(x.callbacks, callback)
	if asks(x.email(), tagTwice) {
		x.callbacks = append(x.callbacks, callback)
	}
}

// checkCallback checks a callback that post has made. Fields that a newer process added
// are ignored. A kind that we do not know is an error: the next attempt may reach a
// process that knows it.
func checkCallback(n Callback) (Callback, error) {
	switch n.Kind {
	case CallbackPaid, CallbackPending, CallbackDeclined, CallbackExpired, CallbackRefunded, CallbackRefundFailed:
	default:
		return Callback{}, fmt.Errorf("its kind %q is not known", n.Kind)
	}
	if n.ID == "" || n.OrderID == "" {
		return Callback{}, errors.New("it names no order or has no id")
	}
	return n, nil
}
