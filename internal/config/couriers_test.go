package config

import (
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/alecthomas/kong"
)

// The accounts of these tests. Secrets contain "hush".
func uberSet(c *Couriers) {
	c.UberCustomer, c.UberClient, c.UberSecret, c.UberSigningKey = "cus-1", "client-1", "hush-1", []string{"hush-2-0123456789"}
}

func uberTestSet(c *Couriers) {
	c.UberTestCustomer, c.UberTestClient, c.UberTestSecret, c.UberTestSigning = "cus-2", "client-2", "hush-3", []string{"hush-4-0123456789"}
}

func doorDashSet(c *Couriers) {
	c.DoorDashDeveloper, c.DoorDashKey, c.DoorDashSecret, c.DoorDashWebhookPassword = "dev-1", "key-1", "hush-5", "hush-6-0123456789"
}

func TestCheckCouriers(t *testing.T) {
	all := []func(*Couriers){uberSet, uberTestSet, doorDashSet}
	const uber, test, dash = "--uber-customer, --uber-client, --uber-secret and --uber-signing-key need each other",
		"--uber-test-signing-key need each other", "--doordash-webhook-password need each other"
	for _, c := range []struct {
		name  string
		set   []func(*Couriers)
		spoil func(*Couriers)
		says  string
	}{
		{"nothing", nil, func(*Couriers) {}, ""},
		{"all", all, func(*Couriers) {}, ""},
		{"Uber", all[:1], func(*Couriers) {}, ""},
		{"Uber's test mode", all[1:2], func(*Couriers) {}, ""},
		{"DoorDash", all[2:], func(*Couriers) {}, ""},
		{"DoorDash with a user", all[2:], func(c *Couriers) { c.DoorDashWebhookUser = "u" }, ""},
		{"no customer", all, func(c *Couriers) { c.UberCustomer = "" }, uber},
		{"no client", all, func(c *Couriers) { c.UberClient = "" }, uber},
		{"no secret", all, func(c *Couriers) { c.UberSecret = "" }, uber},
		{"no signing key", all, func(c *Couriers) { c.UberSigningKey = nil }, uber},
		{"an empty signing key", all, func(c *Couriers) { c.UberSigningKey = []string{""} }, uber},
		{"an empty signing key beside another", all, func(c *Couriers) { c.UberSigningKey = []string{"hush-2-0123456789", ""} }, uber},
		{"no test customer", all, func(c *Couriers) { c.UberTestCustomer = "" }, test},
		{"no test client", all, func(c *Couriers) { c.UberTestClient = "" }, test},
		{"no test secret", all, func(c *Couriers) { c.UberTestSecret = "" }, test},
		{"no test signing key", all, func(c *Couriers) { c.UberTestSigning = nil }, test},
		{"an empty test signing key beside another", all, func(c *Couriers) { c.UberTestSigning = []string{"", "hush-4-0123456789"} }, test},
		{"no developer", all, func(c *Couriers) { c.DoorDashDeveloper = "" }, dash},
		{"no key", all, func(c *Couriers) { c.DoorDashKey = "" }, dash},
		{"no signing secret", all, func(c *Couriers) { c.DoorDashSecret = "" }, dash},
		{"no password", all, func(c *Couriers) { c.DoorDashWebhookPassword = "" }, dash},
		{"line break", all, func(c *Couriers) { c.UberSecret = "hush-1\n" }, "has a space"},
		{"line break in a signing key", all, func(c *Couriers) { c.UberSigningKey = []string{"hush-2-0123456789\n"} }, "has a space"},
		{"short signing key", all, func(c *Couriers) { c.UberSigningKey = []string{"hush-2-0123456789", "hush-2-01234567"} }, "--uber-signing-key needs 16 characters or more"},
		{"short test signing key", all, func(c *Couriers) { c.UberTestSigning = []string{"hush-4-01234567"} }, "--uber-test-signing-key needs 16"},
		{"short password", all, func(c *Couriers) { c.DoorDashWebhookPassword = "hush-6-01234567" }, "--doordash-webhook-password needs 16"},
		{"shortest signing key and password", all, func(c *Couriers) {
			c.UberSigningKey, c.DoorDashWebhookPassword = []string{"hush-2-012345678"}, "hush-6-012345678"
		}, ""},
		{"space", all, func(c *Couriers) { c.DoorDashKey = " key-1" }, "has a space"},
		{"user with a colon", all, func(c *Couriers) { c.DoorDashWebhookUser = "u:v" }, "no colon"},
		{"user alone", nil, func(c *Couriers) { c.DoorDashWebhookUser = "u" }, "--doordash-webhook-user"},
		{"order", all, func(c *Couriers) { c.Couriers = []string{"doordash", "uber"} }, ""},
		{"one of two", all, func(c *Couriers) { c.Couriers = []string{"doordash"} }, ""},
		{"another name", all, func(c *Couriers) { c.Couriers = []string{"uber", "sandbox"} }, `--couriers "sandbox" is not uber or doordash`},
		{"empty name", all, func(c *Couriers) { c.Couriers = []string{""} }, `--couriers "" is not`},
		{"twice", all, func(c *Couriers) { c.Couriers = []string{"uber", "doordash", "uber"} }, "names uber twice"},
		{"not set up", all[2:], func(c *Couriers) { c.Couriers = []string{"doordash", "uber"} }, "uber, which is not configured"},
		{"DoorDash is not set up", all[:2], func(c *Couriers) { c.Couriers = []string{"doordash"} }, "doordash, which is not configured"},
		{"nothing set up", nil, func(c *Couriers) { c.Couriers = []string{"uber"} }, "not configured"},
		{"test credentials alone", all[1:2], func(c *Couriers) { c.Couriers = []string{"uber"} }, "not configured"},
		{"both at once", all, func(c *Couriers) { c.UberClient, c.DoorDashKey = "", "" }, dash},
		{"step", nil, func(c *Couriers) { c.SandboxStep = 0 }, "--sandbox-step"},
		{"negative step", nil, func(c *Couriers) { c.SandboxStep = -time.Second }, "--sandbox-step"},
		{"long step", nil, func(c *Couriers) { c.SandboxStep = 2 * time.Hour }, "--sandbox-step"},
		{"census", nil, func(c *Couriers) { c.Geocoder = "census" }, ""},
		{"nominatim", nil, func(c *Couriers) { c.Geocoder, c.NominatimURL = "nominatim", "https://places.example" }, ""},
		{"nominatim without an address", nil, func(c *Couriers) { c.Geocoder = "nominatim" }, "--geocoder nominatim needs --nominatim-url"},
		{"nominatim's address alone", nil, func(c *Couriers) { c.NominatimURL = "https://places.example" }, "--nominatim-url needs --geocoder nominatim"},
		{"nominatim's address for another", nil, func(c *Couriers) { c.Geocoder, c.NominatimURL = "census", "https://places.example" }, "needs --geocoder nominatim"},
		{"wrong address", nil, func(c *Couriers) { c.Geocoder, c.NominatimURL = "nominatim", "places.example" }, "--nominatim-url"},
		{"stand-in of Uber", all, func(c *Couriers) { c.UberURL = "localhost:1" }, "--uber-url"},
		{"stand-in of Uber's tokens", all, func(c *Couriers) { c.UberAuthURL = "localhost:1" }, "--uber-auth-url"},
		{"stand-in of DoorDash", all, func(c *Couriers) { c.DoorDashURL = "localhost:1" }, "--doordash-url"},
		{"stand-in of the Census", all, func(c *Couriers) { c.CensusURL = "localhost:1" }, "--census-url"},
	} {
		couriers := Couriers{SandboxStep: 5 * time.Second, Geocoder: "none"}
		for _, set := range c.set {
			set(&couriers)
		}
		c.spoil(&couriers)
		err := couriers.CheckCouriers()
		says(t, c.name, err, c.says)
		if err != nil && strings.Contains(err.Error(), "hush") {
			t.Errorf("%s: %v has what is secret", c.name, err)
		}
	}
}

