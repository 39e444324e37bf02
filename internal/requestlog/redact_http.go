package requestlog

import (
	"net/http"
	"net/url"
	"strings"
)

const (
	mostTarget  = 2 << 10 // bytes of a path with its query
	mostHeader  = 512     // bytes of the value of a header
	mostHeaders = 32
)

// appendTarget appends the path and the query of a request without secrets. target is as the
// client has sent it.
func appendTarget(dst []byte, target string) []byte {
	if harmless(target) {
		return append(dst, target...)
	}
	path, query, queried := strings.Cut(target, "?")
	dst = appendEncoded(dst, path, url.PathUnescape, func(s string) string { return (&url.URL{Path: s}).EscapedPath() })
	if !queried {
		return dst
	}
	dst = append(dst, '?')
	for parameter := range strings.SplitSeq(query, "&") {
		name, value, valued := strings.Cut(parameter, "=")
		dst = appendEncoded(dst, name, url.QueryUnescape, url.QueryEscape)
		if valued {
			dst = append(dst, '=')
		}
		if hidesParameter(name) && value != "" {
			dst = append(dst, redacted...)
		} else {
			dst = appendEncoded(dst, value, url.QueryUnescape, url.QueryEscape)
		}
		dst = append(dst, '&')
	}
	return dst[:len(dst)-1]
}

// harmless reports whether a target has no secret and nothing to decode. It is quick, and right
// when it says so.
func harmless(target string) bool {
	if !plain(target) {
		return false
	}
	name := 0 // where the name of a parameter begins; 0: in the path, or in a value
	for i := range len(target) {
		switch target[i] {
		case '?', '&':
			name = i + 1
		case '=':
			if name > 0 && hides(target[name:i]) {
				return false
			}
			name = 0
		}
	}
	return true
}

// hidesParameter reports whether the value of a query parameter is hidden because of its name.
func hidesParameter(name string) bool {
	if decoded, err := url.QueryUnescape(name); err == nil {
		name = decoded
	}
	return hides(name)
}

func hides(name string) bool { return rulesOf(name)&(hideAlways|hideStrings|inMetadata) != 0 }

// appendEncoded appends a part of a URL without secrets. The part stays as it is if it has none.
func appendEncoded(dst []byte, part string, decode func(string) (string, error), encode func(string) string) []byte {
	if plain(part) {
		return append(dst, part...)
	}
	decoded, err := decode(part)
	if err != nil {
		return append(dst, redacted...) // what is in it cannot be known
	}
	clean, changed := appendText(nil, []byte(decoded))
	if !changed {
		return append(dst, part...)
	}
	return append(dst, strings.ReplaceAll(encode(string(clean)), url.QueryEscape(redacted), redacted)...)
}

// plain reports whether a part of a URL has nothing to decode, and no secret.
func plain(part string) bool {
	return strings.IndexByte(part, '%') < 0 && strings.IndexByte(part, '+') < 0 && !suspicious(part)
}

// Header is a header of a request or an answer, with its name in lower case.
type Header struct{ Name, Value string }

// ConnectionHeader is written into requests in test mode before they are logged: the port that they came from,
// which is the same for requests over one connection.
const ConnectionHeader = "X-Connection-Port"

const (
	traceHeader   = "X-Trace-Id"
	traceNo       = 15
	contentTypeNo = 2
	jsonType      = "application/json"
	jsonNo        = 16 // stands for Content-Type: application/json
)

// headerNames are the names that are written as one byte. The log has the numbers in its rows, so
// new names are added at the end.
var headerNames = []string{"", "Accept", "Content-Type", "Content-Length", "Content-Encoding", "Etag", "Idempotency-Key", "Idempotent-Replayed", "If-None-Match",
	"Ratelimit-Limit", "Ratelimit-Remaining", "Ratelimit-Reset", "Retry-After", "Traceparent", "User-Agent", traceHeader, "Content-Type", ConnectionHeader}

