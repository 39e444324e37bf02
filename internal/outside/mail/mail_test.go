package mail

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"log"
	"mime"
	"mime/multipart"
	"mime/quotedprintable"
	"net"
	"net/http/httptest"
	netmail "net/mail"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/emersion/go-sasl"
	"github.com/emersion/go-smtp"

	"purveyor/internal/commerce"
)

// server is an SMTP server that requires the password "right" over TLS. The test sets
// its answers.
type server struct {
	mode      TLSMode
	rcpt      error // answer to RCPT
	data      error // answer to DATA
	hangUntil <-chan struct{}

	mu       sync.Mutex
	received []received
}

type received struct {
	user, from string
	to         []string
	encrypted  bool
	data       []byte
}

type session struct {
	server *server
	now    received
}

func (s *session) AuthMechanisms() []string { return []string{sasl.Plain} }

func (s *session) Auth(string) (sasl.Server, error) {
	return sasl.NewPlainServer(func(_, user, password string) error {
		if password != "right" {
			return smtp.ErrAuthFailed
		}
		s.now.user = user
		return nil
	}), nil
}

func (s *session) Mail(from string, _ *smtp.MailOptions) error {
	if s.server.mode != NoTLS && s.now.user == "" {
		return &smtp.SMTPError{Code: 530, Message: "Authentication required"}
	}
	s.now.from = from
	return nil
}

func (s *session) Rcpt(to string, _ *smtp.RcptOptions) error {
	s.now.to = append(s.now.to, to)
	return s.server.rcpt
}

func (s *session) Data(r io.Reader) error {
	if s.server.hangUntil != nil {
		<-s.server.hangUntil
	}
	s.now.data, _ = io.ReadAll(r)
	s.server.mu.Lock()
	defer s.server.mu.Unlock()
	s.server.received = append(s.server.received, s.now)
	return s.server.data
}

func (s *session) Reset()        {}
func (s *session) Logout() error { return nil }

// start runs the server until the test ends, and returns a mailer that trusts it.
func (s *server) start(t *testing.T, password string) *SMTP {
	t.Helper()
	certified := httptest.NewUnstartedServer(nil) // for its certificate
	certified.StartTLS()
	defer certified.Close()
	config := &tls.Config{Certificates: certified.TLS.Certificates}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	srv := smtp.NewServer(smtp.BackendFunc(func(c *smtp.Conn) (smtp.Session, error) {
		_, encrypted := c.TLSConnectionState()
		return &session{server: s, now: received{encrypted: encrypted}}, nil
	}))
	srv.Domain, srv.ErrorLog = "localhost", log.New(io.Discard, "", 0)
	serving := l
	switch s.mode {
	case StartTLS:
		srv.TLSConfig = config
	case ImplicitTLS:
		serving = tls.NewListener(l, config)
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = srv.Serve(serving)
	}()
	t.Cleanup(func() {
		_ = srv.Close()
		_ = serving.Close() // the server does not know the listener before Serve runs
		<-done
	})
	c := Config{Host: "127.0.0.1", Port: l.Addr().(*net.TCPAddr).Port, From: "Purvéyor <shop@example.com>", TLS: s.mode}
	if s.mode != NoTLS && password != "" {
		c.User, c.Password = "shop", password
	}
	mailer, err := NewSMTP(c)
	if err != nil {
		t.Fatal(err)
	}
	mailer.tls.RootCAs = x509.NewCertPool()
	mailer.tls.RootCAs.AddCert(certified.Certificate())
	return mailer
}

var ready = Message{
	ID: "job_1", To: "ada@example.org", Subject: "Bereit: Crème brûlée ☕",
	Text: "Your order is ready.\r\n.\r\nRCPT TO:<eve@example.net>\r\n", HTML: "<p>Your order is <b>ready</b>.</p>",
}

