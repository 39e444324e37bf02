package config

import (
	"cmp"
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"slices"
	"strings"
	"time"
)

// Couriers configures courier providers and geocoders. Without a provider, live
// orders wait for a courier, and test orders use the sandbox's.
type Couriers struct {
	Couriers []string `help:"Courier providers of live orders, in the order in which they are asked: uber, doordash. Default: all that are configured." env:"PURVEYOR_COURIERS" placeholder:"NAME"`

	UberCustomer     string   `help:"Customer id at Uber Direct." env:"PURVEYOR_UBER_CUSTOMER" placeholder:"ID"`
	UberClient       string   `help:"Client id at Uber Direct." env:"PURVEYOR_UBER_CLIENT" placeholder:"ID"`
	UberSecret       string   `help:"Client secret at Uber Direct." env:"PURVEYOR_UBER_SECRET" secret:"" placeholder:"S"`
	UberSigningKey   []string `help:"Signing keys of the webhooks at Uber Direct: each has its own." env:"PURVEYOR_UBER_SIGNING_KEY" secret:"" placeholder:"KEY"`
	UberTestCustomer string   `help:"Customer id of test credentials: Uber's simulated courier then delivers test orders, not the sandbox's." env:"PURVEYOR_UBER_TEST_CUSTOMER" placeholder:"ID"`
	UberTestClient   string   `help:"Client id of test credentials." env:"PURVEYOR_UBER_TEST_CLIENT" placeholder:"ID"`
	UberTestSecret   string   `help:"Client secret of test credentials." env:"PURVEYOR_UBER_TEST_SECRET" secret:"" placeholder:"S"`
	UberTestSigning  []string `help:"Signing keys of the webhooks of test credentials." env:"PURVEYOR_UBER_TEST_SIGNING_KEY" secret:"" name:"uber-test-signing-key" placeholder:"KEY"`

	DoorDashDeveloper       string `help:"Developer id at DoorDash Drive." env:"PURVEYOR_DOORDASH_DEVELOPER" name:"doordash-developer" placeholder:"ID"`
	DoorDashKey             string `help:"Key id at DoorDash Drive." env:"PURVEYOR_DOORDASH_KEY" name:"doordash-key" placeholder:"ID"`
	DoorDashSecret          string `help:"Signing secret at DoorDash Drive." env:"PURVEYOR_DOORDASH_SECRET" secret:"" name:"doordash-secret" placeholder:"S"`
	DoorDashWebhookUser     string `help:"User that DoorDash's callbacks carry." env:"PURVEYOR_DOORDASH_WEBHOOK_USER" name:"doordash-webhook-user" placeholder:"USER"`
	DoorDashWebhookPassword string `help:"Password that DoorDash's callbacks carry." env:"PURVEYOR_DOORDASH_WEBHOOK_PASSWORD" secret:"" name:"doordash-webhook-password" placeholder:"P"`

	SandboxStep time.Duration `help:"Time between two steps of a courier of the sandbox." default:"5s" env:"PURVEYOR_SANDBOX_STEP"`

	Geocoder     string `help:"Geocoder for streets: census, nominatim, or none; ZIP codes and cities need none." enum:"none,census,nominatim" default:"none" env:"PURVEYOR_GEOCODER"`
	NominatimURL string `help:"Your Nominatim server." env:"PURVEYOR_NOMINATIM_URL" placeholder:"URL"`

	// These are for fake servers in tests.
	UberURL     string `help:"Where Uber's API is. Default: at Uber; tests name a stand-in." env:"PURVEYOR_UBER_URL" placeholder:"URL"`
	UberAuthURL string `help:"Where Uber gives tokens. Default: at Uber; tests name a stand-in." env:"PURVEYOR_UBER_AUTH_URL" placeholder:"URL"`
	DoorDashURL string `help:"Where DoorDash's API is. Default: at DoorDash; tests name a stand-in." env:"PURVEYOR_DOORDASH_URL" name:"doordash-url" placeholder:"URL"`
	CensusURL   string `help:"Where the Census geocoder is. Default: at the Census; tests name a stand-in." env:"PURVEYOR_CENSUS_URL" placeholder:"URL"`
}

// Names of courier providers, and of geocoders that know streets.
const (
	Uber     = "uber"
	DoorDash = "doordash"

	Census    = "census"
	Nominatim = "nominatim"
)

// Uber reports whether live orders may use Uber Direct. UberTest does so for test
// orders, and DoorDash for DoorDash Drive.
func (c Couriers) Uber() bool     { return c.UberCustomer != "" }
func (c Couriers) UberTest() bool { return c.UberTestCustomer != "" }
func (c Couriers) DoorDash() bool { return c.DoorDashDeveloper != "" }

