// Package sms sends text messages through Twilio.
package sms

import (
	"cmp"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"time"

	"purveyor/internal/commerce"
	"purveyor/internal/env"
	"purveyor/internal/outside/httpcall"
)

// Message is one text message.
type Message struct {
	To   string // as commerce.E164 writes it
	Text string
}

// Texter sends messages. A commerce.PermanentError is final; every other error is
// worth another attempt.
type Texter interface {
	Send(ctx context.Context, m Message) error
}

// Config is a Twilio account.
type Config struct {
	Env        env.Env
	AccountSID string
	AuthToken  string
	From       string // a phone number of the account
	BaseURL    string // scheme and host; empty: Twilio's own
}

const (
	timeout   = 15 * time.Second
	maxAnswer = 64 << 10
)

// Twilio is the Texter of a Twilio account.
type Twilio struct {
	config  Config
	account string // its URL
	client  *http.Client
	timeout time.Duration
}

// NewTwilio returns an error if the configuration cannot work.
func NewTwilio(c Config) (*Twilio, error) {
	from, ok := commerce.E164(c.From)
	switch {
	case !alphanumeric.MatchString(c.AccountSID) || !alphanumeric.MatchString(c.AuthToken):
		return nil, errors.New("the Twilio account SID and token are letters and digits only")
	case !ok:
		return nil, fmt.Errorf("the sender %q is no phone number", c.From)
	}
	c.From = from
	base, err := url.Parse(cmp.Or(c.BaseURL, "https://api.twilio.com"))
	if err != nil || base.Host == "" {
		return nil, fmt.Errorf("%q is no URL", c.BaseURL)
	}
	account := base.JoinPath("2010-04-01/Accounts", c.AccountSID)
	return &Twilio{config: c, account: account.String(), client: httpcall.Client(nil), timeout: timeout}, nil
}

// Check makes a harmless call: it reads the account.
func (t *Twilio) Check(ctx context.Context) error {
	return t.call(ctx, httpcall.Call{Method: http.MethodGet, URL: t.account + ".json"})
}

// Send hands the message to Twilio, which queues it.
func (t *Twilio) Send(ctx context.Context, m Message) error {
	to, ok := commerce.E164(m.To)
	if !ok {
		return &commerce.PermanentError{Err: fmt.Errorf("sms: %q is no phone number", m.To)}
	}
	return t.call(ctx, httpcall.Call{Method: http.MethodPost, URL: t.account + "/Messages.json",
		Form: url.Values{"To": {to}, "From": {t.config.From}, "Body": {m.Text}}})
}

func (t *Twilio) call(ctx context.Context, call httpcall.Call) error {
	ctx, cancel := t.config.Env.WithTimeout(ctx, t.timeout)
	defer cancel()
	credentials := base64.StdEncoding.EncodeToString([]byte(t.config.AccountSID + ":" + t.config.AuthToken))
	call.Header = http.Header{"Authorization": {"Basic " + credentials}}
	answer, err := call.Do(ctx, t.client, maxAnswer)
	var refusal struct {
		Status  int    `json:"status"`
		Code    int    `json:"code"`
		Message string `json:"message"`
	}
	switch {
	case errors.Is(err, context.DeadlineExceeded):
		return fmt.Errorf("sms: no answer within %g s", t.timeout.Seconds())
	case err != nil:
		return fmt.Errorf("sms: %w", err)
	case answer.OK():
		return nil
	case answer.Status < 400 || json.Unmarshal(answer.Body, &refusal) != nil: // not Twilio's
		return fmt.Errorf("sms: it answered %d", answer.Status)
	}
	err = fmt.Errorf("sms: Twilio answered %d, code %d: %s", refusal.Status, refusal.Code, refusal.Message)
	if httpcall.BlamesRequest(refusal.Status) {
		return &commerce.PermanentError{Err: err}
	}
	return err
}

var alphanumeric = regexp.MustCompile("^[0-9A-Za-z]+$")