func TestSend(t *testing.T) {
	for _, mode := range []TLSMode{StartTLS, ImplicitTLS, NoTLS} {
		t.Run(string(mode), func(t *testing.T) {
			s := &server{mode: mode}
			mailer := s.start(t, "right")
			for range 2 {
				if err := mailer.Send(t.Context(), ready); err != nil {
					t.Fatal(err)
				}
			}
			if len(s.received) != 2 {
				t.Fatalf("%d messages", len(s.received))
			}
			got := s.received[1]
			if got.from != "shop@example.com" || !slices.Equal(got.to, []string{"ada@example.org"}) {
				t.Errorf("envelope %s to %s", got.from, got.to)
			}
			if secure := mode != NoTLS; got.encrypted != secure || (got.user == "shop") != secure {
				t.Errorf("encrypted %v, user %q", got.encrypted, got.user)
			}
			checkMessage(t, got.data)
		})
	}
}

func checkMessage(t *testing.T, data []byte) {
	t.Helper()
	m, err := netmail.ReadMessage(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	subject, err := new(mime.WordDecoder).DecodeHeader(m.Header.Get("Subject"))
	if err != nil || subject != ready.Subject {
		t.Errorf("subject %q, %v", subject, err)
	}
	from, err := netmail.ParseAddress(m.Header.Get("From"))
	if err != nil || from.Name != "Purvéyor" || m.Header.Get("To") != "<ada@example.org>" || m.Header.Get("Message-ID") != "<job_1@example.com>" {
		t.Errorf("headers %v", m.Header)
	}
	kind, params, err := mime.ParseMediaType(m.Header.Get("Content-Type"))
	if err != nil || kind != "multipart/alternative" {
		t.Fatalf("%s, %v", kind, err)
	}
	parts := multipart.NewReader(m.Body, params["boundary"])
	for _, want := range []struct{ kind, text string }{{"text/plain", ready.Text}, {"text/html", ready.HTML}} {
		part, err := parts.NextRawPart()
		if err != nil {
			t.Fatal(err)
		}
		text, err := io.ReadAll(quotedprintable.NewReader(part))
		if kind := part.Header.Get("Content-Type"); err != nil || !strings.HasPrefix(kind, want.kind) || string(text) != want.text {
			t.Errorf("%s: %q, %v", kind, text, err)
		}
	}
	if _, err := parts.NextRawPart(); !errors.Is(err, io.EOF) {
		t.Errorf("a third part: %v", err)
	}
}

func TestRefusals(t *testing.T) {
	for _, c := range []struct {
		name      string
		server    *server
		password  string
		want      string
		permanent bool
	}{
		{"refused recipient", &server{rcpt: &smtp.SMTPError{Code: 550, Message: "No such user"}}, "right", "No such user", true},
		{"refused content", &server{data: &smtp.SMTPError{Code: 554, Message: "Spam"}}, "right", "Spam", true},
		{"greylisting", &server{rcpt: &smtp.SMTPError{Code: 451, Message: "Come back"}}, "right", "Come back", false},
		{"full disk", &server{data: &smtp.SMTPError{Code: 452, Message: "Disk full"}}, "right", "Disk full", false},
		{"wrong password", &server{}, "wrong", "Authentication failed", false},
		{"no password", &server{}, "", "Authentication required", false},
	} {
		t.Run(c.name, func(t *testing.T) {
			c.server.mode = StartTLS
			err := c.server.start(t, c.password).Send(t.Context(), ready)
			checkError(t, err, c.want, c.permanent)
		})
	}
}

func checkError(t *testing.T, err error, want string, permanent bool) {
	t.Helper()
	var p *commerce.PermanentError
	if err == nil || !strings.Contains(err.Error(), want) || errors.As(err, &p) != permanent {
		t.Errorf("%v; want %q, permanent: %v", err, want, permanent)
	}
}

// TestCheck: it signs in, and sends nothing.
func TestCheck(t *testing.T) {
	s := &server{mode: StartTLS}
	if err := s.start(t, "right").Check(t.Context()); err != nil {
		t.Error(err)
	}
	checkError(t, s.start(t, "wrong").Check(t.Context()), "mail: ", false)
	if len(s.received) > 0 {
		t.Error("a mail was sent")
	}
}

func TestTLSIsRequired(t *testing.T) {
	plain := &server{mode: NoTLS}
	mailer := plain.start(t, "")
	mailer.config.TLS = StartTLS
	checkError(t, mailer.Send(t.Context(), ready), "does not support STARTTLS", false)

	for _, mode := range []TLSMode{StartTLS, ImplicitTLS} {
		untrusted := &server{mode: mode}
		mailer := untrusted.start(t, "right")
		mailer.tls.RootCAs = x509.NewCertPool()
		checkError(t, mailer.Send(t.Context(), ready), "certificate", false)
		if len(untrusted.received) != 0 {
			t.Error("sent to an untrusted server")
		}
	}
}

func TestHangs(t *testing.T) {
	release := make(chan struct{})
	defer close(release)
	inData := &server{mode: NoTLS, hangUntil: release}
	mailer := inData.start(t, "")
	mailer.timeout = 250 * time.Millisecond
	checkError(t, mailer.Send(t.Context(), ready), "did not finish within 0.25 s", false)

	silent, err := net.Listen("tcp", "127.0.0.1:0") // accepts connections and stays silent
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = silent.Close() }()
	mailer.config.Port = silent.Addr().(*net.TCPAddr).Port
	checkError(t, mailer.Send(t.Context(), ready), "did not finish within 0.25 s", false)

	mailer.timeout = time.Minute
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		if c, err := silent.Accept(); err == nil { // the connection of the attempt before
			defer func() { _ = c.Close() }()
		}
		if c, err := silent.Accept(); err == nil {
			defer func() { _ = c.Close() }()
			cancel()
			_, _ = io.ReadAll(c)
		}
	}()
	checkError(t, mailer.Send(ctx, ready), "mail: ", false)
}