// InOrder returns the names of the providers of live orders, in the order in which
// they are asked.
func (c Couriers) InOrder() []string {
	if len(c.Couriers) > 0 {
		return c.Couriers
	}
	var names []string
	if c.Uber() {
		names = append(names, Uber)
	}
	if c.DoorDash() {
		names = append(names, DoorDash)
	}
	return names
}

// CheckCouriers refuses incomplete accounts: with half an account the service would
// create deliveries and never hear of them again.
func (c Couriers) CheckCouriers() error {
	return errors.Join(
		checkAccount([]string{"--uber-customer", "--uber-client", "--uber-secret"}, []string{c.UberCustomer, c.UberClient, c.UberSecret},
			"--uber-signing-key", c.UberSigningKey),
		checkAccount([]string{"--uber-test-customer", "--uber-test-client", "--uber-test-secret"}, []string{c.UberTestCustomer, c.UberTestClient, c.UberTestSecret},
			"--uber-test-signing-key", c.UberTestSigning),
		checkAccount([]string{"--doordash-developer", "--doordash-key", "--doordash-secret"}, []string{c.DoorDashDeveloper, c.DoorDashKey, c.DoorDashSecret},
			"--doordash-webhook-password", given(c.DoorDashWebhookPassword)),
		c.checkDoorDashUser(), c.checkNames(), c.checkGeocoder(), c.checkStep(), c.checkStandIns())
}

// checkDoorDashUser refuses a user without a password, and one with a colon, which
// would end the user name (RFC 7617).
func (c Couriers) checkDoorDashUser() error {
	switch {
	case c.DoorDashWebhookUser != "" && c.DoorDashWebhookPassword == "":
		return errors.New("--doordash-webhook-user needs --doordash-webhook-password")
	case strings.Contains(c.DoorDashWebhookUser, ":"):
		return errors.New("--doordash-webhook-user must have no colon")
	}
	return nil
}

// checkStandIns checks the addresses of fake servers.
func (c Couriers) checkStandIns() error {
	for flag, address := range map[string]string{"--uber-url": c.UberURL, "--uber-auth-url": c.UberAuthURL, "--doordash-url": c.DoorDashURL, "--census-url": c.CensusURL} {
		if address == "" {
			continue
		}
		if err := HTTPURL(flag, address); err != nil {
			return err
		}
	}
	return nil
}

func (c Couriers) checkNames() error {
	for i, name := range c.Couriers {
		switch {
		case name != Uber && name != DoorDash:
			return fmt.Errorf("--couriers %q is not uber or doordash", name)
		case slices.Contains(c.Couriers[:i], name):
			return fmt.Errorf("--couriers names %s twice", name)
		case name == Uber && !c.Uber(), name == DoorDash && !c.DoorDash():
			return fmt.Errorf("--couriers names %s, which is not configured", name)
		}
	}
	return nil
}

func (c Couriers) checkGeocoder() error {
	switch {
	case c.Geocoder == Nominatim && c.NominatimURL == "":
		return errors.New("--geocoder nominatim needs --nominatim-url")
	case c.NominatimURL != "" && c.Geocoder != Nominatim:
		return errors.New("--nominatim-url needs --geocoder nominatim")
	case c.NominatimURL != "":
		return HTTPURL("--nominatim-url", c.NominatimURL)
	}
	return nil
}

func (c Couriers) checkStep() error {
	if c.SandboxStep < time.Millisecond || c.SandboxStep > time.Hour {
		return fmt.Errorf("--sandbox-step %s must be from 1ms to 1h", c.SandboxStep)
	}
	return nil
}

// given returns a list with the value, or an empty list without one.
func given(value string) []string {
	if value == "" {
		return nil
	}
	return []string{value}
}

// checkAccount refuses incomplete accounts, values that the provider cannot have
// shown, and proofs that are too short. Proofs are the secrets that authenticate the
// provider's callbacks. Errors never repeat a value, because errors are logged.
func checkAccount(flags, values []string, proofFlag string, proofs []string) error {
	all := slices.Concat(values, proofs)
	switch {
	case len(proofs) == 0 && strings.Join(values, "") == "":
		return nil
	case slices.Contains(all, "") || len(proofs) == 0:
		return fmt.Errorf("%s and %s need each other", strings.Join(flags, ", "), proofFlag)
	case slices.ContainsFunc(all, func(s string) bool { return !plain(s) }):
		return fmt.Errorf("one of %s and %s has a space or another character that none has", strings.Join(flags, ", "), proofFlag)
	case slices.ContainsFunc(proofs, func(s string) bool { return len(s) < minSecret }):
		return fmt.Errorf("%s needs %d characters or more: a shorter one could be guessed, and callbacks forged", proofFlag, minSecret)
	}
	return nil
}

