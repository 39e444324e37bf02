package webhook

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"net/http"
	"strconv"
	"strings"
)

// sign sets the contract's signature and the three headers of Standard Webhooks.
// While a secret is rotated, X-Partner-Signature is made with the old secret, because
// it has room for one signature.
func sign(h http.Header, r Request) {
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
