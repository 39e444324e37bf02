package e2e_test

import (
	"io"
	"log"
	"net"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/emersion/go-smtp"
)

// postbox is a mail server. It hands on each message that it gets.
type postbox chan letter

// letter is a message with its recipients.
type letter struct {
	to   []string
	data string
}

type postman struct {
	box postbox
	now letter
}

func (p *postman) Mail(string, *smtp.MailOptions) error { return nil }

func (p *postman) Rcpt(to string, _ *smtp.RcptOptions) error {
	p.now.to = append(p.now.to, to)
	return nil
}

func (p *postman) Data(r io.Reader) error {
	data, err := io.ReadAll(r)
	p.now.data = string(data)
	p.box <- p.now
	return err
}

func (p *postman) Reset()        { p.now = letter{} }
func (p *postman) Logout() error { return nil }

// serve runs the server until the test ends, and returns the flags that name it.
func (b postbox) serve(t *testing.T) []string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	server := smtp.NewServer(smtp.BackendFunc(func(*smtp.Conn) (smtp.Session, error) { return &postman{box: b}, nil }))
	server.Domain, server.ErrorLog = "localhost", log.New(io.Discard, "", 0)
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = server.Serve(l)
	}()
	t.Cleanup(func() {
		_ = server.Close()
		_ = l.Close() // the server does not know it before Serve runs
		<-done
	})
	return []string{"--smtp-host", "127.0.0.1", "--smtp-port", strconv.Itoa(l.Addr().(*net.TCPAddr).Port), "--smtp-tls", "none", "--smtp-from", "shop@s.example"}
}

// texts waits until so many addresses have a mail with this subject, and returns the texts by
// address. A mail that was sent again since its sender was killed has the id that it had.
func (b postbox) texts(t *testing.T, subject string, addresses int) map[string]string {
	t.Helper()
	texts, ids := map[string]string{}, map[string]string{}
	for end := time.After(2 * time.Minute); len(texts) < addresses; {
		select {
		case l := <-b:
			if !strings.Contains(l.data, "Subject: "+subject+"\r\n") {
				continue
			}
			to, id := strings.Join(l.to, " "), messageID.FindString(l.data)
			if before, again := ids[to]; id == "" || again && id != before {
				t.Errorf("%s got %q, and before it %s", to, l.data, before)
			}
			texts[to], ids[to] = l.data, id
		case <-end:
			t.Fatalf("%s came to %v only", subject, ids)
		}
	}
	return texts
}

var messageID = regexp.MustCompile(`Message-ID: <[^>]+>`)

// TestAlarmsByMail: an endpoint answers 410, so it is paused. Its partner's addresses and the
// owner get one mail each, over SMTP, and another when it answers again.
func TestAlarmsByMail(t *testing.T) {
	t.Parallel()
	s, to, box := newShop(t), newSink(t), make(postbox, 10)
	to.answers(func(received) int { return 410 })
	s.operate("partner", "update", s.partner.PartnerID, "--callback-url", to.URL+"/hook", "--alarm-address", "dev@p.example", "--alarm-address", "ops@p.example").ok(t)
	if shown := s.operate("partner", "show", s.partner.PartnerID).ok(t); !strings.Contains(shown, "dev@p.example, ops@p.example") {
		t.Errorf("the partner is shown as %s", shown)
	}
	s.operate("user", "create", "--email", "owner@s.example", "--name", "Ann", "--role", "owner").ok(t)
	flags := append(box.serve(t), allowPrivate)
	p, c := s.serve(flags...)
	c.must(201, report("a", "p1"))
	to.waitFor(t, "/hook", 1)
	s.eventuallyShows(s.partner.PartnerID, "paused")
	p.kill() // alarms are raised at the start, and then once a minute

	p, _ = s.serve(flags...)
	got := box.texts(t, "Webhooks to 127.0.0.1 are paused", 3)
	for _, address := range []string{"dev@p.example", "ops@p.example", "owner@s.example"} {
		if text := got[address]; !strings.Contains(text, "answered 410 (gone)") {
			t.Errorf("to %s: %q", address, text)
		}
	}
	p.kill()

	to.answers(nil)
	p, _ = s.serve(flags...)
	s.operate("webhook", "resume", s.partner.PartnerID).ok(t)
	s.eventuallyShows(s.partner.PartnerID, "healthy")
	p.kill()
	s.serve(flags...)
	box.texts(t, "Webhooks to 127.0.0.1 are sent again", 3)
	s.operate("partner", "update", s.partner.PartnerID, "--alarm-address", "").ok(t)
	if shown := s.operate("partner", "show", s.partner.PartnerID).ok(t); !strings.Contains(shown, "alarms go to     none") {
		t.Errorf("without addresses the partner is shown as %s", shown)
	}
}