// LogValue shows in logs what is configured, without secrets.
func (c Couriers) LogValue() slog.Value { return c.Shown("none") }

// Shown is LogValue, where test names what serves test orders without Uber.
func (c Couriers) Shown(test string) slog.Value {
	if c.UberTest() {
		test = Uber
	}
	return slog.GroupValue(slog.Any("live", c.InOrder()), slog.String("test", test), slog.String("geocoder", cmp.Or(c.Geocoder, "none")))
}

// Payments configures the payment processors. Without Stripe's live keys, live orders
// cannot be paid by card; without its test keys, test orders are paid in the sandbox.
type Payments struct {
	StripeKey           string   `help:"Stripe's secret or restricted live key. Without one, live checkout is refused." env:"PURVEYOR_STRIPE_KEY" secret:"" placeholder:"KEY"`
	StripeWebhookSecret []string `help:"Signing secret of the webhook endpoint at Stripe; several, separated by commas, while one is replaced." env:"PURVEYOR_STRIPE_WEBHOOK_SECRET" secret:"" placeholder:"SECRET"`

	StripeTestKey           string   `help:"Stripe's test key: test orders are then paid at Stripe, not in the sandbox." env:"PURVEYOR_STRIPE_TEST_KEY" secret:"" placeholder:"KEY"`
	StripeTestWebhookSecret []string `help:"Signing secret of the webhook endpoint in Stripe's test mode." env:"PURVEYOR_STRIPE_TEST_WEBHOOK_SECRET" secret:"" placeholder:"SECRET"`

	// StripeURL is for fake servers in tests.
	StripeURL string `help:"Where Stripe's API is. Default: at Stripe; tests name a stand-in." env:"PURVEYOR_STRIPE_URL" placeholder:"URL"`
}

// LiveStripe reports whether live orders are paid at Stripe.
func (p Payments) LiveStripe() bool { return p.StripeKey != "" }

// TestStripe reports whether test orders are paid at Stripe.
func (p Payments) TestStripe() bool { return p.StripeTestKey != "" }

// CheckPayments refuses incomplete settings and keys of the wrong mode: with half an
// account customers would pay and the service would never hear of it.
func (p Payments) CheckPayments() error {
	if p.StripeURL != "" {
		if err := HTTPURL("--stripe-url", p.StripeURL); err != nil {
			return err
		}
		if !p.LiveStripe() && !p.TestStripe() {
			return errors.New("--stripe-url needs --stripe-key or --stripe-test-key")
		}
	}
	return errors.Join(
		checkStripe("--stripe-key", p.StripeKey, "live", "--stripe-webhook-secret", p.StripeWebhookSecret),
		checkStripe("--stripe-test-key", p.StripeTestKey, "test", "--stripe-test-webhook-secret", p.StripeTestWebhookSecret))
}

// checkStripe never repeats a value in its errors, because they are logged.
func checkStripe(keyFlag, key, mode, secretFlag string, secrets []string) error {
	switch {
	case key == "" && len(secrets) == 0:
		return nil
	case key == "" || len(secrets) == 0:
		return fmt.Errorf("%s and %s need each other", keyFlag, secretFlag)
	case !strings.HasPrefix(key, "sk_"+mode+"_") && !strings.HasPrefix(key, "rk_"+mode+"_"):
		return fmt.Errorf("%s must be a secret or restricted key of Stripe's %s mode: it begins with sk_%s_ or rk_%s_", keyFlag, mode, mode, mode)
	case !plain(key):
		return fmt.Errorf("%s has a space or another character that no key has", keyFlag)
	case slices.ContainsFunc(secrets, func(s string) bool { return !strings.HasPrefix(s, "whsec_") || !plain(s) }):
		return fmt.Errorf("%s must be what Stripe shows as the endpoint's signing secret: it begins with whsec_", secretFlag)
	case slices.ContainsFunc(secrets, func(s string) bool { return len(s) < len("whsec_")+minSecret }):
		return fmt.Errorf("%s must be what Stripe shows as the endpoint's signing secret: %d characters or more follow whsec_ (was a variable left out?)", secretFlag, minSecret)
	}
	return nil
}

// minSecret is the minimal length of a secret that authenticates callbacks. A shorter
// one could be guessed, and a forged callback pays an order.
const minSecret = 16

// plain reports whether a text can be a header's value as it is.
func plain(s string) bool {
	return !strings.ContainsFunc(s, func(r rune) bool { return r <= ' ' || r > '~' })
}

// LogValue shows in logs what is configured, without secrets.
func (p Payments) LogValue() slog.Value { return p.Shown("none") }

