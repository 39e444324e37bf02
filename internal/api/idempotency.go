package api

import (
	"bytes"
	"crypto/sha256"
	"net/http"

	"purveyor/internal/commerce"
	"purveyor/internal/jsonin"
	"purveyor/internal/web"

	"github.com/go-json-experiment/json"
)

// idempotencyKey reads the header; empty: there is none, and the rules need none.
func (r *request) idempotencyKey(rule rules) (string, error) {
	key, err := web.IdempotencyKey(r.Request)
	if err == nil && key == "" && rule&needsKey != 0 {
		err = &web.Error{Status: http.StatusBadRequest, Code: "idempotency_key_missing", Field: "Idempotency-Key",
			Message: "The header Idempotency-Key is required here"}
	}
	return key, err
}

// replyKey is the scope of an idempotency key: the partner, the mode of the
// request, its method and path.
func (r *request) replyKey(key string) commerce.ReplyKey {
	return commerce.ReplyKey{PartnerID: r.Partner.ID, Op: string(r.mode()) + " " + r.Method + " " + r.URL.Path, Key: key}
}

// fingerprint is of the decoded request, encoded again: a repeat must have the
// same.
func fingerprint(in any) ([32]byte, error) {
	decoded, err := json.Marshal(in, json.Deterministic(true))
	return sha256.Sum256(decoded), err
}

// selfDecoder is a body that reads itself.
type selfDecoder interface{ decode(data []byte) error }

// decodeBody reads the JSON object of a request.
func (r *request) decodeBody(v any, rule rules) error {
	return r.api.bodies.Decode(r.w, r.Request, r.Partner.ID, r.maxBody, func(data []byte) error {
		if rule&needsNoBody != 0 && len(bytes.TrimSpace(data)) == 0 {
			return nil
		}
		if d, ok := v.(selfDecoder); ok {
			return d.decode(data)
		}
		return jsonin.Decode(data, v)
	})
}
