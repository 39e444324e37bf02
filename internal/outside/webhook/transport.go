package webhook

import (
	"context"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"time"
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

// through sends all requests through a proxy. The proxy connects on its own, so the
// host is looked up here first, and the request is refused if any of its addresses
// is. The proxy looks the host up again, so it must refuse private ranges itself.
func (r *route) through(proxy *url.URL, judge func(netip.Addr) error) {
	r.Proxy = http.ProxyURL(proxy)
	r.lookUp, r.judge = net.DefaultResolver.LookupNetIP, judge
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
