package certificate

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"os"
	"sync"
	"time"

	"purveyor/internal/env"

	"golang.org/x/crypto/acme"
	"golang.org/x/crypto/acme/autocert"
)

// ACME is a certificate that a certificate authority issues for a name when it has seen
// that the name leads here. It is fetched at the start and renewed in time.
type ACME struct {
	env     env.Env
	domain  string
	manager *autocert.Manager

	mu      sync.Mutex
	current *tls.Certificate // nil: there is none yet
}

// New makes the certificate of a name. The folder keeps it with its key, and the key of
// the account; processes with one folder share them.
func New(e env.Env, domain, folder, directory string) (*ACME, error) {
	if err := writable(folder); err != nil {
		return nil, fmt.Errorf("the folder for certificates: %w", err)
	}
	return &ACME{env: e, domain: domain, manager: &autocert.Manager{
		Prompt: autocert.AcceptTOS, Cache: autocert.DirCache(folder), HostPolicy: autocert.HostWhitelist(domain),
		Client: &acme.Client{DirectoryURL: directory, UserAgent: "purveyor"}}}, nil
}

// writable makes the folder. Authorities limit how often they issue a certificate, so one that
// cannot be stored must not be asked for.
func writable(folder string) error {
	if err := os.Mkdir(folder, 0o700); err != nil && !errors.Is(err, os.ErrExist) {
		return err
	}
	probe, err := os.CreateTemp(folder, "probe-")
	if err != nil {
		return err
	}
	return errors.Join(probe.Close(), os.Remove(probe.Name()))
}

// Config returns what a server needs. The authority may also connect to it, for the
// challenge tls-alpn-01.
func (a *ACME) Config() *tls.Config { return a.manager.TLSConfig() }

// Challenges answers the authority's challenge http-01 on port 80, and passes other
// requests to next.
func (a *ACME) Challenges(next http.Handler) http.Handler {
	answer := a.manager.HTTPHandler(next)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if host, _, err := net.SplitHostPort(r.Host); err == nil {
			r.Host = host // where port 80 leads to another port here, the authority may name it
		}
		answer.ServeHTTP(w, r)
	})
}

// Ends returns when the certificate in use ends; zero: there is none yet.
func (a *ACME) Ends() time.Time {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.current == nil {
		return time.Time{}
	}
	return a.current.Leaf.NotAfter
}

// How often Run looks after the certificate, and tries again after a failure.
const (
	lookEvery  = time.Hour
	retryEvery = time.Minute + time.Second // autocert remembers a failure for a minute
)

// Run fetches the certificate before a caller needs it, and warns if it is not renewed,
// until ctx ends.
func (a *ACME) Run(ctx context.Context) {
	for ctx.Err() == nil {
		pause := lookEvery
		if err := a.look(ctx); err != nil && ctx.Err() == nil {
			slog.Warn("there is no certificate yet: see that ports 443 and 80 of the name lead here", "name", a.domain, "error", err)
			pause = retryEvery
		}
		_ = a.env.Sleep(ctx, pause) // an error says that ctx has ended
	}
}

// look gets the certificate from autocert, which fetches it if there is none. That may
// take minutes, and goes on if ctx ends first.
func (a *ACME) look(ctx context.Context) error {
	got := make(chan error, 1)
	a.env.Go(func() {
		// The cipher suite says that the caller knows the usual kind of keys.
		certificate, err := a.manager.GetCertificate(&tls.ClientHelloInfo{ServerName: a.domain, CipherSuites: []uint16{tls.TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256}})
		if err == nil {
			a.use(certificate)
		}
		got <- err
	})
	select {
	case err := <-got:
		return err
	case <-ctx.Done():
		return ctx.Err()
	}
}

// use remembers the certificate for Ends. It should have been renewed in the last third
// of its life.
func (a *ACME) use(certificate *tls.Certificate) {
	leaf := certificate.Leaf
	a.mu.Lock()
	news := a.current == nil || !a.current.Leaf.Equal(leaf)
	a.current = certificate
	a.mu.Unlock()
	if news {
		slog.Info("the certificate is in use", "name", a.domain, "ends", leaf.NotAfter)
	}
	if left := a.env.Until(leaf.NotAfter); left < leaf.NotAfter.Sub(leaf.NotBefore)/4 {
		slog.Warn("the certificate was not renewed: see that ports 443 and 80 of the name lead here", "name", a.domain, "ends", leaf.NotAfter)
	}
}
