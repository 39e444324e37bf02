package courier

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"

	"purveyor/internal/commerce"
)

var errNotUber = errors.New("the answer is not one of Uber's; check the URL and proxies")

// uberDuplicate says that Uber has made the delivery before.
type uberDuplicate struct{ of string }

func (d *uberDuplicate) Error() string { return "uber: the delivery was made before, as " + d.of }

// refusedAs tells whether an error is a refusal for this reason.
func refusedAs(err error, code Code) bool {
	r, ok := errors.AsType[*Refusal](err)
	return ok && r.Code == code
}

// uberError is the body of an error.
type uberError struct {
	Code     string          `json:"code"`
	Message  string          `json:"message"`
	Metadata json.RawMessage `json:"metadata"`
}

// details are the texts among the metadata.
func (e uberError) details() map[string]string {
	var all map[string]any
	_ = json.Unmarshal(e.Metadata, &all) // there need not be any
	texts := map[string]string{}
	for name, value := range all {
		if text, ok := value.(string); ok {
			texts[name] = text
		}
	}
	return texts
}

// words are what Uber says, with what it says of the parameters.
func (e uberError) words() string {
	details := e.details()
	var all []string
	for _, name := range slices.Sorted(maps.Keys(details)) {
		if name == "param_details" {
			all = append(all, details[name])
		} else {
			all = append(all, name+": "+details[name])
		}
	}
	return cmp.Or(strings.Join(all, "; "), e.Message, e.Code)
}

// aboutPlace tells whether wrong parameters are those of an address or a phone
// number, which somebody else than the operator can put right.
func (e uberError) aboutPlace() bool {
	for name, text := range e.details() {
		said := strings.ToLower(name + " " + text)
		for _, word := range []string{"address", "phone", "location", "geocod", "long/lat", "latitude", "longitude"} {
			if strings.Contains(said, word) {
				return true
			}
		}
	}
	return false
}

// uberRefusals are the codes that say no, and what for. What Uber says is
// passed on where it needs no other words.
var uberRefusals = map[string]struct {
	code Code
	says string
}{
	// The address may have been taken for another place: that says nothing of the
	// town.
	"address_undeliverable": {OutOfZone, "Uber Direct does not deliver to the place that it takes one of the addresses for; " +
		"check both, with the house number and the ZIP code"},
	"address_undeliverable_limited_couriers": {NoCouriers, "Uber Direct has no free courier there now"},
	"couriers_busy":                          {NoCouriers, "all couriers of Uber Direct are busy now"},
	"robo_couriers_busy":                     {NoCouriers, "all simulated couriers of Uber Direct are busy now"},
	"unknown_location":                       {BadAddress, "Uber Direct does not find one of the addresses"},
	"expired_quote":                          {QuoteExpired, ""},
	"used_quote":                             {QuoteExpired, ""},
	"mismatched_price_quote":                 {QuoteExpired, ""},
	"noncancelable_delivery":                 {TooLate, "Uber Direct cannot cancel the delivery any more"},
	"delivery_not_found":                     {NotFound, ""},
}

// uberDenials are the codes about our account and not about the delivery.
var uberDenials = []string{"unauthorized", "customer_not_found", "customer_suspended", "customer_blocked", "missing_payment", "not_allowed"}

// uberPassing are codes that say nothing of the request, whatever the status.
var uberPassing = []string{"request_timeout", "internal_server_error", "unknown_error", "service_unavailable", "duplicate_delivery"}

// failure tells what Uber definitely refuses from what passes, or what the
// operator can mend.
func (u *Uber) failure(doing string, a uberAnswer) error {
	var e uberError
	if json.Unmarshal(a.body, &e) != nil {
		e = uberError{}
	}
	if a.status == http.StatusTooManyRequests || e.Code == "customer_limited" {
		return &Limited{RetryAfter: waitFor(a.header, u.Now())}
	}
	if id := e.details()["delivery_id"]; e.Code == "duplicate_delivery" && id != "" {
		return &uberDuplicate{u.clean(id, a.token)}
	}
	// A 403 without a code is from a proxy or firewall in between.
	if slices.Contains(uberDenials, e.Code) || a.status == http.StatusUnauthorized || a.status == http.StatusForbidden && e.Code != "" {
		return &commerce.CredentialsError{Message: "uber: " + doing + ": " + u.clean(e.advice(a.status), a.token)}
	}
	if no, ok := uberRefusals[e.Code]; ok {
		return &Refusal{Code: no.code, Message: cmp.Or(no.says, "Uber Direct: "+u.clean(e.words(), a.token))}
	}
	if a.status/100 == 4 && a.status != http.StatusRequestTimeout &&
		e.Code != "" && !slices.Contains(uberPassing, e.Code) {
		refusal := &Refusal{Code: Other, Message: "Uber Direct: " + u.clean(e.words(), a.token)}
		if e.Code == "invalid_params" && e.aboutPlace() {
			refusal.Code = BadAddress
		}
		return refusal
	}
	return fmt.Errorf("uber: %s: %s", doing, u.clean(e.advice(a.status), a.token))
}

// advice is for what is no refusal.
func (e uberError) advice(status int) string {
	said := strings.TrimSuffix(": "+e.words(), ": ")
	switch {
	case status == http.StatusUnauthorized:
		return "Uber does not accept the token; check the client id and secret, and whether the customer id is of the same account" + said
	case slices.Contains(uberDenials, e.Code):
		return "Uber does not let this account do this; look at the account in the Direct dashboard, and at the customer id" + said
	case e.Code == "":
		return fmt.Sprintf("Uber answered %d, with nothing that it documents; check the URL and proxies", status)
	}
	return fmt.Sprintf("Uber answered %d%s", status, said)
}

// clean makes foreign text fit to be stored, without what is secret.
func (u *Uber) clean(text string, secrets ...string) string {
	for _, secret := range append(secrets, u.options.ClientSecret) {
		if secret != "" {
			text = strings.ReplaceAll(text, secret, "[secret]")
		}
	}
	return commerce.CleanText(text, commerce.MaxNote)
}
