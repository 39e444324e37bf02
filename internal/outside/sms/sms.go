// Package sms sends text messages through Twilio.
package sms

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/twilio/twilio-go/client"
	twilio "github.com/twilio/twilio-go/rest/api/v2010"

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
	base    *url.URL // nil: the library's own
	timeout time.Duration
}

// NewTwilio returns an error if the configuration cannot work.
func NewTwilio(c Config) (*Twilio, error) {
	from, ok := commerce.E164(c.From)
	switch {
	case !alphanumeric(c.AccountSID) || !alphanumeric(c.AuthToken):
		return nil, errors.New("the Twilio account SID and token are letters and digits only")
	case !ok:
		return nil, fmt.Errorf("the sender %q is no phone number", c.From)
	}
	c.From = from
	t := &Twilio{config: c, timeout: timeout}
	if c.BaseURL != "" {
		base, err := url.Parse(c.BaseURL)
		if err != nil || base.Host == "" {
			return nil, fmt.Errorf("%q is no URL", c.BaseURL)
		}
		t.base = base
	}
	return t, nil
}

// Send hands the message to Twilio, which queues it.
func (t *Twilio) Send(ctx context.Context, m Message) error {
	to, ok := commerce.E164(m.To)
	if !ok {
		return &commerce.PermanentError{Err: fmt.Errorf("sms: %q is no phone number", m.To)}
	}
	ctx, cancel := t.config.Env.WithTimeout(ctx, t.timeout)
	defer cancel()
	params := new(twilio.CreateMessageParams).SetTo(to).SetFrom(t.config.From).SetBody(m.Text)
	_, err := t.service(ctx).CreateMessage(params)
	var refusal *client.TwilioRestError
	switch {
	case err == nil:
		return nil
	case errors.Is(err, context.DeadlineExceeded):
		return fmt.Errorf("sms: no answer within %g s", t.timeout.Seconds())
	case errors.As(err, &refusal):
		err = fmt.Errorf("sms: Twilio answered %d, code %d: %s", refusal.Status, refusal.Code, refusal.Message)
		if permanent(refusal.Status) {
			return &commerce.PermanentError{Err: err}
		}
		return err
	}
	return fmt.Errorf("sms: %w", err)
}

// permanent reports whether a status means that the message is at fault. Otherwise
// the cause may pass, or the operator can fix it (401, 403: the account).
func permanent(status int) bool {
	switch status {
	case http.StatusUnauthorized, http.StatusForbidden, http.StatusRequestTimeout, http.StatusTooManyRequests:
		return false
	}
	return status >= 400 && status < 500
}

// service is made for each message, because the library takes no context.
func (t *Twilio) service(ctx context.Context) *twilio.ApiService {
	c := &client.Client{
		Credentials: client.NewCredentials(t.config.AccountSID, t.config.AuthToken),
		HTTPClient:  &http.Client{Transport: bound{ctx, t.base}},
	}
	c.SetAccountSid(t.config.AccountSID)
	return twilio.NewApiService(&client.RequestHandler{Client: c}) // ignores the environment variables for edge and region
}

// bound sends requests under a context, to the base URL if there is one.
type bound struct {
	ctx  context.Context
	base *url.URL
}

func (b bound) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(b.ctx)
	if b.base != nil {
		r.URL.Scheme, r.URL.Host, r.Host = b.base.Scheme, b.base.Host, b.base.Host
	}
	return httpcall.Whole{Next: http.DefaultTransport, Most: maxAnswer}.RoundTrip(r)
}

func alphanumeric(s string) bool {
	return s != "" && !strings.ContainsFunc(s, func(r rune) bool {
		return (r < '0' || r > '9') && (r < 'A' || r > 'Z') && (r < 'a' || r > 'z')
	})
}
