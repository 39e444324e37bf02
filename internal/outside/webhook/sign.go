package webhook

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"hash"
	"strconv"
	"strings"
	"sync"
)

// sign appends the contract's signature and the three headers of Standard
// Webhooks. While a secret is rotated the first, which has room for one
// signature only, is made with the old one.
func (s *signers) sign(b []byte, r Request) []byte {
	timestamp := strconv.FormatInt(r.At/1000, 10)
	b = header(b, "Webhook-Id", r.ID)
	b = header(b, "Webhook-Timestamp", timestamp)
	if r.Secret == "" {
		return b
	}
	head := []byte(r.ID + "." + timestamp + ".")
	current := s.take(r.Secret)
	defer s.giveBack(current)
	b = current.standardSignature(header(b, "Webhook-Signature", ""), head, r.Body)
	oldest := current
	if r.PreviousSecret != "" {
		oldest = s.take(r.PreviousSecret)
		defer s.giveBack(oldest)
		b = oldest.standardSignature(append(b, ' '), head, r.Body)
	}
	b = header(b, "X-Partner-Signature", "")
	return hex.AppendEncode(b, oldest.sum(oldest.contract, r.Body))
}

// signer makes the signatures of a secret, for one goroutine at a time. What its
// hashes make of their keys is worth keeping: it took a third of composing a request.
type signer struct {
	secret             string
	contract, standard hash.Hash
	digest             [sha256.Size]byte
}

func newSigner(secret string) *signer {
	return &signer{secret: secret, contract: hmac.New(sha256.New, []byte(secret)), standard: hmac.New(sha256.New, standardKey(secret))}
}

func (s *signer) sum(h hash.Hash, text ...[]byte) []byte {
	h.Reset()
	for _, part := range text {
		h.Write(part)
	}
	return h.Sum(s.digest[:0])
}

func (s *signer) standardSignature(b []byte, signed ...[]byte) []byte {
	return base64.StdEncoding.AppendEncode(append(b, "v1,"...), s.sum(s.standard, signed...))
}

// signers keeps signers for the next requests. Its zero value has none.
type signers struct {
	mu   sync.Mutex
	free map[string][]*signer // by secret
	kept int
}

// maxSigners bounds what is kept of secrets, which change; then it begins anew.
const maxSigners = 1024

func (s *signers) take(secret string) *signer {
	s.mu.Lock()
	defer s.mu.Unlock()
	free := s.free[secret]
	if len(free) == 0 {
		return newSigner(secret)
	}
	last := len(free) - 1
	s.free[secret] = free[:last]
	s.kept--
	return free[last]
}

func (s *signers) giveBack(used *signer) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.free == nil || s.kept >= maxSigners {
		s.free, s.kept = map[string][]*signer{}, 0
	}
	s.free[used.secret] = append(s.free[used.secret], used)
	s.kept++
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
