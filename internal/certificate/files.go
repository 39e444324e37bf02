// Package certificate has the TLS certificate of the service: from files, or from a
// certificate authority that speaks ACME, such as Let's Encrypt.
package certificate

import (
	"context"
	"crypto/tls"
	"fmt"
	"log/slog"
	"net/http"
	"os"
	"sync"
	"time"
)

// Files is a certificate with its key in PEM files. They are read again at the first
// handshake after they have changed. If that fails, the certificate before stays in use.
type Files struct {
	cert, key string

	mu      sync.Mutex
	current *tls.Certificate
	seen    [2]os.FileInfo // of the files when they were last read
	said    string         // the failure in the log; empty: the files are in use
}

// ReadFiles reads the certificate.
func ReadFiles(cert, key string) (*Files, error) {
	f := &Files{cert: cert, key: key}
	return f, f.read()
}

// Config returns what a server needs.
func (f *Files) Config() *tls.Config {
	return &tls.Config{GetCertificate: func(*tls.ClientHelloInfo) (*tls.Certificate, error) { return f.latest(), nil }}
}

// Ends returns when the certificate in use ends.
func (f *Files) Ends() time.Time { return f.latest().Leaf.NotAfter }

// Run does nothing: files need no care.
func (f *Files) Run(context.Context) {}

// Challenges returns next: there is no authority that asks.
func (f *Files) Challenges(next http.Handler) http.Handler { return next }

// latest returns the certificate of the files, or the one before if they cannot be used.
func (f *Files) latest() *tls.Certificate {
	f.mu.Lock()
	defer f.mu.Unlock()
	switch err := f.read(); {
	case err != nil && err.Error() != f.said:
		f.said = err.Error()
		slog.Warn("the new certificate cannot be used; the one before stays in use", "ends", f.current.Leaf.NotAfter, "error", err)
	case err == nil && f.said != "":
		f.said = ""
		slog.Info("the certificate can be used again", "ends", f.current.Leaf.NotAfter)
	}
	return f.current
}

// read reads the files, unless they are those that are in use. Files that failed are
// read each time: a file that was only half written may look the same when it is whole.
func (f *Files) read() error {
	var now [2]os.FileInfo
	for i, path := range []string{f.cert, f.key} {
		info, err := os.Stat(path)
		if err != nil {
			return err
		}
		now[i] = info
	}
	if f.current != nil && same(now[0], f.seen[0]) && same(now[1], f.seen[1]) {
		return nil
	}
	certificate, err := tls.LoadX509KeyPair(f.cert, f.key)
	if err != nil {
		return fmt.Errorf("%s with %s: %w", f.cert, f.key, err)
	}
	if f.current != nil {
		slog.Info("the certificate was read again", "ends", certificate.Leaf.NotAfter)
	}
	f.current, f.seen = &certificate, now
	return nil
}

// same reports whether a file is the one that was read.
func same(a, b os.FileInfo) bool {
	return os.SameFile(a, b) && a.ModTime().Equal(b.ModTime()) && a.Size() == b.Size()
}