// headerNo is the number of a canonical name in headerNames, or 0, and whether the log keeps the
// header.
func headerNo(name string) (no byte, kept bool) {
	switch name {
	case "Accept":
		return 1, true
	case "Content-Type":
		return contentTypeNo, true
	case "Content-Length":
		return 3, true
	case "Content-Encoding":
		return 4, true
	case "Etag":
		return 5, true
	case "Idempotency-Key":
		return 6, true
	case "Idempotent-Replayed":
		return 7, true
	case "If-None-Match":
		return 8, true
	case "Ratelimit-Limit":
		return 9, true
	case "Ratelimit-Remaining":
		return 10, true
	case "Ratelimit-Reset":
		return 11, true
	case "Retry-After":
		return 12, true
	case "Traceparent":
		return 13, true
	case "User-Agent":
		return 14, true
	case traceHeader:
		return traceNo, true
	case ConnectionHeader:
		return 17, true
	}
	return 0, strings.HasPrefix(name, "Content-") || strings.HasPrefix(name, "Ratelimit-") || strings.HasPrefix(name, "Idempoten")
}

// appendRequestHeaders appends the headers of a request that are kept, in the order of their
// names, so that the same headers give the same bytes.
func appendRequestHeaders(dst []byte, from http.Header, traceID string) (_ []byte, cut bool) {
	var kept [mostHeaders]string
	n := 0
	for name := range from {
		if _, keeps := headerNo(name); !keeps {
			continue
		}
		if n == mostHeaders {
			cut = true
			break
		}
		at := n
		for ; at > 0 && kept[at-1] > name; at-- {
			kept[at] = kept[at-1]
		}
		kept[at] = name
		n++
	}
	h := headers{dst: dst, cut: cut, traceID: traceID}
	for _, name := range kept[:n] {
		no, _ := headerNo(name)
		h.add(no, name, from[name])
	}
	return h.dst, h.cut
}

// appendAnswerHeaders appends the headers of an answer that are kept. The service makes their
// values, so that they hold no secret. Every answer has the trace id of the row.
func appendAnswerHeaders(dst []byte, from http.Header) []byte {
	for i := range answerHeaders {
		h := &answerHeaders[i]
		for _, value := range from[h.name] {
			if h.no == contentTypeNo && value == jsonType {
				dst = append(dst, jsonNo)
				continue
			}
			dst = appendString(append(dst, h.no), value[:min(len(value), mostHeader)])
		}
	}
	return append(dst, traceNo, 0)
}

// answerHeaders are the headers of answers that are kept.
var answerHeaders = [...]struct {
	no   byte
	name string
}{{contentTypeNo, "Content-Type"}, {3, "Content-Length"}, {5, "Etag"}, {7, "Idempotent-Replayed"}, {9, "Ratelimit-Limit"}, {10, "Ratelimit-Remaining"},
	{11, "Ratelimit-Reset"}, {12, "Retry-After"}}

// headers are those of a request. A trace header with the trace id of the row is written without it.
type headers struct {
	dst     []byte
	lines   int
	cut     bool
	traceID string
}

func (h *headers) add(no byte, name string, values []string) {
	for _, value := range values {
		if h.lines++; h.lines > mostHeaders {
			h.cut = true
			return
		}
		if no == contentTypeNo && value == jsonType {
			h.dst = append(h.dst, jsonNo)
			continue
		}
		h.dst = append(h.dst, no)
		if no == 0 {
			h.dst, _ = appendClean(h.dst, strings.ToLower(name), mostHeader)
		}
		if no == traceNo && value == h.traceID {
			value = ""
		}
		var long bool
		h.dst, long = appendClean(h.dst, value, mostHeader)
		h.cut = h.cut || long
	}
}

// appendClean appends the length of a text without secrets, and the text, cut after so many
// bytes.
func appendClean(dst []byte, value string, most int) (_ []byte, cut bool) {
	if suspicious(value) {
		clean, _ := appendText(nil, []byte(value))
		value = string(clean)
	}
	if cut = len(value) > most; cut {
		value = string(whole([]byte(value[:most])))
	}
	return appendString(dst, value), cut
}
