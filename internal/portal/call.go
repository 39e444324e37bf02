package portal

import (
	"bytes"
	"errors"
	"net/http"
	"net/url"
	"strconv"

	"purveyor/internal/commerce"
	"purveyor/internal/web"

	"github.com/go-json-experiment/json"
)

// API answers calls of members in test mode, as package api does.
type API interface {
	ServeMember(w http.ResponseWriter, r *http.Request, p commerce.Partner, m commerce.Member)
	Operations() []string
}

// anyCase finds the names of an answer for fields that begin with a capital letter.
var anyCase = json.MatchCaseInsensitiveNames(true)

// answer is what the API has answered.
type answer struct {
	status int
	body   bytes.Buffer
	header http.Header
}

// Header implements http.ResponseWriter.
func (a *answer) Header() http.Header { return a.header }

// Write implements http.ResponseWriter.
func (a *answer) Write(b []byte) (int, error) {
	a.WriteHeader(http.StatusOK)
	return a.body.Write(b)
}

// WriteHeader implements http.ResponseWriter.
func (a *answer) WriteHeader(status int) {
	if a.status == 0 {
		a.status = status
	}
}

// call calls the API in test mode for the member. The key of the form is the idempotency key, so that a form
// that is sent twice does nothing twice.
func (v *visit) call(method, target string, body []byte) (*answer, error) {
	if v.partner.Suspended {
		return nil, &commerce.Error{Kind: commerce.KindForbidden, Code: "suspended", Message: "The merchant has suspended this access"}
	}
	at, err := url.ParseRequestURI(target)
	if err != nil {
		return nil, commerce.Invalid("path", "The path cannot be called")
	}
	r, err := http.NewRequestWithContext(v.Context(), method, "/", bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	r.URL, r.RequestURI, r.RemoteAddr = at, target, v.RemoteAddr
	r.Header.Set("User-Agent", "portal")
	r.Header.Set(web.TraceHeader, v.w.TraceID)
	if len(body) > 0 {
		r.Header.Set("Content-Type", "application/json")
	}
	if key := v.PostFormValue("key"); key != "" && method == post {
		r.Header.Set("Idempotency-Key", key)
	}
	a := &answer{header: http.Header{}}
	v.p.api.ServeMember(a, r, v.partner, v.member)
	return a, nil
}

// ask calls the API with a body in JSON, and reads the answer. A refusal of the API becomes an error.
func (v *visit) ask(target string, body map[string]any, into any) error {
	text, err := json.Marshal(body, json.Deterministic(true))
	if err != nil {
		return err
	}
	a, err := v.call(post, target, text)
	if err != nil {
		return err
	}
	if a.status < http.StatusMultipleChoices {
		return json.Unmarshal(a.body.Bytes(), into, anyCase)
	}
	var refused struct{ Error, Code, Field string }
	if err := json.Unmarshal(a.body.Bytes(), &refused, anyCase); err != nil {
		return err
	}
	wait, _ := strconv.Atoi(a.header.Get("Retry-After")) // 0 without it
	return &web.Error{Status: a.status, Code: refused.Code, Field: refused.Field, Message: refused.Error, RetryAfter: wait}
}

// isFailure reports whether the API has failed, and not refused. It is shown without the form, since something
// may have been done.
func isFailure(err error) bool {
	e, ok := errors.AsType[*web.Error](err)
	return ok && e.Status >= http.StatusInternalServerError
}
