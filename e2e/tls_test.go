package e2e_test

import (
	"bufio"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"math/big"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"purveyor/internal/testkit/check"
)

// certify makes a certificate for 127.0.0.1, which signs itself, and returns its PEM and that of its key.
func certify(t *testing.T, serial int64) (cert, key []byte) {
	t.Helper()
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(serial), IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, DNSNames: []string{"localhost"}, NotAfter: time.Now().Add(time.Hour), IsCA: true, BasicConstraintsValid: true}
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

// secureClient trusts these certificates alone, and speaks HTTP/2 if it may.
func secureClient(t *testing.T, base, key string, http2 bool, trusted ...[]byte) *client {
	pool := x509.NewCertPool()
	for _, c := range trusted {
		pool.AppendCertsFromPEM(c)
	}
	transport := &http.Transport{TLSClientConfig: &tls.Config{RootCAs: pool}, ForceAttemptHTTP2: http2}
	t.Cleanup(transport.CloseIdleConnections)
	return &client{t, base, key, &http.Client{Transport: transport, Timeout: 2 * patience}}
}

// With a certificate in files the service speaks TLS: answers, bodies and streams work over HTTP/1
// and HTTP/2, a new certificate is used without a restart, and a broken one changes nothing.
func TestCertificateFiles(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	first, firstKey := certify(t, 1)
	second, secondKey := certify(t, 2)
	cert, key := s.file("cert.pem", ""), s.file("key.pem", "")
	write := func(path string, data []byte) {
		t.Helper()
		if err := os.WriteFile(path, data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write(cert, first)
	write(key, firstKey)
	p := start(t, nil, "serve", "--database", s.url(), "--listen", "127.0.0.1:0", "--tls-cert", cert, "--tls-key", key, "--sandbox-step", "1h", "--metrics-listen", "127.0.0.1:0")
	base := p.serves()
	if !strings.HasPrefix(base, "https://127.0.0.1:") {
		t.Fatalf("it serves on %s", base)
	}
	for _, http2 := range []bool{false, true} {
		c := secureClient(t, base, s.partner.Keys.Test, http2, first)
		a := c.must(200, get("/v1/products/p1"))
		if a.header.Get("X-Trace-Id") == "" {
			t.Error("no trace id")
		}
		c.must(200, get("/openapi.yaml")) // more than a record of TLS
		c.must(400, post("/v1/products/availability", "", strings.Repeat(" ", 300<<10)))
		name := fmt.Sprintf("T-%v", http2)
		var made struct {
			OrderID string `json:"order_id"`
		}
		c.must(201, post("/v1/orders/report", name, map[string]any{"external_order_id": name, "store_id": "s1", "items": []any{map[string]any{"product_id": "p1", "quantity": 1, "price": 100}}, "fulfillment_type": "pickup"})).decode(t, &made)
		c.followed(made.OrderID, http2)
	}

	write(cert, second) // which does not belong to the key
	secureClient(t, base, s.partner.Keys.Live, true, first).must(200, get("/v1/products/p1"))
	write(key, secondKey)
	secureClient(t, base, s.partner.Keys.Live, true, second).must(200, get("/v1/products/p1"))
	check.Eventually(t, patience, pollPause, "the log", func() bool {
		log := p.stderr.String()
		return strings.Contains(log, "private key does not match") && strings.Contains(log, "was read again")
	})
	if left := p.metric("purveyor_certificate_expiry_seconds"); left < 3000 || left > 3600 {
		t.Errorf("the certificate of an hour ends in %v s", left)
	}
	if plain := newClient(t, strings.Replace(base, "https", "http", 1), ""); plain.must(400, get("/v1/products/p1")).header.Get("X-Trace-Id") != "" {
		t.Error("it answers without TLS")
	}
	p.stop()
}

// followed opens the stream of an order, in which the service writes its status at once, and
// leaves it open.
func (c *client) followed(order string, http2 bool) {
	c.t.Helper()
	req, err := c.httpRequest(get("/v1/orders/" + order + "/tracking/stream"))
	if err != nil {
		c.t.Fatal(err)
	}
	res, err := c.http.Do(req)
	if err != nil {
		c.t.Fatal(err)
	}
	c.t.Cleanup(func() { _ = res.Body.Close() })
	line, err := bufio.NewReader(res.Body).ReadString('\n')
	if err != nil || line == "" || res.StatusCode != 200 || (res.ProtoMajor == 2) != http2 {
		c.t.Errorf("%s %d, %q, %v", res.Proto, res.StatusCode, line, err)
	}
}

// startLimited is start for a program that may open so many files.
func startLimited(t *testing.T, files int, args ...string) *process {
	t.Helper()
	limit := []string{"-c", fmt.Sprintf(`ulimit -n %d && exec "$0" "$@"`, files), program(t)}
	return startProgram(t, "sh", nil, append(limit, args...)...)
}

var metricsLine = regexp.MustCompile(`msg=metrics url=(\S+)/metrics`)

// metric reads a metric without labels.
func (p *process) metric(name string) (value float64) {
	p.t.Helper()
	at := metricsLine.FindStringSubmatch(p.stderr.String())
	if at == nil {
		p.t.Fatal("there are no metrics")
	}
	text := newClient(p.t, at[1], "").must(200, get("/metrics")).body
	line := regexp.MustCompile(`(?m)^` + name + ` (\S+)$`).FindSubmatch(text)
	if line == nil {
		p.t.Fatalf("there is no metric %s", name)
	}
	value, err := strconv.ParseFloat(string(line[1]), 64)
	check.OK(p.t, err)
	return value
}

// serves waits for the line with the base URL.
func (p *process) serves() (base string) {
	p.t.Helper()
	check.Eventually(p.t, patience, pollPause, "the service to print its address", func() bool {
		if match := servingLine.FindStringSubmatch(p.stderr.String()); match != nil {
			base = match[1]
		}
		return base != ""
	})
	return base
}

// Connections over TLS are bounded by address as others are.
func TestConnectionsOverTLSAreBounded(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	cert, key := certify(t, 1)
	files := map[string][]byte{"cert.pem": cert, "key.pem": key}
	for name, data := range files {
		if err := os.WriteFile(filepath.Join(s.dir, name), data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	serve := []string{"serve", "--database", s.url(), "--listen", "127.0.0.1:0", "--tls-cert", filepath.Join(s.dir, "cert.pem"), "--tls-key", filepath.Join(s.dir, "key.pem")}
	p := startLimited(t, 256, serve...)
	base := p.serves()
	pool := x509.NewCertPool()
	pool.AppendCertsFromPEM(cert)
	open := 0
	for range 40 {
		c, err := tls.Dial("tcp", strings.TrimPrefix(base, "https://"), &tls.Config{RootCAs: pool})
		if err != nil {
			continue
		}
		t.Cleanup(func() { _ = c.Close() })
		open++
	}
	if open != 32 {
		t.Errorf("%d connections of one address are open, want a quarter of half of 256", open)
	}
	if log := p.stderr.String(); !strings.Contains(log, "may open 256 files, so it takes 128 connections") {
		t.Error(log)
	}
	few := startLimited(t, 255, serve...)
	if code, log := few.exit(patience), few.stderr.String(); code != 1 || !strings.Contains(log, "may open 255 files, and a service needs 256") {
		t.Errorf("exit code %d: %s", code, log)
	}
}
