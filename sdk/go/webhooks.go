package purveyor

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// Webhooks checks what is posted to your endpoint.
type Webhooks struct {
	// Secrets are those of the endpoint. While one is replaced, give both.
	Secrets []string

	// Tolerance is how far webhook-timestamp may be from now; 5 minutes.
	Tolerance time.Duration

	// StandardOnly refuses requests without webhook-signature. The other signature,
	// x-partner-signature, does not cover the time, so it does not stop a replay.
	StandardOnly bool

	// Now replaces the clock.
	Now func() time.Time
}

// ErrWebhook is why a request is not taken for a webhook of the service.
var ErrWebhook = errors.New("this is not a webhook of the service")

// Verify checks the signature and the time of a request, and returns its event. body is the
// body exactly as it came. The error is an ErrWebhook: answer 400 then.
func (w Webhooks) Verify(body []byte, header http.Header) (*WebhookEvent, error) {
	if err := w.verify(body, header); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrWebhook, err)
	}
	event := new(WebhookEvent)
	if err := json.Unmarshal(body, event); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrWebhook, err)
	}
	return event, nil
}

func (w Webhooks) verify(body []byte, header http.Header) error {
	if len(w.Secrets) == 0 {
		return errors.New("no secret is given")
	}
	id, at, signatures := header.Get("Webhook-Id"), header.Get("Webhook-Timestamp"), strings.Fields(header.Get("Webhook-Signature"))
	if at != "" || len(signatures) > 0 {
		if err := w.checkTime(at); err != nil {
			return err
		}
	}
	if len(signatures) > 0 {
		if id == "" {
			return errors.New("webhook-id is missing")
		}
		return w.anyOf(func(secret string) bool {
			sum := sum(standardKey(secret), id+"."+at+".", body)
			for _, signature := range signatures {
				given, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(signature, "v1,"))
				if err == nil && strings.HasPrefix(signature, "v1,") && hmac.Equal(given, sum) {
					return true
				}
			}
			return false
		})
	}
	given, err := hex.DecodeString(header.Get("X-Partner-Signature"))
	if err != nil || len(given) == 0 || w.StandardOnly {
		return errors.New("there is no signature")
	}
	return w.anyOf(func(secret string) bool { return hmac.Equal(given, sum([]byte(secret), "", body)) })
}

func (w Webhooks) anyOf(signed func(secret string) bool) error {
	for _, secret := range w.Secrets {
		if secret != "" && signed(secret) {
			return nil
		}
	}
	return errors.New("no signature is right")
}

func (w Webhooks) checkTime(text string) error {
	seconds, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		return errors.New("webhook-timestamp is missing or no number")
	}
	now, tolerance := time.Now, w.Tolerance
	if w.Now != nil {
		now = w.Now
	}
	if tolerance <= 0 {
		tolerance = 5 * time.Minute
	}
	if now().Sub(time.Unix(seconds, 0)).Abs() > tolerance {
		return errors.New("webhook-timestamp is too far from now")
	}
	return nil
}

func sum(key []byte, prefix string, body []byte) []byte {
	mac := hmac.New(sha256.New, key)
	mac.Write([]byte(prefix))
	mac.Write(body)
	return mac.Sum(nil)
}

// standardKey is the key of a secret: what the base64 behind whsec_ stands for, or else the
// whole text.
func standardKey(secret string) []byte {
	encoded, ok := strings.CutPrefix(secret, "whsec_")
	if ok && encoded != "" && !strings.ContainsAny(encoded, "\r\n") {
		for _, encoding := range []*base64.Encoding{base64.StdEncoding, base64.RawStdEncoding} {
			if key, err := encoding.DecodeString(encoded); err == nil {
				return key
			}
		}
	}
	return []byte(secret)
}