func TestCouriersInOrder(t *testing.T) {
	var all, dash Couriers
	for _, set := range []func(*Couriers){uberSet, uberTestSet, doorDashSet} {
		set(&all)
	}
	doorDashSet(&dash)
	other := all
	other.Couriers = []string{"doordash", "uber"}
	for want, c := range map[string]Couriers{"": {}, "uber doordash": all, "doordash": dash, "doordash uber": other} {
		if got := strings.Join(c.InOrder(), " "); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

func TestCouriersLogNoSecret(t *testing.T) {
	var all Couriers
	for _, set := range []func(*Couriers){uberSet, uberTestSet, doorDashSet} {
		set(&all)
	}
	all.Geocoder = "census"
	for want, c := range map[string]Couriers{
		"config.live=[] config.test=none config.geocoder=none\n":                    {},
		"config.live=\"[uber doordash]\" config.test=uber config.geocoder=census\n": all,
	} {
		if logged := logOf(c); !strings.HasSuffix(logged, want) || strings.Contains(logged, "hush") {
			t.Errorf("%s, want %s", logged, want)
		}
	}
}

// Flags and environment variables are named as in the manual.
func TestCouriersFlags(t *testing.T) {
	for name, value := range map[string]string{
		"COURIERS": "doordash,uber", "UBER_CUSTOMER": "cus-1", "UBER_CLIENT": "client-1", "UBER_SECRET": "hush-1", "UBER_SIGNING_KEY": "hush-2-0123456789,hush-7-0123456789",
		"UBER_TEST_CUSTOMER": "cus-2", "UBER_TEST_CLIENT": "client-2", "UBER_TEST_SECRET": "hush-3", "UBER_TEST_SIGNING_KEY": "hush-4-0123456789",
		"DOORDASH_DEVELOPER": "dev-1", "DOORDASH_KEY": "key-1", "DOORDASH_SECRET": "hush-5", "DOORDASH_WEBHOOK_USER": "user", "DOORDASH_WEBHOOK_PASSWORD": "hush-6-0123456789",
		"SANDBOX_STEP": "250ms", "GEOCODER": "nominatim", "NOMINATIM_URL": "https://places.example",
		"UBER_URL": "http://127.0.0.1:1", "UBER_AUTH_URL": "http://127.0.0.1:2", "DOORDASH_URL": "http://127.0.0.1:3", "CENSUS_URL": "http://127.0.0.1:4",
	} {
		t.Setenv("PURVEYOR_"+name, value)
	}
	fromEnvironment := parseCouriers(t)
	want := Couriers{Couriers: []string{"doordash", "uber"}, SandboxStep: 250 * time.Millisecond, Geocoder: "nominatim", NominatimURL: "https://places.example",
		UberURL: "http://127.0.0.1:1", UberAuthURL: "http://127.0.0.1:2", DoorDashURL: "http://127.0.0.1:3", CensusURL: "http://127.0.0.1:4"}
	for _, set := range []func(*Couriers){uberSet, uberTestSet, doorDashSet} {
		set(&want)
	}
	want.UberSigningKey, want.DoorDashWebhookUser = []string{"hush-2-0123456789", "hush-7-0123456789"}, "user"
	if !reflect.DeepEqual(fromEnvironment, want) || fromEnvironment.CheckCouriers() != nil {
		t.Errorf("%+v, want %+v; %v", fromEnvironment, want, fromEnvironment.CheckCouriers())
	}
	flagsWin := parseCouriers(t, "--couriers=uber,doordash", "--uber-customer=a", "--uber-client=b", "--uber-secret=c", "--uber-signing-key=d-0123456789abcdef,e-0123456789abcdef",
		"--uber-test-customer=f", "--uber-test-client=g", "--uber-test-secret=h", "--uber-test-signing-key=i-0123456789abcdef", "--doordash-developer=j", "--doordash-key=k",
		"--doordash-secret=l", "--doordash-webhook-user=m", "--doordash-webhook-password=n-0123456789abcdef", "--sandbox-step=1s", "--geocoder=census", "--nominatim-url=",
		"--uber-url=http://o", "--uber-auth-url=http://p", "--doordash-url=http://q", "--census-url=http://r")
	want = Couriers{[]string{"uber", "doordash"}, "a", "b", "c", []string{"d-0123456789abcdef", "e-0123456789abcdef"}, "f", "g", "h", []string{"i-0123456789abcdef"}, "j", "k", "l", "m", "n-0123456789abcdef", time.Second,
		"census", "", "http://o", "http://p", "http://q", "http://r"}
	if !reflect.DeepEqual(flagsWin, want) || flagsWin.CheckCouriers() != nil {
		t.Errorf("%+v, want %+v; %v", flagsWin, want, flagsWin.CheckCouriers())
	}
}

func parseCouriers(t *testing.T, args ...string) (c Couriers) {
	t.Helper()
	parser, err := kong.New(&c)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := parser.Parse(args); err != nil {
		t.Fatal(err)
	}
	return c
}
