// Package mail sends e-mail by SMTP.
package mail

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	netmail "net/mail"
	"strings"
	"time"
	"unicode"

	gomail "github.com/wneessen/go-mail"

	"purveyor/internal/commerce"
	"purveyor/internal/env"
)

// Message is one e-mail to one recipient.
type Message struct {
	ID      string // the same for each attempt, so that a repeat can be recognised; becomes the Message-ID
	To      string // the bare address
	Subject string
	Text    string
	HTML    string // empty: plain text only
}

// Mailer sends messages. A commerce.PermanentError is final: the message itself is at
// fault, or the server refused it for good. Every other error is worth another
// attempt.
type Mailer interface {
	Send(ctx context.Context, m Message) error
}

// TLSMode says how a connection is encrypted.
type TLSMode string

// The modes.
const (
	StartTLS    TLSMode = "starttls" // required; a server without it is refused
	ImplicitTLS TLSMode = "implicit"
	NoTLS       TLSMode = "none"
)

// Config configures the SMTP server.
type Config struct {
	Env      env.Env
	Host     string
	Port     int
	User     string // empty: no authentication
	Password string
	From     string // an address, with or without a name
	TLS      TLSMode
}

const timeout = 30 * time.Second // for one message, from the DNS lookup to the last reply

// SMTP is a Mailer.
type SMTP struct {
	config  Config
	from    *netmail.Address
	tls     *tls.Config
	timeout time.Duration
}

// NewSMTP returns an error if the configuration cannot work.
func NewSMTP(c Config) (*SMTP, error) {
	from, err := netmail.ParseAddress(c.From)
	switch {
	case err != nil || hasControls(c.From) || !strings.Contains(from.Address, "@"):
		return nil, fmt.Errorf("the sender %q is no e-mail address", c.From)
	case c.Host == "" || c.Port < 1 || c.Port > 65535:
		return nil, fmt.Errorf("the mail server %q, port %d is invalid", c.Host, c.Port)
	case c.TLS != StartTLS && c.TLS != ImplicitTLS && c.TLS != NoTLS:
		return nil, fmt.Errorf("the TLS mode %q is none of %s, %s, %s", c.TLS, StartTLS, ImplicitTLS, NoTLS)
	case c.TLS == NoTLS && c.User != "":
		return nil, errors.New("a mail password is not sent without TLS")
	}
	return &SMTP{config: c, from: from, timeout: timeout, tls: &tls.Config{ServerName: c.Host}}, nil
}

// Send delivers the message to the server.
func (s *SMTP) Send(ctx context.Context, m Message) error {
	message, err := s.compose(m)
	if err != nil {
		return &commerce.PermanentError{Err: fmt.Errorf("mail: %w", err)}
	}
	ctx, cancel := s.config.Env.WithTimeout(ctx, s.timeout)
	defer cancel()
	client, err := gomail.NewClient(s.config.Host, s.options(ctx)...)
	if err != nil {
		return fmt.Errorf("mail: %w", err)
	}
	err = client.DialAndSendWithContext(ctx, message)
	var refusal *gomail.SendError
	switch {
	case err == nil, message.IsDelivered(): // later errors concern only the end of the connection
		return nil
	case errors.Is(ctx.Err(), context.DeadlineExceeded):
		return fmt.Errorf("mail: the server did not finish within %g s", s.timeout.Seconds())
	case errors.As(err, &refusal) && refusal.ErrorCode() >= 500 && refusal.ErrorCode() != authenticationRequired:
		return &commerce.PermanentError{Err: fmt.Errorf("mail: %w", err)}
	}
	return fmt.Errorf("mail: %w", err)
}

// Check makes a connection as Send does, signs in, and sends nothing.
func (s *SMTP) Check(ctx context.Context) error {
	ctx, cancel := s.config.Env.WithTimeout(ctx, s.timeout)
	defer cancel()
	client, err := gomail.NewClient(s.config.Host, s.options(ctx)...)
	if err == nil {
		err = client.DialWithContext(ctx)
	}
	if err != nil {
		return fmt.Errorf("mail: %w", err)
	}
	_ = client.Close() // what matters has worked
	return nil
}

// authenticationRequired and a refused password are for the operator to fix; the
// message is not at fault.
const authenticationRequired = 530

// options bind the connection to ctx, because go-mail itself observes ctx only while
// it connects.
func (s *SMTP) options(ctx context.Context) []gomail.Option {
	dial := func(_ context.Context, network, address string) (net.Conn, error) {
		conn, err := (&net.Dialer{}).DialContext(ctx, network, address)
		if err != nil {
			return nil, err
		}
		context.AfterFunc(ctx, func() { _ = conn.Close() })
		if s.config.TLS == ImplicitTLS {
			return tls.Client(conn, s.tls), nil
		}
		return conn, nil
	}
	policy := gomail.NoTLS
	if s.config.TLS == StartTLS {
		policy = gomail.TLSMandatory
	}
	options := []gomail.Option{
		gomail.WithPort(s.config.Port), gomail.WithDialContextFunc(dial),
		gomail.WithTimeout(2 * s.timeout), // go-mail's own limit; ctx ends before it
		gomail.WithTLSConfig(s.tls), gomail.WithTLSPolicy(policy), gomail.WithoutNoop(),
	}
	if s.config.User != "" {
		options = append(options, gomail.WithUsername(s.config.User), gomail.WithPassword(s.config.Password),
			gomail.WithOpportunisticSMTPAuth(gomail.SMTPAuthSCRAMSHA256, gomail.SMTPAuthPlain, gomail.SMTPAuthLogin))
	}
	return options
}

// compose refuses a message that could end a header, or name more than one recipient.
func (s *SMTP) compose(m Message) (*gomail.Msg, error) {
	to, err := netmail.ParseAddress(m.To)
	switch {
	case err != nil || to.Name != "" || to.Address != m.To || hasControls(m.To):
		return nil, fmt.Errorf("%q is no e-mail address", m.To)
	case hasControls(m.Subject):
		return nil, fmt.Errorf("the subject %q has a line break or another control character", m.Subject)
	case hasControls(m.ID) || strings.ContainsAny(m.ID, "<>@ "):
		return nil, fmt.Errorf("%q is no message id", m.ID)
	}
	_, domain, _ := strings.Cut(s.from.Address, "@")
	message := gomail.NewMsg(gomail.WithNoDefaultUserAgent())
	message.FromMailAddress(s.from)
	message.ToMailAddress(to)
	message.Subject(m.Subject)
	message.SetMessageIDWithValue(m.ID + "@" + domain)
	message.SetDate()
	message.SetBodyString(gomail.TypeTextPlain, m.Text)
	if m.HTML != "" {
		message.AddAlternativeString(gomail.TypeTextHTML, m.HTML)
	}
	return message, nil
}

func hasControls(s string) bool { return strings.ContainsFunc(s, unicode.IsControl) }
