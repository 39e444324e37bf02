package api

import (
	"crypto/sha256"
	"encoding/base64"
	"net/http"
	"strings"

	"purveyor/internal/web"
)

// etag is the value of the header ETag, in the form in which it is set: a weak tag that is
// made from the bytes of the body, so equal tags mean equal bytes.
type etag []string

func etagOf(body []byte) etag {
	sum := sha256.Sum256(body)
	return etag{`W/"` + base64.RawURLEncoding.EncodeToString(sum[:16]) + `"`}
}

// tagged answers v as JSON with an ETag.
func tagged(v any) (reply, error) {
	answer, err := ok(v)
	answer.tag = etagOf(answer.body)
	return answer, err
}

// revalidate lets the caller keep an answer, but ask before each use.
var revalidate = []string{"private, no-cache"}

// notModified sets the headers of an answer with an ETag. If the caller has the same bytes
// already, it answers 304 and returns true.
//
// Such an answer has no X-Content-Type-Options: a browser guesses no content type in place of
// application/json, and no element of a page can send the key. A ninth header costs 3% of the
// rate of a list, because Go then needs a larger map, twice an answer.
func notModified(w *web.Writer, r *http.Request, tag etag) bool {
	if tag == nil {
		return false
	}
	h := w.Header()
	delete(h, "X-Content-Type-Options")
	h["Etag"], h["Cache-Control"] = tag, revalidate
	for _, list := range r.Header["If-None-Match"] {
		if namesTag(list, tag[0]) {
			w.WriteHeader(http.StatusNotModified)
			return true
		}
	}
	return false
}

// namesTag reports whether the value of If-None-Match is * or has the tag in its list. The
// comparison is weak: W/"a" and "a" are the same (RFC 9110, 13.1.2). What follows a
// malformed tag is ignored.
func namesTag(list, tag string) bool {
	if strings.TrimSpace(list) == "*" {
		return true
	}
	opaque := strings.TrimPrefix(tag, "W/")
	for {
		list = strings.TrimPrefix(strings.TrimLeft(list, " \t,"), "W/")
		if strings.HasPrefix(list, opaque) {
			return true
		}
		rest, quoted := strings.CutPrefix(list, `"`)
		_, after, closed := strings.Cut(rest, `"`)
		if !quoted || !closed {
			return false
		}
		list = after
	}
}
