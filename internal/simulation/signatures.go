package simulation

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"purveyor/internal/commerce"
	"purveyor/internal/outside/webhook"
	"purveyor/internal/service"
)

// secrets are those of a partner's endpoint, as the partner knows them.
type secrets struct {
	now    string
	before string    // also signs until till; empty: no rotation goes on
	since  time.Time // when the rotation began
	till   time.Time
}

const (
	overlap = time.Hour
	grace   = 2 * time.Minute // in which processes and their clocks may not agree
)

// rotate has an operator rotate the secrets of partners now and then.
func (w *world) rotate() {
	if w.parallel() { // where the outside is in a hurry, and an hour of overlap is none
		return
	}
	for n := 1; w.goesOn(time.Hour, 3*time.Hour); n++ {
		p := w.partners[w.lot(len(w.partners))]
		fresh := fmt.Sprintf("secret %d of %s", n, p.id)
		p.secrets = secrets{now: fresh, before: p.secrets.now, since: w.env.Now(), till: w.env.Now().Add(7 * 24 * time.Hour)}
		status, code, _ := w.act("rotate the secret of "+p.id, func(ctx context.Context, uses *service.Service) error {
			_, _, err := uses.RotateSecret(ctx, operator, service.RotateSecret{Owner: p.id, Secret: fresh, Overlap: overlap})
			return err
		})
		if status != http.StatusOK {
			w.broke("the secret of %s was not rotated: %s", p.id, code)
		}
		began := p.secrets.since
		p.secrets.since, p.secrets.till = w.env.Now(), w.env.Now().Add(overlap)
		w.sleep(overlap + grace + w.env.Since(began))
		p.secrets = secrets{now: fresh}
	}
}

// verify checks the signatures of a webhook as SPEC and BEHAVIOUR say a partner may. While a
// secret is rotated, x-partner-signature has the old one, and webhook-signature both.
func (p *partner) verify(r webhook.Request) {
	h := http.Header{}
	webhook.Sign(h, r)
	s, at := p.secrets, r.At.Time()
	var list []string // by which it is signed
	for _, secret := range []string{s.before, s.now} {
		if secret != "" && slices.Contains(strings.Fields(h.Get("Webhook-Signature")), standard(secret, r.ID, r.At, r.Body)) {
			list = append(list, secret)
		}
	}
	oldest := ""
	for _, secret := range []string{s.now, s.before} {
		if secret != "" && h.Get("X-Partner-Signature") == hex.EncodeToString(digest(secret, r.Body)) {
			oldest = secret
		}
	}
	sure := s.before == "" || at.After(s.since.Add(grace)) && at.Before(s.till.Add(-grace))
	want := []string{s.now}
	if s.before != "" {
		want = []string{s.before, s.now}
	}
	if len(list) == 0 || oldest == "" || sure && (oldest != want[0] || !slices.Equal(list, want)) || h.Get("Webhook-Id") != r.ID {
		p.w.broke("%s was sent %s of %v signed with %v and %q, and its secrets are %v since %v till %v", p.id, r.ID, at, list, oldest, want, s.since, s.till)
	}
}

// standard is the signature of Standard Webhooks.
func standard(secret, id string, at commerce.Millis, body []byte) string {
	return "v1," + base64.StdEncoding.EncodeToString(digest(secret, fmt.Appendf(nil, "%s.%d.%s", id, int64(at)/1000, body)))
}

func digest(secret string, text []byte) []byte {
	mac := hmac.New(sha256.New, []byte(secret))
	mac.Write(text)
	return mac.Sum(nil)
}
