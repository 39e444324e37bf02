package config

import (
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
)

// Payments configures the payment processors. Without Stripe's live keys, live orders
// cannot be paid by card; without its test keys, test orders are paid in the sandbox.
type Payments struct {
	StripeKey           string   `help:"Stripe's secret or restricted live key. Without one, live checkout is refused." env:"PURVEYOR_STRIPE_KEY" placeholder:"KEY"`
	StripeWebhookSecret []string `help:"Signing secret of the webhook endpoint at Stripe; several, separated by commas, while one is replaced." env:"PURVEYOR_STRIPE_WEBHOOK_SECRET" placeholder:"SECRET"`

	StripeTestKey           string   `help:"Stripe's test key: test orders are then paid at Stripe, not in the sandbox." env:"PURVEYOR_STRIPE_TEST_KEY" placeholder:"KEY"`
	StripeTestWebhookSecret []string `help:"Signing secret of the webhook endpoint in Stripe's test mode." env:"PURVEYOR_STRIPE_TEST_WEBHOOK_SECRET" placeholder:"SECRET"`

	// StripeURL is for fake servers in tests.
	StripeURL string `help:"Where Stripe's API is, if not at Stripe." hidden:"" env:"PURVEYOR_STRIPE_URL" placeholder:"URL"`
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
