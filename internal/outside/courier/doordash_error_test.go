package courier

import (
	"errors"
	"net/http"
	"testing"
	"time"

	"purveyor/internal/testkit/fakedoordash"
)

func doordashField(field, wrong string) fakedoordash.Fault {
	return fakedoordash.Fault{Status: 400, Code: "validation_error", Message: "Validation Failed", Fields: map[string]string{field: wrong}}
}

// deniedToUs marks an error about our credentials, which has no code.
const deniedToUs Code = "credentials"

func TestDoorDashErrors(t *testing.T) {
	invalid := func(reason string) fakedoordash.Fault {
		return fakedoordash.Fault{Status: 422, Code: "invalid_delivery_parameters", Message: "Invalid", Reason: reason}
	}
	for _, c := range []struct {
		fault fakedoordash.Fault
		code  Code // empty: the outcome is unknown
		says  string
	}{
		{invalid("distance_too_long"), OutOfZone, "Invalid; distance_too_long"},
		{invalid("pickup_address_not_in_coverage"), OutOfZone, "pickup_address"},
		{invalid("delivery_address_not_in_coverage"), OutOfZone, "delivery_address"},
		{invalid("outside_of_delivery_time"), NoCouriers, "outside_of_delivery_time"},
		{invalid("of_another_kind"), Other, "of_another_kind"},
		{fakedoordash.Fault{Status: 400, Code: "distance_too_long"}, OutOfZone, "distance_too_long"},
		{doordashField("dropoff_address", "Could not resolve to a valid address"), BadAddress, "Validation Failed; dropoff_address: Could not"},
		{doordashField("pickup_address", "Address is missing zip_code field"), BadAddress, "zip_code"},
		{doordashField("dropoff_address", "Allowed distance between addresses exceeded"), OutOfZone, "exceeded"},
		{doordashField("pickup_address", "DoorDash does not serve this area"), OutOfZone, "serve"},
		{doordashField("pickup_address", "Pickup address not serviceable"), OutOfZone, "serviceable"},
		{doordashField("dropoff_address", "Dropoff address not within service area"), OutOfZone, "area"},
		{doordashField("dropoff_phone_number", "Phone number provided does not seem to be a valid one"), BadAddress, "Phone"},
		{doordashField("order_value", "Please enter a subtotal $500.00 or lower"), Other, "subtotal"},
		{fakedoordash.Fault{Status: 400, Code: "validation_error"}, Other, "validation_error"},
		{fakedoordash.Fault{Status: 403, Code: "authorization_error", Message: "Not yours"}, deniedToUs, "this account may not do this: Not yours"},
		{fakedoordash.Fault{Status: 403, Code: "another"}, deniedToUs, "another"},
		{fakedoordash.Fault{Status: 404, Code: "another"}, NotFound, "another"},
		{fakedoordash.Fault{Status: 404, Code: "unknown_delivery_id", Message: "None"}, NotFound, "None"},
		{fakedoordash.Fault{Status: 401, Code: "authentication_error", Message: "never shown"}, deniedToUs, "check the developer id"},
		{fakedoordash.Fault{Status: 401}, deniedToUs, "check the developer id"},
		{fakedoordash.Fault{Status: 408, Code: "timeout"}, "", "408"},
		{fakedoordash.Fault{Status: 500, Code: "service_fault", Message: "oops"}, "", "500: oops"},
		{fakedoordash.Fault{Status: 500, Code: "validation_error"}, "", "500"},
		{fakedoordash.Fault{Status: 502, Body: "<html>"}, "", "502"},
		{fakedoordash.Fault{Status: 504}, "", "504"},
		{fakedoordash.Fault{Status: 403, Body: "<html>blocked"}, "", "check the URL and proxies (it is 403)"},
		{fakedoordash.Fault{Status: 404, Body: `{"message":"no such path"}`}, "", "it is 404"},
		{fakedoordash.Fault{Status: 302, Code: "moved"}, "", "it is 302"},
		{fakedoordash.Fault{Status: 200, Body: "<html>"}, "", "check the URL"},
		{fakedoordash.Fault{Status: 200, Body: `{}`}, "", "check the URL"},
		{fakedoordash.Fault{Status: 200, Body: `{"external_delivery_id":"of another"}`}, "", "check the URL"},
		{fakedoordash.Fault{Status: 200}, "", "check the URL"},
		{fakedoordash.Fault{Down: true}, "", "cannot be reached"},
	} {
		d, server := doordashStandIn(t)
		check := func(err error) {
			t.Helper()
			switch c.code {
			case "":
				wantUnknown(t, err, c.says)
			case deniedToUs:
				wantDenied(t, err, c.says)
			default:
				wantRefusal(t, err, c.code, c.says)
			}
		}
		server.Next(c.fault)
		_, err := d.Quote(t.Context(), doordashRequest().QuoteRequest)
		check(err)
		server.Next(c.fault)
		_, err = d.Create(t.Context(), doordashRequest())
		check(err)
		if server.Made() != 0 {
			t.Errorf("%+v: something was made", c.fault)
		}
	}
}

func TestDoorDashCheck(t *testing.T) {
	d, server := doordashStandIn(t)
	if err := d.Check(t.Context()); err != nil || server.Made() != 0 {
		t.Errorf("%v, %d made", err, server.Made())
	}
	server.Next(fakedoordash.Fault{Status: 500, Code: "service_fault"})
	wantUnknown(t, d.Check(t.Context()), "500")
	server.Next(fakedoordash.Fault{Status: 401, Code: "authentication_error"})
	wantDenied(t, d.Check(t.Context()), "does not accept the key")
}

func TestDoorDashLimits(t *testing.T) {
	for header, want := range map[string]time.Duration{"": 0, "7": 7 * time.Second, "-1": 0, "soon": 0, "99999999999": 24 * time.Hour} {
		d, server := doordashStandIn(t)
		server.Always(fakedoordash.Fault{Status: 429, Body: "slow down", Header: http.Header{"Retry-After": {header}}})
		_, err := d.Quote(t.Context(), doordashRequest().QuoteRequest)
		if limited, ok := errors.AsType[*Limited](err); !ok || limited.RetryAfter != want {
			t.Errorf("%q: %#v", header, err)
		}
		if n := len(server.Requests()); n != 1 {
			t.Errorf("%d requests", n)
		}
	}
}
