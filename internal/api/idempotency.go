package api

import (
	"bytes"
	"crypto/sha256"
	"net/http"

	"purveyor/internal/commerce"
	"purveyor/internal/commit"
	"purveyor/internal/web"
	"purveyor/internal/wire"

	"github.com/go-json-experiment/json"
)

// keyRequired is the idempotency key of an operation that needs one.
func (r *request) keyRequired() (string, error) {
	key, err := web.IdempotencyKey(r.Request)
	if err == nil && key == "" {
		err = &web.Error{Status: http.StatusBadRequest, Code: "idempotency_key_missing", Field: "Idempotency-Key",
			Message: "The header Idempotency-Key is required here"}
	}
	return key, err
}

// replyKey is the scope of an idempotency key: the partner, the mode of the
// request, its method and path.
func (r *request) replyKey(mode commerce.Mode, key string) commerce.ReplyKey {
	return commerce.ReplyKey{PartnerID: r.Partner.ID, Op: string(mode) + " " + r.Method + " " + r.URL.Path, Key: key}
}

// fingerprint is of the decoded request, encoded again: a repeat must have the
// same.
func fingerprint(in any) ([32]byte, error) {
	decoded, err := json.Marshal(in, json.Deterministic(true))
	return sha256.Sum256(decoded), err
}

// do runs a command: once for its key if there is one. in is the decoded
// request, which a repeat must equal.
func do[R any](a *API, r *request, mode commerce.Mode, key string, in any, cmd commit.Keyed[R], encode func(R) (int, []byte)) (reply, error) {
	if key == "" {
		result, err := commit.Do(r.Context(), a.committer, cmd)
		if err != nil {
			return reply{}, err
		}
		status, body := encode(result)
		return reply{status: status, body: body}, nil
	}
	print, err := fingerprint(in)
	if err != nil {
		return reply{}, err
	}
	if err := a.roomForReply(r, r.replyKey(mode, key)); err != nil {
		return reply{}, err
	}
	stored, err := commit.Do(r.Context(), a.committer, commit.Once(r.replyKey(mode, key), print, cmd, encode))
	return reply{status: stored.Status, body: stored.Body, replayed: stored.Replayed}, err
}

func ok(v any) (reply, error) { return reply{status: http.StatusOK, body: wire.Encode(v)}, nil }

// modeOf is the mode of a request: that of the key, and test with dev: true.
func (r *request) modeOf(dev bool) commerce.Mode {
	if dev {
		return commerce.Test
	}
	return r.Mode
}

// decodeBodyBy has f read the body of a request.
func (r *request) decodeBodyBy(f func(data []byte) error) error {
	return r.bodies.Decode(r.w, r.Request, r.Partner.ID, r.maxBody, f)
}

// decodeBody reads the JSON object of a request.
func (r *request) decodeBody(v any) error {
	return r.decodeBodyBy(func(data []byte) error { return decode(data, v) })
}

// decodeOptionalBody takes no body at all for an empty object.
func (r *request) decodeOptionalBody(v any) error {
	return r.decodeBodyBy(func(data []byte) error {
		if len(bytes.TrimSpace(data)) == 0 {
			return nil
		}
		return decode(data, v)
	})
}
