package webhook

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
	"syscall"
	"time"

	"purveyor/internal/commerce"
)

const (
	maxHeaders = 32 << 10 // of an answer's headers, in bytes

	idleTime           = time.Minute
	idleConnections    = 512
	connectionsPerHost = 64 // idle or in use
)

// route sends requests to endpoints, directly or through the operator's proxy.
type route struct {
	*http.Transport

	// lookUp and judge are set only with a proxy. Without one, the dialer judges the
	// address that it connects to.
	lookUp func(ctx context.Context, network, host string) ([]netip.Addr, error)
	judge  func(netip.Addr) error
}

// newRoute makes a transport for this dialer. It reads no proxy from the environment,
// does not decompress answers, and returns a redirect like any other answer.
func newRoute(dialer *net.Dialer) *route {
	return &route{Transport: &http.Transport{
		DialContext:            dialer.DialContext,
		ForceAttemptHTTP2:      true,
		DisableCompression:     true,
		MaxResponseHeaderBytes: maxHeaders,
		MaxIdleConns:           idleConnections,
		MaxIdleConnsPerHost:    connectionsPerHost,
		MaxConnsPerHost:        connectionsPerHost,
		IdleConnTimeout:        idleTime,
	}}
}

// RoundTrip implements http.RoundTripper.
func (r *route) RoundTrip(request *http.Request) (*http.Response, error) {
	if r.judge != nil {
		if err := r.check(request.Context(), request.URL.Hostname()); err != nil {
			return nil, err
		}
	}
	return r.Transport.RoundTrip(request)
}

// check looks a host up and judges each of its addresses.
func (r *route) check(ctx context.Context, host string) error {
	addresses, err := r.lookUp(ctx, "ip", host)
	for _, a := range addresses {
		if err := r.judge(a); err != nil {
			return err
		}
	}
	return err
}

// refusePrivate is the Control function of a net.Dialer. It checks the address of the
// connection itself, so no answer of a name server can get around it.
func refusePrivate(_, address string, _ syscall.RawConn) error {
	target, err := netip.ParseAddrPort(address)
	if err != nil {
		return err
	}
	return judge(target.Addr())
}

// judge returns an error for an address that is not on the public internet.
func judge(a netip.Addr) error {
	if kind := reserved(a); kind != "" {
		return &addressError{a, kind}
	}
	return nil
}

type addressError struct {
	address netip.Addr
	kind    string
}

// RefusedAddress is the start of the error of an attempt whose address was refused.
const RefusedAddress = "address "

func (e *addressError) Error() string {
	return fmt.Sprintf(RefusedAddress+"%s is %s", e.address, e.kind)
}

// Refused returns the kind of address of a host to which a Sender connects only with
// the operator's permission. Empty: the host is a public address, or a name, which
// only a lookup can judge.
func Refused(host string) string {
	if name := strings.ToLower(strings.TrimSuffix(host, ".")); name == "localhost" || strings.HasSuffix(name, ".localhost") {
		return "loopback"
	}
	if address, err := netip.ParseAddr(host); err == nil {
		return reserved(address)
	}
	return ""
}

// reserved returns the kind of an address that is not on the public internet; empty:
// it is public. IPv4 addresses inside IPv6 ones are judged as IPv4 addresses.
func reserved(a netip.Addr) string {
	a = a.Unmap().WithZone("")
	if nat64.Contains(a) {
		b := a.As16()
		a = netip.AddrFrom4([4]byte(b[12:]))
	}
	for _, r := range reservedRanges {
		if r.prefix.Contains(a) {
			return r.kind
		}
	}
	if a.Is6() && !globalUnicast.Contains(a) {
		return "reserved"
	}
	return ""
}

var (
	nat64         = netip.MustParsePrefix("64:ff9b::/96")
	globalUnicast = netip.MustParsePrefix("2000::/3")
)

type addressRange struct {
	prefix netip.Prefix
	kind   string
}

// The registries of special-purpose addresses (RFC 6890 and its successors), and the
// addresses at which clouds hand out a machine's credentials.
var reservedRanges = []addressRange{
	{netip.MustParsePrefix("169.254.169.254/32"), "a metadata service"},
	{netip.MustParsePrefix("100.100.100.200/32"), "a metadata service"},
	{netip.MustParsePrefix("168.63.129.16/32"), "a metadata service"},
	{netip.MustParsePrefix("192.0.0.192/32"), "a metadata service"},
	{netip.MustParsePrefix("fd00:ec2::254/128"), "a metadata service"},
	{netip.MustParsePrefix("fd20:ce::254/128"), "a metadata service"},

	{netip.MustParsePrefix("0.0.0.0/32"), "unspecified"},
	{netip.MustParsePrefix("0.0.0.0/8"), "reserved"},
	{netip.MustParsePrefix("10.0.0.0/8"), "private"},
	{netip.MustParsePrefix("100.64.0.0/10"), "private (carrier-grade NAT)"},
	{netip.MustParsePrefix("127.0.0.0/8"), "loopback"},
	{netip.MustParsePrefix("169.254.0.0/16"), "link-local"},
	{netip.MustParsePrefix("172.16.0.0/12"), "private"},
	{netip.MustParsePrefix("192.0.0.0/24"), "reserved"},
	{netip.MustParsePrefix("192.0.2.0/24"), "reserved"},
	{netip.MustParsePrefix("192.88.99.0/24"), "reserved"},
	{netip.MustParsePrefix("192.168.0.0/16"), "private"},
	{netip.MustParsePrefix("198.18.0.0/15"), "reserved"},
	{netip.MustParsePrefix("198.51.100.0/24"), "reserved"},
	{netip.MustParsePrefix("203.0.113.0/24"), "reserved"},
	{netip.MustParsePrefix("224.0.0.0/4"), "multicast"},
	{netip.MustParsePrefix("240.0.0.0/4"), "reserved"},

	{netip.MustParsePrefix("::/128"), "unspecified"},
	{netip.MustParsePrefix("::1/128"), "loopback"},
	{netip.MustParsePrefix("fc00::/7"), "private"},
	{netip.MustParsePrefix("fe80::/10"), "link-local"},
	{netip.MustParsePrefix("ff00::/8"), "multicast"},
	{netip.MustParsePrefix("2001::/23"), "reserved"}, // includes Teredo
	{netip.MustParsePrefix("2001:db8::/32"), "reserved"},
	{netip.MustParsePrefix("2002::/16"), "reserved"}, // 6to4
	{netip.MustParsePrefix("3fff::/20"), "reserved"},
}

// reason says in plain words why there was no answer.
func (s *Sender) reason(err error) string {
	var (
		address     *addressError
		lookup      *net.DNSError
		certificate *tls.CertificateVerificationError
		record      tls.RecordHeaderError
		wrapped     *url.Error
	)
	switch {
	case errors.As(err, &address):
		return address.Error()
	case errors.Is(err, context.Canceled):
		return "cut off: the service stopped"
	case timedOut(err):
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

func timedOut(err error) bool {
	var timeout net.Error
	return errors.Is(err, context.DeadlineExceeded) || errors.As(err, &timeout) && timeout.Timeout()
}