// Shown is LogValue, where test names what takes payments of test orders without
// Stripe.
func (p Payments) Shown(test string) slog.Value {
	live := "none"
	if p.LiveStripe() {
		live = "stripe"
	}
	if p.TestStripe() {
		test = "stripe"
	}
	attrs := []slog.Attr{slog.String("live", live), slog.String("test", test)}
	if p.StripeURL != "" {
		attrs = append(attrs, slog.String("stripe_url", p.StripeURL))
	}
	return slog.GroupValue(attrs...)
}

// Outbound configures how webhooks, e-mails and texts are sent. Without it, e-mails
// and texts are kept in the outbox.
type Outbound struct {
	AllowPrivateWebhooks bool   `help:"Send webhooks to private and loopback addresses too." env:"PURVEYOR_ALLOW_PRIVATE_WEBHOOKS"`
	WebhookProxy         string `help:"HTTP proxy that webhooks go through." env:"PURVEYOR_WEBHOOK_PROXY" secret:"url" placeholder:"URL"`

	SMTPHost     string `help:"Mail server. Without one, mail is kept in the outbox." env:"PURVEYOR_SMTP_HOST" placeholder:"HOST" name:"smtp-host"`
	SMTPPort     int    `help:"Port of the mail server." default:"587" env:"PURVEYOR_SMTP_PORT" name:"smtp-port"`
	SMTPUser     string `help:"User at the mail server." env:"PURVEYOR_SMTP_USER" placeholder:"USER" name:"smtp-user"`
	SMTPPassword string `help:"Password at the mail server." env:"PURVEYOR_SMTP_PASSWORD" secret:"" placeholder:"P" name:"smtp-password"`
	SMTPFrom     string `help:"Sender of mail: an address, with or without a name." env:"PURVEYOR_SMTP_FROM" placeholder:"ADDRESS" name:"smtp-from"`
	SMTPTLS      string `help:"starttls, implicit or none." enum:"starttls,implicit,none" default:"starttls" env:"PURVEYOR_SMTP_TLS" name:"smtp-tls"`

	TwilioAccount string `help:"Twilio account SID. Without one, texts are kept in the outbox." env:"PURVEYOR_TWILIO_ACCOUNT" placeholder:"SID"`
	TwilioToken   string `help:"Twilio auth token." env:"PURVEYOR_TWILIO_TOKEN" secret:"" placeholder:"T"`
	TwilioFrom    string `help:"Phone number that texts come from." env:"PURVEYOR_TWILIO_FROM" placeholder:"NUMBER"`

	// TwilioURL is for fake servers in tests.
	TwilioURL string `help:"Where Twilio's API is. Default: at Twilio; tests name a stand-in." env:"PURVEYOR_TWILIO_URL" placeholder:"URL"`
}

// Mail reports whether e-mails can be sent.
func (o Outbound) Mail() bool { return o.SMTPHost != "" }

// Texts reports whether texts can be sent.
func (o Outbound) Texts() bool { return o.TwilioAccount != "" }

// CheckOutbound refuses incomplete settings: with half of them, messages that the
// operator believes sent would stay in the outbox.
func (o Outbound) CheckOutbound() error {
	switch {
	case o.Mail() && o.SMTPFrom == "":
		return errors.New("--smtp-host needs --smtp-from")
	case !o.Mail() && (o.SMTPUser != "" || o.SMTPPassword != "" || o.SMTPFrom != ""):
		return errors.New("--smtp-user, --smtp-password and --smtp-from need --smtp-host")
	case (o.SMTPUser == "") != (o.SMTPPassword == ""):
		return errors.New("--smtp-user and --smtp-password need each other")
	case (o.TwilioAccount == "") != (o.TwilioToken == ""), (o.TwilioAccount == "") != (o.TwilioFrom == ""):
		return errors.New("--twilio-account, --twilio-token and --twilio-from need each other")
	}
	_, err := o.Proxy()
	return err
}

// Proxy returns the proxy for webhooks; nil: they are sent directly.
func (o Outbound) Proxy() (*url.URL, error) {
	if o.WebhookProxy == "" {
		return nil, nil
	}
	u, err := url.Parse(o.WebhookProxy)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" { // the error would contain the password
		return nil, errors.New("--webhook-proxy must be the URL of a proxy: http://[USER:PASSWORD@]HOST:PORT, or https")
	}
	return u, nil
}

func (o Outbound) proxyName() string {
	u, err := o.Proxy()
	if err != nil || u == nil {
		return "none"
	}
	return u.Host
}

// LogValue shows in logs what is configured, without secrets.
func (o Outbound) LogValue() slog.Value {
	return slog.GroupValue(
		slog.Bool("private_webhooks", o.AllowPrivateWebhooks),
		slog.String("webhook_proxy", o.proxyName()),
		slog.String("mail", cmp.Or(o.SMTPHost, "outbox")),
		slog.String("texts", cmp.Or(o.TwilioAccount, "outbox")))
}
