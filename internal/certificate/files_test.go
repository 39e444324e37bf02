package certificate

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"log/slog"
	"math/big"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// written makes a certificate that ends then, and returns its PEM and that of its key.
func written(t *testing.T, ends time.Time) (cert, key []byte) {
	t.Helper()
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(ends.Unix()), DNSNames: []string{"shop.example"}, NotAfter: ends}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &private.PublicKey, private)
	if err != nil {
		t.Fatal(err)
	}
	secret, err := x509.MarshalPKCS8PrivateKey(private)
	if err != nil {
		t.Fatal(err)
	}
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}), pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: secret})
}

// The files are read again when they change. While they cannot be used, the certificate before
// stays, and the log says why, once for each reason.
func TestFilesAreReadAgain(t *testing.T) {
	var log bytes.Buffer
	slog.SetDefault(slog.New(slog.NewTextHandler(&log, nil)))
	dir := t.TempDir()
	cert, key := filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem")
	put := func(path string, data []byte) {
		t.Helper()
		next := path + ".next" // as programs that renew certificates do: the name gets another file
		if err := os.WriteFile(next, data, 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Rename(next, path); err != nil {
			t.Fatal(err)
		}
	}
	first, second := time.Unix(4_000_000_000, 0).UTC(), time.Unix(4_100_000_000, 0).UTC()
	cert1, key1 := written(t, first)
	cert2, key2 := written(t, second)
	put(cert, cert1)
	put(key, key1)
	f, err := ReadFiles(cert, key)
	if err != nil {
		t.Fatal(err)
	}
	serve := func() time.Time {
		t.Helper()
		c, err := f.Config().GetCertificate(&tls.ClientHelloInfo{})
		if err != nil {
			t.Fatal(err)
		}
		return c.Leaf.NotAfter.UTC()
	}
	for _, step := range []struct {
		name   string
		change func()
		ends   time.Time
		says   string // in a new line of the log; empty: there is none
	}{
		{"nothing changed", func() {}, first, ""},
		{"the certificate without its key", func() { put(cert, cert2) }, first, "private key does not match"},
		{"nothing changed since", func() {}, first, ""},
		{"half a certificate", func() { put(cert, cert2[:100]) }, first, "failed to find any PEM data"},
		{"no key", func() { put(cert, cert2); _ = os.Remove(key) }, first, "no such file"},
		{"both", func() { put(key, key2) }, second, "can be used again"},
		{"back", func() { put(key, key1); put(cert, cert1) }, first, "was read again"},
	} {
		log.Reset()
		step.change()
		if ends := serve(); !ends.Equal(step.ends) || !f.Ends().Equal(step.ends) {
			t.Errorf("%s: it ends %v and %v, want %v", step.name, ends, f.Ends(), step.ends)
		}
		if text := log.String(); (text == "") != (step.says == "") || !strings.Contains(text, step.says) || strings.Count(text, "WARN") > 1 {
			t.Errorf("%s: the log has %q, want %q", step.name, text, step.says)
		}
	}
	put(cert, nil)
	if _, err := ReadFiles(cert, key); err == nil || !strings.Contains(err.Error(), cert) {
		t.Errorf("an empty file: %v", err)
	}
}
