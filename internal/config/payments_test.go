package config

import (
	"strings"
	"testing"

	"github.com/alecthomas/kong"
)

func TestCheckPayments(t *testing.T) {
	whsec := []string{"whsec_0123456789abcdef", "whsec_fedcba9876543210"}
	for _, c := range []struct {
		name     string
		payments Payments
		says     string
	}{
		{"nothing", Payments{}, ""},
		{"live", Payments{StripeKey: "sk_live_1", StripeWebhookSecret: whsec}, ""},
		{"restricted", Payments{StripeKey: "rk_live_1", StripeWebhookSecret: whsec}, ""},
		{"test", Payments{StripeTestKey: "rk_test_1", StripeTestWebhookSecret: whsec[:1]}, ""},
		{"both", Payments{"sk_live_1", whsec, "sk_test_1", whsec, "http://127.0.0.1:12111"}, ""},
		{"no secret", Payments{StripeKey: "sk_live_1"}, "--stripe-key and --stripe-webhook-secret need each other"},
		{"no key", Payments{StripeWebhookSecret: whsec}, "--stripe-key and --stripe-webhook-secret need each other"},
		{"no test secret", Payments{StripeTestKey: "sk_test_1"}, "--stripe-test-webhook-secret need each other"},
		{"no test key", Payments{StripeTestWebhookSecret: whsec}, "--stripe-test-webhook-secret need each other"},
		{"test secret for a live key", Payments{StripeKey: "sk_live_1", StripeTestWebhookSecret: whsec}, "--stripe-webhook-secret need each other"},
		{"test key as live", Payments{StripeKey: "sk_test_1", StripeWebhookSecret: whsec}, "--stripe-key must be"},
		{"restricted test key as live", Payments{StripeKey: "rk_test_1", StripeWebhookSecret: whsec}, "--stripe-key must be"},
		{"live key as test", Payments{StripeTestKey: "sk_live_1", StripeTestWebhookSecret: whsec}, "--stripe-test-key must be"},
		{"restricted live key as test", Payments{StripeTestKey: "rk_live_1", StripeTestWebhookSecret: whsec}, "--stripe-test-key must be"},
		{"publishable key", Payments{StripeKey: "pk_live_1", StripeWebhookSecret: whsec}, "sk_live_"},
		{"line break", Payments{StripeKey: "sk_live_1\n", StripeWebhookSecret: whsec}, "character"},
		{"key as secret", Payments{StripeKey: "sk_live_1", StripeWebhookSecret: []string{"sk_live_1"}}, "whsec_"},
		{"empty secret", Payments{StripeKey: "sk_live_1", StripeWebhookSecret: []string{whsec[0], ""}}, "whsec_"},
		{"space in a secret", Payments{StripeKey: "sk_live_1", StripeWebhookSecret: []string{whsec[0] + " "}}, "whsec_"},
		{"no variable behind the prefix", Payments{StripeKey: "sk_live_1", StripeWebhookSecret: []string{"whsec_"}}, "--stripe-webhook-secret must be"},
		{"short secret", Payments{StripeKey: "sk_live_1", StripeWebhookSecret: []string{whsec[0], "whsec_0123456789abcde"}}, "16 characters or more follow whsec_"},
		{"short test secret", Payments{StripeTestKey: "sk_test_1", StripeTestWebhookSecret: []string{"whsec_0123456789abcde"}}, "--stripe-test-webhook-secret"},
		{"wrong URL", Payments{StripeKey: "sk_live_1", StripeWebhookSecret: whsec, StripeURL: "localhost"}, "--stripe-url"},
		{"URL alone", Payments{StripeURL: "http://127.0.0.1:1"}, "--stripe-url needs"},
	} {
		err := c.payments.CheckPayments()
		says(t, c.name, err, c.says)
		for _, secret := range []string{"_1\n", "_test_1", "_live_1", "whsec_0"} {
			if err != nil && strings.Contains(err.Error(), secret) {
				t.Errorf("%s: %v has what is secret", c.name, err)
			}
		}
	}
}

func TestPaymentsLogNoSecret(t *testing.T) {
	for want, p := range map[string]Payments{
		"config.live=none config.test=none\n":                                {},
		"config.live=stripe config.test=none\n":                              {StripeKey: "hush", StripeWebhookSecret: []string{"hush"}},
		"config.live=none config.test=stripe config.stripe_url=http://a:1\n": {StripeTestKey: "hush", StripeTestWebhookSecret: []string{"hush"}, StripeURL: "http://a:1"},
	} {
		if logged := logOf(p); !strings.HasSuffix(logged, want) || strings.Contains(logged, "hush") {
			t.Errorf("%s, want %s", logged, want)
		}
	}
}

// Flags and environment variables are named as in the manual.
func TestPaymentsFlags(t *testing.T) {
	t.Setenv("PURVEYOR_STRIPE_TEST_KEY", "sk_test_1")
	t.Setenv("PURVEYOR_STRIPE_TEST_WEBHOOK_SECRET", "whsec_3333333333333333")
	t.Setenv("PURVEYOR_STRIPE_URL", "http://127.0.0.1:12111")
	var p Payments
	parser, err := kong.New(&p)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := parser.Parse([]string{"--stripe-key=sk_live_1", "--stripe-webhook-secret=whsec_1111111111111111,whsec_2222222222222222"}); err != nil {
		t.Fatal(err)
	}
	if err := p.CheckPayments(); err != nil || strings.Join(p.StripeWebhookSecret, " ") != "whsec_1111111111111111 whsec_2222222222222222" ||
		p.StripeTestKey != "sk_test_1" || strings.Join(p.StripeTestWebhookSecret, " ") != "whsec_3333333333333333" || p.StripeURL != "http://127.0.0.1:12111" {
		t.Errorf("%+v, %v", p, err)
	}
}
