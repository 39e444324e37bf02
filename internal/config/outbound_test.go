package config

import (
	"bytes"
	"log/slog"
	"strings"
	"testing"
)

func TestCheckOutbound(t *testing.T) {
	mail := Outbound{SMTPHost: "mail.example", SMTPFrom: "shop@example.com"}
	texts := Outbound{TwilioAccount: "AC1", TwilioToken: "t", TwilioFrom: "+12125550100"}
	for _, c := range []struct {
		name  string
		base  Outbound
		spoil func(*Outbound)
		says  string
	}{
		{"nothing", Outbound{}, func(*Outbound) {}, ""},
		{"mail", mail, func(*Outbound) {}, ""},
		{"mail with a user", mail, func(o *Outbound) { o.SMTPUser, o.SMTPPassword = "u", "p" }, ""},
		{"texts", texts, func(*Outbound) {}, ""},
		{"host alone", mail, func(o *Outbound) { o.SMTPFrom = "" }, "--smtp-host needs --smtp-from"},
		{"sender alone", mail, func(o *Outbound) { o.SMTPHost = "" }, "need --smtp-host"},
		{"user without host", Outbound{SMTPUser: "u"}, func(*Outbound) {}, "need --smtp-host"},
		{"password without host", Outbound{SMTPPassword: "p"}, func(*Outbound) {}, "need --smtp-host"},
		{"user alone", mail, func(o *Outbound) { o.SMTPUser = "u" }, "--smtp-user and --smtp-password"},
		{"password alone", mail, func(o *Outbound) { o.SMTPPassword = "p" }, "--smtp-user and --smtp-password"},
		{"no account", texts, func(o *Outbound) { o.TwilioAccount = "" }, "--twilio-account"},
		{"no token", texts, func(o *Outbound) { o.TwilioToken = "" }, "--twilio-account"},
		{"a proxy", Outbound{WebhookProxy: "http://ann:s3cret@proxy.example:3128"}, func(*Outbound) {}, ""},
		{"a proxy without a scheme", Outbound{WebhookProxy: "proxy.example:3128"}, func(*Outbound) {}, "--webhook-proxy"},
		{"a proxy of another kind", Outbound{WebhookProxy: "ftp://proxy.example"}, func(*Outbound) {}, "--webhook-proxy"},
		{"a proxy without a host", Outbound{WebhookProxy: "http://"}, func(*Outbound) {}, "--webhook-proxy"},
		{"no number", texts, func(o *Outbound) { o.TwilioFrom = "" }, "--twilio-account"},
	} {
		c.spoil(&c.base)
		says(t, c.name, c.base.CheckOutbound(), c.says)
	}
}

// Configured messages are sent, and all others are kept.
func TestOutboundWays(t *testing.T) {
	for _, c := range []struct {
		outbound    Outbound
		mail, texts bool
	}{
		{Outbound{}, false, false},
		{Outbound{SMTPHost: "mail.example", SMTPFrom: "shop@example.com"}, true, false},
		{Outbound{TwilioAccount: "AC1", TwilioToken: "t", TwilioFrom: "+12125550100"}, false, true},
	} {
		if c.outbound.Mail() != c.mail || c.outbound.Texts() != c.texts {
			t.Errorf("%+v: mail %v, texts %v", c.outbound, c.outbound.Mail(), c.outbound.Texts())
		}
	}
}

// says checks for an error with these words, or for none.
func says(t *testing.T, name string, err error, want string) {
	t.Helper()
	if (err == nil) != (want == "") || (err != nil && !strings.Contains(err.Error(), want)) {
		t.Errorf("%s: %v, want %q", name, err, want)
	}
}

func TestOutboundLogsNoSecret(t *testing.T) {
	logged := logOf(Outbound{SMTPHost: "mail.example", SMTPPassword: "hush", TwilioAccount: "AC1", TwilioToken: "hush", WebhookProxy: "http://ann:hush@proxy.example:3128"})
	if strings.Contains(logged, "hush") || !strings.Contains(logged, "mail.example") || !strings.Contains(logged, "AC1") || !strings.Contains(logged, "proxy.example:3128") {
		t.Error(logged)
	}
}

func logOf(v any) string {
	var b bytes.Buffer
	slog.New(slog.NewTextHandler(&b, nil)).Info("start", "config", v)
	return b.String()
}
