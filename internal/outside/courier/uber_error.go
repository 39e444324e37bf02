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
	"purveyor/internal/outside/httpcall"
)

var errNotUber = errors.New("the answer is not one of Uber's; check the URL and proxies")

// uberDuplicate means that Uber has created the delivery before.
type uberDuplicate struct{ of string }

func (d *uberDuplicate) Error() string { return "uber: the delivery was made before, as " + d.of }

// refusedAs reports whether err is a refusal with this code.
func refusedAs(err error, code Code) bool {
	r, ok := errors.AsType[*Refusal](err)
	return ok && r.Code == code
}

// uberError is the body of an error answer.
type uberError struct {
	Code     string          `json:"code"`
	Message  string          `json:"message"`
	Metadata json.RawMessage `json:"metadata"`
}

// details returns the metadata values that are strings.
func (e uberError) details() map[string]string {
	var all map[string]any
	_ = json.Unmarshal(e.Metadata, &all) // the metadata may be absent
	texts := map[string]string{}
	for name, value := range all {
		if text, ok := value.(string); ok {
			texts[name] = text
		}
	}
	return texts
}

// words returns Uber's text, with its remarks on the parameters.
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

// aboutPlace reports whether the wrong parameters are an address or a phone number,
// which the partner or the merchant can correct.
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

// uberRefusals maps the codes that are refusals. An empty message means that Uber's
// own text is passed on.
var uberRefusals = map[string]struct {
	code Code
	says string
}{
	// The address may have been mistaken for another place, so this says nothing
	// about the town.
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

// uberDenials are the codes about our account rather than the delivery.
var uberDenials = []string{"unauthorized", "customer_not_found", "customer_suspended", "customer_blocked", "missing_payment", "not_allowed"}

// uberPassing are codes that say nothing about the request, whatever their status.
var uberPassing = []string{"request_timeout", "internal_server_error", "unknown_error", "service_unavailable", "duplicate_delivery"}

// failure turns an error answer into a *Refusal if Uber definitely refuses the call.
// Otherwise the cause may pass, or the operator can fix it.
func (u *Uber) failure(doing string, a uberAnswer) error {
	var e uberError
	if json.Unmarshal(a.Body, &e) != nil {
		e = uberError{}
	}
	if a.Status == http.StatusTooManyRequests || e.Code == "customer_limited" {
		return &Limited{RetryAfter: httpcall.RetryAfter(a.Header, u.Now())}
	}
	if id := e.details()["delivery_id"]; e.Code == "duplicate_delivery" && id != "" {
		return &uberDuplicate{u.clean(id, a.token)}
	}
	// A 403 without a code comes from a proxy or a firewall in between.
	if slices.Contains(uberDenials, e.Code) || a.Status == http.StatusUnauthorized || a.Status == http.StatusForbidden && e.Code != "" {
		return &commerce.CredentialsError{Message: "uber: " + doing + ": " + u.clean(e.advice(a.Status), a.token)}
	}
	if no, ok := uberRefusals[e.Code]; ok {
		return &Refusal{Code: no.code, Message: cmp.Or(no.says, "Uber Direct: "+u.clean(e.words(), a.token))}
	}
	if a.Status/100 == 4 && a.Status != http.StatusRequestTimeout &&
		e.Code != "" && !slices.Contains(uberPassing, e.Code) {
		refusal := &Refusal{Code: Other, Message: "Uber Direct: " + u.clean(e.words(), a.token)}
		if e.Code == "invalid_params" && e.aboutPlace() {
			refusal.Code = BadAddress
		}
		return refusal
	}
	return fmt.Errorf("uber: %s: %s", doing, u.clean(e.advice(a.Status), a.token))
}

// advice is the text for an error that is not a refusal.
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

// clean makes a provider's text fit for storage and removes the secrets.
func (u *Uber) clean(text string, secrets ...string) string {
	for _, secret := range append(secrets, u.options.ClientSecret) {
		if secret != "" {
			text = strings.ReplaceAll(text, secret, "[secret]")
		}
	}
	return commerce.CleanText(text, commerce.MaxNote)
}
