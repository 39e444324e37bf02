package config

import (
	"cmp"
	"errors"
	"log/slog"
	"net/url"
)

// Outbound configures how webhooks, e-mails and texts are sent. Without it, e-mails
// and texts are kept in the outbox.
type Outbound struct {
	AllowPrivateWebhooks bool   `help:"Send webhooks to private and loopback addresses too." env:"PURVEYOR_ALLOW_PRIVATE_WEBHOOKS"`
	WebhookProxy         string `help:"HTTP proxy that webhooks go through." env:"PURVEYOR_WEBHOOK_PROXY" placeholder:"URL"`

	SMTPHost     string `help:"Mail server. Without one, mail is kept in the outbox." env:"PURVEYOR_SMTP_HOST" placeholder:"HOST" name:"smtp-host"`
	SMTPPort     int    `help:"Port of the mail server." default:"587" env:"PURVEYOR_SMTP_PORT" name:"smtp-port"`
	SMTPUser     string `help:"User at the mail server." env:"PURVEYOR_SMTP_USER" placeholder:"USER" name:"smtp-user"`
	SMTPPassword string `help:"Password at the mail server." env:"PURVEYOR_SMTP_PASSWORD" placeholder:"P" name:"smtp-password"`
	SMTPFrom     string `help:"Sender of mail: an address, with or without a name." env:"PURVEYOR_SMTP_FROM" placeholder:"ADDRESS" name:"smtp-from"`
	SMTPTLS      string `help:"starttls, implicit or none." enum:"starttls,implicit,none" default:"starttls" env:"PURVEYOR_SMTP_TLS" name:"smtp-tls"`

	TwilioAccount string `help:"Twilio account SID. Without one, texts are kept in the outbox." env:"PURVEYOR_TWILIO_ACCOUNT" placeholder:"SID"`
	TwilioToken   string `help:"Twilio auth token." env:"PURVEYOR_TWILIO_TOKEN" placeholder:"T"`
	TwilioFrom    string `help:"Phone number that texts come from." env:"PURVEYOR_TWILIO_FROM" placeholder:"NUMBER"`
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