func TestNothingIsInjected(t *testing.T) {
	s := &server{mode: NoTLS}
	mailer := s.start(t, "")
	for _, to := range []string{
		"", "ada", "ada@example.org\r\nBcc: eve@example.net", "ada@example.org\nBcc: eve@example.net", "ada@example.org\r",
		"ada@example.org, eve@example.net", "ada@example.org>\r\nRCPT TO:<eve@example.net", "Ada <ada@example.org>",
		"\"ada\r\nBcc: eve\"@example.org", "ada@example.org\x00", "=?utf-8?q?x=0D=0ABcc:_eve@example.net?= <ada@example.org>",
	} {
		m := ready
		m.To = to
		checkError(t, mailer.Send(t.Context(), m), "is no e-mail address", true)
	}
	for _, subject := range []string{"Ready\r\nBcc: eve@example.net", "Ready\nX: y", "Ready\rX: y", "Ready\x00"} {
		m := ready
		m.Subject = subject
		checkError(t, mailer.Send(t.Context(), m), "control character", true)
	}
	for _, id := range []string{"a>\r\nX: y", "a b", "a@b"} {
		m := ready
		m.ID = id
		checkError(t, mailer.Send(t.Context(), m), "is no message id", true)
	}
	if len(s.received) != 0 {
		t.Errorf("%d messages went out", len(s.received))
	}
}

func TestConfig(t *testing.T) {
	good := Config{Host: "mail.example.com", Port: 587, From: "shop@example.com", User: "u", TLS: StartTLS}
	if _, err := NewSMTP(good); err != nil {
		t.Fatal(err)
	}
	for name, spoil := range map[string]func(*Config){
		"sender":             func(c *Config) { c.From = "shop" },
		"sender's line":      func(c *Config) { c.From = "shop@example.com\r\nBcc: eve@example.net" },
		"host":               func(c *Config) { c.Host = "" },
		"port":               func(c *Config) { c.Port = 0 },
		"mode":               func(c *Config) { c.TLS = "" },
		"password in clear":  func(c *Config) { c.TLS = NoTLS },
		"two senders at all": func(c *Config) { c.From = "a@example.com, b@example.com" },
	} {
		c := good
		spoil(&c)
		if _, err := NewSMTP(c); err == nil {
			t.Errorf("%s: %+v was taken", name, c)
		}
	}
}
