package main

import (
	"fmt"

	"purveyor/internal/api"
	"purveyor/internal/api/wire"
	"purveyor/internal/config"
	"purveyor/internal/effect"
	"purveyor/internal/outside/mail"
	"purveyor/internal/outside/sms"
	"purveyor/internal/outside/webhook"
)

// ports are the ways out of the process.
type ports struct {
	webhooks *webhook.Sender
	mailer   mail.Mailer // nil: not configured
	texter   sms.Texter  // nil: not configured
}

// portsOf makes the ports, or returns an error if their configuration cannot work.
func portsOf(c config.Outbound) (ports, error) {
	if err := c.CheckOutbound(); err != nil {
		return ports{}, err
	}
	proxy, err := c.Proxy()
	if err != nil {
		return ports{}, err
	}
	p := ports{webhooks: webhook.NewSender(c.AllowPrivateWebhooks, proxy)}
	if c.Mail() {
		m, err := mail.NewSMTP(mail.Config{Host: c.SMTPHost, Port: c.SMTPPort, User: c.SMTPUser, Password: c.SMTPPassword,
			From: c.SMTPFrom, TLS: mail.TLSMode(c.SMTPTLS)})
		if err != nil {
			return p, fmt.Errorf("--smtp-...: %w", err)
		}
		p.mailer = m
	}
	if c.Texts() {
		t, err := sms.NewTwilio(sms.Config{AccountSID: c.TwilioAccount, AuthToken: c.TwilioToken, From: c.TwilioFrom})
		if err != nil {
			return p, fmt.Errorf("--twilio-...: %w", err)
		}
		p.texter = t
	}
	return p, nil
}

// options returns the dependencies of jobs that are known here.
func (p ports) options(db *database) effect.Options {
	return effect.Options{Queue: db.Engine, Reads: db.Engine.Reader(), Committer: db.committer, Runner: db.runner,
		Sender: p.webhooks, AppendWebhook: wire.AppendWebhook, Answers: api.Answers{}, Mailer: p.mailer, Texter: p.texter}
}
