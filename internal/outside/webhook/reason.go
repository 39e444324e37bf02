package webhook

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/url"
	"strings"
	"syscall"

	"purveyor/internal/commerce"
)

// reason says in plain words why there was no answer.
func (s *Sender) reason(err error) string {
	var (
		address     *addressError
		lookup      *net.DNSError
		certificate *tls.CertificateVerificationError
		record      tls.RecordHeaderError
		timeout     net.Error
		wrapped     *url.Error
	)
	switch {
	case errors.As(err, &address):
		return address.Error()
	case errors.Is(err, context.Canceled):
		return "cut off: the service stopped"
	case errors.Is(err, context.DeadlineExceeded), errors.As(err, &timeout) && timeout.Timeout():
		return fmt.Sprintf("no answer within %g s", s.timeout.Seconds())
	case errors.As(err, &lookup) && lookup.IsNotFound:
		return "no such host"
	case errors.As(err, &lookup):
		return "the look-up of the host name failed"
	case errors.As(err, &certificate):
		return commerce.CleanText("certificate is not valid: "+certificate.Err.Error(), commerce.MaxNote)
	case errors.As(err, &record):
		return "the endpoint does not speak TLS"
	case errors.Is(err, syscall.ECONNREFUSED):
		return "connection refused"
	case errors.Is(err, syscall.ECONNRESET), errors.Is(err, syscall.EPIPE):
		return "connection reset"
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return "connection closed without an answer"
	case errors.Is(err, syscall.EHOSTUNREACH), errors.Is(err, syscall.ENETUNREACH):
		return "host unreachable"
	case errors.As(err, &wrapped):
		return commerce.CleanText(wrapped.Err.Error(), commerce.MaxNote) // without the URL, which may contain a password
	}
	return commerce.CleanText(origins.Replace(err.Error()), commerce.MaxNote)
}

// origins are the prefixes of net/http's errors, which mean nothing to a partner.
var origins = strings.NewReplacer("net/http: ", "", "HTTP/1.x transport connection broken: ", "")
