package main

import (
	"fmt"

	"purveyor/internal/api/wire"
	"purveyor/internal/config"
	"purveyor/internal/effect"
	"purveyor/internal/outside/mail"
	"purveyor/internal/outside/sms"
	"purveyor/internal/outside/webhook"
)

// portsOf returns the ways out of the process that jobs use for webhooks, mail and
// texts, or an error if their configuration cannot work.
func portsOf(c config.Outbound) (o effect.Options, err error) {
	if err := c.CheckOutbound(); err != nil {
		return o, err
	}
	proxy, err := c.Proxy()
	if err != nil {
		return o, err
	}
	o = effect.Options{Sender: webhook.NewSender(c.AllowPrivateWebhooks, proxy), AppendWebhook: wire.AppendWebhook}
	if c.Mail() {
		m, err := mail.NewSMTP(mail.Config{Host: c.SMTPHost, Port: c.SMTPPort, User: c.SMTPUser, Password: c.SMTPPassword,
			From: c.SMTPFrom, TLS: mail.TLSMode(c.SMTPTLS)})
		if err != nil {
			return o, fmt.Errorf("--smtp-...: %w", err)
		}
		o.Mailer = m
	}
	if c.Texts() {
		t, err := sms.NewTwilio(sms.Config{AccountSID: c.TwilioAccount, AuthToken: c.TwilioToken, From: c.TwilioFrom})
		if err != nil {
			return o, fmt.Errorf("--twilio-...: %w", err)
		}
		o.Texter = t
	}
	return o, nil
}
