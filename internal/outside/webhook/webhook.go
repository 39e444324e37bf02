// Package webhook posts signed events to the URLs of partners. Every URL is treated
// as hostile: it may point inside the network, never answer, or answer endlessly.
package webhook

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"io"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"purveyor/internal/commerce"
	"purveyor/internal/env"
	"purveyor/internal/outside/httpcall"
)

const (
	timeout = 15 * time.Second // DNS lookup, connection, TLS and answer together

	maxAnswer = 4 << 10
)

// Request is one event for one endpoint.
type Request struct {
	URL            string
	ID             string          // of the event, the same for each attempt
	Body           []byte          // JSON
	At             commerce.Millis // of this attempt
	Secret         string          // empty: unsigned
	PreviousSecret string          // while the secret is rotated; otherwise empty
}

// Result is the outcome of a request. The event was delivered if Error is empty.
type Result struct {
	Status     int64         // 0: no answer
	Error      string        // in plain words, fit for storage
	Answer     string        // start of the body, cleaned by commerce.CleanText
	RetryAfter time.Duration // as the answer asks for; 0: none
	TookMs     int64
	TimedOut   bool // there was no answer in time
}

// Sender sends webhooks. It is safe for concurrent use.
type Sender struct {
	Env     env.Env
	route   *route
	timeout time.Duration
}

// NewSender makes a sender. It connects to public addresses only, unless private ones
// are allowed. Proxy is the operator's HTTP proxy; nil: none.
func NewSender(allowPrivate bool, proxy *url.URL) *Sender {
	direct := &net.Dialer{Control: refusePrivate}
	if allowPrivate || proxy != nil { // the proxy may have any address
		direct.Control = nil
	}
	s := newSender(direct)
	if proxy == nil {
		return s
	}
	s.route.Proxy = http.ProxyURL(proxy)
	if !allowPrivate {
		// The proxy connects on its own, so the host is looked up here first, and the
		// request is refused if any of its addresses is. The proxy looks the host up
		// again, so it must refuse private ranges itself.
		s.route.lookUp, s.route.judge = net.DefaultResolver.LookupNetIP, judge
	}
	return s
}

func newSender(dialer *net.Dialer) *Sender {
	return &Sender{timeout: timeout, route: newRoute(dialer)}
}

// Send makes one attempt of at most 15 s. If ctx is cancelled first, the attempt is
// cut, which says nothing about the endpoint; callers check their ctx.
func (s *Sender) Send(ctx context.Context, r Request) Result {
	began := s.Env.Now()
	ctx, cancel := s.Env.WithTimeout(ctx, s.timeout)
	defer cancel()
	result := s.send(ctx, r)
	result.TookMs = s.Env.Since(began).Milliseconds()
	return result
}

func (s *Sender) send(ctx context.Context, r Request) Result {
	request, err := compose(ctx, r)
	if err != nil {
		return Result{Error: s.reason(err), TimedOut: timedOut(err)}
	}
	response, err := s.route.RoundTrip(request)
	if err != nil {
		return Result{Error: s.reason(err), TimedOut: timedOut(err)}
	}
	defer response.Body.Close()
	var answer []byte
	if response.StatusCode != http.StatusSwitchingProtocols { // its body is the connection
		// The status alone decides, even if the body breaks off. Reading past the
		// bound reaches the end of most bodies, so that their connections can be
		// reused.
		answer, _ = io.ReadAll(io.LimitReader(response.Body, maxAnswer+1))
	}
	result := Result{
		Status: int64(response.StatusCode),
		Answer: commerce.CleanText(string(answer[:min(len(answer), maxAnswer)]), commerce.MaxNote),
	}
	switch response.StatusCode / 100 {
	case 2:
		return result
	case 3:
		result.Error = "redirect"
	default:
		result.Error = "status " + strconv.Itoa(response.StatusCode)
	}
	result.RetryAfter = httpcall.RetryAfter(response.Header, s.Env.Now())
	return result
}

// compose makes the HTTP request of a webhook.
func compose(ctx context.Context, r Request) (*http.Request, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, r.URL, bytes.NewReader(r.Body))
	if err != nil {
		return nil, err
	}
	h := request.Header
	h.Set("User-Agent", "purveyor")
	h.Set("Content-Type", "application/json")
	if user := request.URL.User; user != nil {
		password, _ := user.Password()
		request.SetBasicAuth(user.Username(), password)
	}
	// The header itself is not sent. It allows net/http to send the event again if
	// the endpoint closed an idle connection at that moment: an event may arrive
	// twice.
	h["Idempotency-Key"] = []string{}
	Sign(h, r)
	return request, nil
}

// Sign sets the contract's signature and the three headers of Standard Webhooks.
// While a secret is rotated, X-Partner-Signature is made with the old secret, because
// it has room for one signature.
func Sign(h http.Header, r Request) {
	timestamp := strconv.FormatInt(int64(r.At)/1000, 10)
	h.Set("Webhook-Id", r.ID)
	h.Set("Webhook-Timestamp", timestamp)
	if r.Secret == "" {
		return
	}
	head := r.ID + "." + timestamp + "."
	standard, oldest := standardSignature(r.Secret, head, r.Body), r.Secret
	if r.PreviousSecret != "" {
		standard += " " + standardSignature(r.PreviousSecret, head, r.Body)
		oldest = r.PreviousSecret
	}
	h.Set("Webhook-Signature", standard)
	h.Set("X-Partner-Signature", hex.EncodeToString(digest([]byte(oldest), "", r.Body)))
}

func standardSignature(secret, head string, body []byte) string {
	return "v1," + base64.StdEncoding.EncodeToString(digest(standardKey(secret), head, body))
}

// digest is the HMAC-SHA256 of head and body.
func digest(key []byte, head string, body []byte) []byte {
	mac := hmac.New(sha256.New, key)
	mac.Write([]byte(head))
	mac.Write(body)
	return mac.Sum(nil)
}

// standardKey returns the base64 value after whsec_, padded or not, if it is valid
// and not empty, and otherwise the secret itself.
func standardKey(secret string) []byte {
	encoded, ok := strings.CutPrefix(secret, "whsec_")
	if !ok || strings.ContainsAny(encoded, "\r\n") { // the decoder would skip them
		return []byte(secret)
	}
	for _, encoding := range []*base64.Encoding{base64.StdEncoding, base64.RawStdEncoding} {
		if key, err := encoding.DecodeString(encoded); err == nil && len(key) > 0 {
			return key
		}
	}
	return []byte(secret)
}
