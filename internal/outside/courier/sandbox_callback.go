package courier

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"purveyor/internal/commerce"
)

// CallbackPath is the inbound path for callbacks of couriers, as sandbox.Callback
// names it.
const CallbackPath = "couriers"

// callbackJSON is a Callback as the sandbox posts it.
type callbackJSON struct {
	Callback
	Courier *courierJSON `json:"courier,omitempty"` // in place of the Delivery's
}

// courierJSON is a courier in Uber's form, which the sandbox's callbacks have, too.
type courierJSON struct {
	Name     string          `json:"name"`
	Phone    string          `json:"phone_number"`
	Vehicle  string          `json:"vehicle_type"`
	ImageURL string          `json:"img_href"`
	At       *commerce.Point `json:"location,omitempty"`
}

// seen sets the time of the latest change. It always grows, even if the clocks of two
// processes differ.
func (x *delivery) seen(now time.Time) { x.SeenOn = max(x.SeenOn+1, commerce.MillisOf(now)) }

// callback returns the body of a callback with the current state of a delivery. Its
// id is derived from the delivery's id and the name of the change: it is the same
// whichever process sends it, and however often.
func (s *Sandbox) callback(x *delivery, change string) []byte {
	n := callbackJSON{Callback: Callback{ID: "cev_test_" + strings.TrimPrefix(x.ID, deliveryPrefix) + "_" + change, Delivery: s.view(*x)}}
	if c := n.Delivery.Courier; c != (commerce.Courier{}) {
		n.Courier = (*courierJSON)(&c)
	}
	body, err := json.Marshal(n)
	if err != nil {
		panic(err) // strings and numbers always encode
	}
	return body
}

// readCallback translates a body that callback has made. Fields that a newer process
// added are ignored. A status that we do not know is an error: the next attempt may
// reach a process that knows it.
func readCallback(n callbackJSON) (Callback, error) {
	switch {
	case n.Status.Rank() == 0:
		return Callback{}, fmt.Errorf("its status %q is not known", n.Status)
	case n.ID == "" || n.Delivery.ID == "" || n.Ref == "":
		return Callback{}, errors.New("it names no delivery or has no id")
	}
	if n.Courier != nil {
		n.Delivery.Courier = commerce.Courier(*n.Courier)
		if at := n.Courier.At; at != nil && !at.Valid() {
			return Callback{}, errors.New("its courier is nowhere on earth")
		}
	}
	return n.Callback, nil
}
