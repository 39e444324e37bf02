package webhook

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"strconv"
	"strings"
)

// sign appends the contract's signature and the three headers of Standard
// Webhooks. While a secret is rotated the first, which has room for one
// signature only, is made with the old one.
func sign(b []byte, r Request) []byte {
	timestamp := strconv.FormatInt(r.At/1000, 10)
	b = header(b, "Webhook-Id", r.ID)
	b = header(b, "Webhook-Timestamp", timestamp)
	if r.Secret == "" {
		return b
	}
	head := []byte(r.ID + "." + timestamp + ".")
	signatures := standardSignature(r.Secret, head, r.Body)
	partnerSecret := r.Secret
	if r.PreviousSecret != "" {
		signatures += " " + standardSignature(r.PreviousSecret, head, r.Body)
		partnerSecret = r.PreviousSecret
	}
	b = header(b, "Webhook-Signature", signatures)
	return header(b, "X-Partner-Signature", hex.EncodeToString(mac([]byte(partnerSecret), r.Body)))
}

func standardSignature(secret string, signed ...[]byte) string {
	return "v1," + base64.StdEncoding.EncodeToString(mac(standardKey(secret), signed...))
}

func mac(key []byte, text ...[]byte) []byte {
	m := hmac.New(sha256.New, key)
	for _, part := range text {
		m.Write(part)
	}
	return m.Sum(nil)
}

// standardKey is what follows whsec_ if that is base64, padded or not, of at
// least one byte; else the secret itself.
func standardKey(secret string) []byte {
	encoded, ok := strings.CutPrefix(secret, "whsec_")
	if !ok || strings.ContainsAny(encoded, "\r\n") { // which the decoder would skip
		return []byte(secret)
	}
	for _, encoding := range []*base64.Encoding{base64.StdEncoding, base64.RawStdEncoding} {
		if key, err := encoding.DecodeString(encoded); err == nil && len(key) > 0 {
			return key
		}
	}
	return []byte(secret)
}
