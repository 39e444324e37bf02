package api

import (
	"bytes"
	"context"
	"crypto/sha256"
	"net/http"
	"strings"
	"unicode"
	"unicode/utf8"

	"purveyor/internal/api/wire"
	"purveyor/internal/commerce"
	"purveyor/internal/jsonin"
	"purveyor/internal/service"
	"purveyor/internal/web"

	"github.com/go-json-experiment/json"
)

// handler serves a route.
type handler = func(*API, *request) (reply, error)

// input is the decoded body of a request. call checks it and returns the input of the use
// case.
type input[C any] interface {
	call(r *request) (C, error)
}

// rules is a set of rules for a request.
type rules int

const (
	needsKey    rules = 1 << iota // the header Idempotency-Key is required
	needsNoBody                   // a request without a body counts as an empty object
	largeBody                     // the body may have the largest size
)

// keyed makes the handler of a call that takes effect at most once for its
// Idempotency-Key. The handler reads the key and the body, runs the use case, and answers
// with the reply that is stored for the key.
func keyed[In input[C], C, R any](rule rules, run func(*service.Service, context.Context, service.Caller, C, service.Once[R]) (service.Outcome[R], error),
	encode func(*request, R) (status int, body []byte)) handler {
	return func(a *API, r *request) (reply, error) {
		key, err := r.idempotencyKey(rule)
		if err != nil {
			return reply{}, err
		}
		in, what, err := readInput[In](r, rule)
		if err != nil {
			return reply{}, err
		}
		once := service.Once[R]{Key: r.replyKey(key), Encode: func(result R) (int, []byte) { return encode(r, result) }}
		if once.Fingerprint, err = fingerprint(in); err != nil {
			return reply{}, err
		}
		out, err := run(a.service, r.Context(), r.caller(), what, once)
		switch {
		case err != nil:
			return reply{}, err
		case out.Reply.Status != 0:
			return reply{status: out.Reply.Status, body: out.Reply.Body, replayed: out.Replayed}, nil
		case out.Pending != nil:
			return reply{}, &web.Error{Status: http.StatusConflict, Code: "in_progress", RetryAfter: 1, OrderID: out.Pending.OrderID,
				Message: "This is still in progress; repeat it with the same Idempotency-Key for its result"}
		}
		status, body := encode(r, out.Result)
		return reply{status: status, body: body}, nil
	}
}

// called makes the handler of a call without a key. It answers with status 200 and the
// result of encode as JSON.
func called[In input[C], C, R any](rule rules, run func(*service.Service, context.Context, service.Caller, C) (R, error), encode func(*request, R) any) handler {
	return func(a *API, r *request) (reply, error) {
		_, what, err := readInput[In](r, rule)
		if err != nil {
			return reply{}, err
		}
		result, err := run(a.service, r.Context(), r.caller(), what)
		if err != nil {
			return reply{}, err
		}
		return ok(encode(r, result))
	}
}

// ofOrder makes the handler of a path that names an order: it finds the order for the
// caller.
func ofOrder(h func(a *API, r *request, order commerce.Order) (reply, error)) handler {
	return func(a *API, r *request) (reply, error) {
		order, err := r.order()
		if err != nil {
			return reply{}, err
		}
		return h(a, r, order)
	}
}

func readInput[In input[C], C any](r *request, rule rules) (in In, what C, err error) {
	if err := r.decodeBody(&in, rule); err != nil {
		return in, what, err
	}
	what, err = in.call(r)
	return in, what, err
}

// ok answers v as JSON.
func ok(v any) (reply, error) { return reply{status: http.StatusOK, body: wire.Encode(v)}, nil }

// idempotencyKey reads the header. It returns "" if the header is absent and the rules
// allow that.
func (r *request) idempotencyKey(rule rules) (string, error) {
	key, err := readIdempotencyKey(r.Header["Idempotency-Key"])
	if err == nil && key == "" && rule&needsKey != 0 {
		err = &web.Error{Status: http.StatusBadRequest, Code: "idempotency_key_missing", Field: "Idempotency-Key",
			Message: "The header Idempotency-Key is required here"}
	}
	return key, err
}

// readIdempotencyKey reads the values of the header: one key of 1 to 255 printable
// characters, without surrounding quotes. If there is no value, it returns "".
func readIdempotencyKey(given []string) (string, error) {
	if len(given) == 0 {
		return "", nil
	}
	key := given[0]
	if len(key) >= 2 && key[0] == '"' && key[len(key)-1] == '"' {
		key = key[1 : len(key)-1]
	}
	if len(given) > 1 || key == "" || len(key) > 4*255 || utf8.RuneCountInString(key) > 255 || strings.ContainsFunc(key, notPrintable) {
		return "", &web.Error{Status: http.StatusBadRequest, Code: "idempotency_key_invalid", Field: "Idempotency-Key",
			Message: "Idempotency-Key must be given once, as 1 to 255 printable characters"}
	}
	return key, nil
}

func notPrintable(r rune) bool { return r == utf8.RuneError || !unicode.IsPrint(r) }

// replyKey returns the idempotency key with its scope: the partner, the mode, the method
// and the path of the request.
func (r *request) replyKey(key string) commerce.ReplyKey {
	return commerce.ReplyKey{PartnerID: r.Partner.ID, Op: string(r.mode()) + " " + r.Method + " " + r.URL.Path, Key: key}
}

// fingerprint is the SHA-256 of the decoded request, encoded again. A repeat of the
// request has the same fingerprint.
func fingerprint(in any) ([32]byte, error) {
	decoded, err := json.Marshal(in, json.Deterministic(true))
	return sha256.Sum256(decoded), err
}

// selfDecoder is a body that decodes itself.
type selfDecoder interface{ decode(data []byte) error }

// decodeBody reads the JSON object of a request.
func (r *request) decodeBody(v any, rule rules) error {
	most := web.MaxBody
	if rule&largeBody != 0 {
		most = web.MaxLargeBody
	}
	return r.api.bodies.Decode(r.w, r.Request, r.Partner.ID, most, func(data []byte) error {
		if rule&needsNoBody != 0 && len(bytes.TrimSpace(data)) == 0 {
			return nil
		}
		if d, ok := v.(selfDecoder); ok {
			return d.decode(data)
		}
		return jsonin.Decode(data, v)
	})
}
