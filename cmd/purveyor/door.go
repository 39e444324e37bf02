package main

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"syscall"
	"time"

	"purveyor/internal/certificate"
	"purveyor/internal/commerce"
	"purveyor/internal/config"
	"purveyor/internal/env"
	"purveyor/internal/web"
)

// door is where callers come in: a listener, and with TLS a certificate. With one that is
// fetched, a second listener redirects callers that come without TLS.
type door struct {
	net.Listener
	base        string    // the service's public URL, without a slash at its end
	certificate certified // nil: no TLS
	redirect    net.Listener
}

// certified is a source of certificates.
type certified interface {
	Config() *tls.Config
	// Challenges answers the certificate authority, and passes other requests to next.
	Challenges(next http.Handler) http.Handler
	// Ends returns when the certificate in use ends; zero: there is none yet.
	Ends() time.Time
	// Run takes care of the certificate until ctx ends.
	Run(ctx context.Context)
}

// checkTLS looks at the settings of TLS, and at the files of a certificate.
func (s settings) checkTLS(server config.Server, d config.Database) error {
	err := s.CheckTLS(server.PublicURL)
	switch {
	case err != nil:
	case s.TLSDomain != "":
		_, err = s.StateFolder(d)
	case s.TLSCert != "":
		_, err = certificate.ReadFiles(s.TLSCert, s.TLSKey)
	}
	return err
}

// openDoor begins to listen. A database that is given may keep the certificate beside it.
func (s settings) openDoor(d config.Database) (_ door, err error) {
	var at door
	switch {
	case s.TLSDomain != "":
		folder, err := s.StateFolder(d)
		if err != nil {
			return door{}, err
		}
		if at.certificate, err = certificate.New(env.Env{}, strings.ToLower(s.TLSDomain), folder, s.ACMEDirectory); err != nil {
			return door{}, err
		}
	case s.TLSCert != "":
		if at.certificate, err = certificate.ReadFiles(s.TLSCert, s.TLSKey); err != nil {
			return door{}, err
		}
	}
	if at.Listener, err = inherit(s.Server); err == nil && at.Listener == nil {
		at.Listener, err = listen("--listen", s.Listen)
	}
	if err != nil {
		return door{}, err
	}
	if s.TLSDomain != "" {
		if at.redirect, err = listen("--redirect-listen", s.RedirectListen); err != nil {
			return door{}, errors.Join(err, at.Close())
		}
	}
	scheme := "http://"
	if s.Encrypts() {
		scheme = "https://"
	}
	at.base = strings.TrimSuffix(cmp.Or(s.PublicURL, scheme+at.Addr().String()), "/")
	return at, nil
}

func listen(flag, address string) (net.Listener, error) {
	l, err := net.Listen("tcp", address)
	switch {
	case errors.Is(err, syscall.EADDRINUSE):
		return nil, fmt.Errorf("%s is in use by another program; end it, or choose another address with %s", address, flag)
	case errors.Is(err, syscall.EACCES):
		return nil, fmt.Errorf("listen on %s: the system keeps this port for root: allow it (CAP_NET_BIND_SERVICE), or choose another with %s and have that one forwarded", address, flag)
	case err != nil:
		return nil, fmt.Errorf("listen on %s: %w", address, err)
	}
	return l, nil
}

// Close stops listening.
func (d door) Close() error {
	if d.redirect == nil {
		return d.Listener.Close()
	}
	return errors.Join(d.Listener.Close(), d.redirect.Close())
}

// serve lets a server answer callers until it is shut down, or no more are taken.
func (d door) serve(server *http.Server, callers *web.Connections) error {
	if d.certificate == nil {
		return server.Serve(callers)
	}
	server.TLSConfig = d.certificate.Config()
	return server.ServeTLS(callers, "", "")
}

// care keeps the certificate current, and answers callers that come without TLS, until ctx
// ends.
func (d door) care(ctx context.Context, proxies web.Proxies) {
	if d.certificate == nil {
		return
	}
	if d.redirect != nil {
		server := newHTTPServer(d.certificate.Challenges(redirectTo(d.base)), proxies)
		defer server.Close()
		go func() {
			if err := server.Serve(limitConnections(d.redirect, mostConnections()/16, proxies)); !errors.Is(err, http.ErrServerClosed) {
				slog.Error("nothing answers the certificate authority any more", "address", d.redirect.Addr(), "error", err)
			}
		}()
	}
	d.certificate.Run(ctx)
	<-ctx.Done()
}

// redirectTo sends browsers to the service's URL. Others are refused, so that a partner
// that sends its key without TLS finds out.
func redirectTo(base string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodGet && r.Method != http.MethodHead {
			web.WriteError(web.WriterOf(w), commerce.Invalid("url", "the URL must begin with %s", base))
			return
		}
		http.Redirect(w, r, base+r.URL.RequestURI(), http.StatusFound)
	})
}

// mostConnections reserves half of the file descriptors for the database and the
// service's own calls.
func mostConnections() int { return min(config.MostConnections, config.Descriptors()/2) }

// limitConnections gives one address a quarter of all connections.
func limitConnections(l net.Listener, most int, proxies web.Proxies) *web.Connections {
	return web.LimitConnections(env.Env{}, l, most, max(1, most/4), proxies)
}

// streams bounds what a connection of HTTP/2, which browsers use over TLS, can hold: so
// many requests at a time, and so many bytes of bodies that no handler has read yet.
var streams = &http.HTTP2Config{
	MaxConcurrentStreams:          64,
	MaxReceiveBufferPerStream:     64 << 10,
	MaxReceiveBufferPerConnection: 64 << 10,
	WriteByteTimeout:              30 * time.Second, // for a peer that reads nothing; the server's own timeouts are for each request
}
