package webhook

import (
	"encoding/base64"
	"net/url"
	"strconv"
	"strings"
)

// roomForHead is about what a request has besides its body.
const roomForHead = 512

// compose writes a request as it is sent, which is always of the same form:
// unsigned it takes 1.2 us, and 3.3 by net/http.
func (s *Sender) compose(r Request) (to endpoint, message []byte, err error) {
	u, err := url.Parse(r.URL) // it refuses control characters wherever they are
	if err != nil {
		return to, nil, err
	}
	if to, err = endpointOf(u); err != nil {
		return to, nil, err
	}
	b := make([]byte, 0, roomForHead+len(r.Body))
	b = append(b, "POST "...)
	b = append(b, u.RequestURI()...)
	b = append(b, " HTTP/1.1"...)
	b = header(b, "Host", hostHeader(u, to))
	b = header(b, "User-Agent", "purveyor")
	b = header(b, "Content-Type", "application/json")
	b = header(b, "Content-Length", strconv.Itoa(len(r.Body)))
	if u.User != nil {
		password, _ := u.User.Password()
		b = header(b, "Authorization", "Basic "+base64.StdEncoding.EncodeToString([]byte(u.User.Username()+":"+password)))
	}
	b = s.signers.sign(b, r)
	b = append(b, "\r\n\r\n"...)
	return to, append(b, r.Body...), nil
}

// header begins a line and leaves it open. No value has a line break: they are
// of URLs, ids, digits and base64.
func header(b []byte, name, value string) []byte {
	b = append(b, "\r\n"...)
	b = append(b, name...)
	b = append(b, ": "...)
	return append(b, value...)
}

// hostHeader is the host as it is looked up, with the port that the URL names.
func hostHeader(u *url.URL, to endpoint) string {
	host := to.host
	if strings.Contains(host, ":") {
		host, _, _ = strings.Cut(host, "%") // a zone means nothing elsewhere
		host = "[" + host + "]"
	}
	if port := u.Port(); port != "" {
		host += ":" + port
	}
	return host
}
