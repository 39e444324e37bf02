package e2e_test

import (
	"context"
	"crypto/tls"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"purveyor/internal/testkit/check"

	"golang.org/x/net/dns/dnsmessage"
)

const pebble = "github.com/letsencrypt/pebble/v2/cmd/pebble@v2.10.3"

// authority is a certificate authority that speaks ACME: Pebble, Let's Encrypt's server for tests.
type authority struct {
	url   string
	file  string // with the certificate of its own server
	roots []byte // that sign what it issues
	stop  func()
}

// startAuthority runs Pebble, which looks for names at these ports of this machine. It is installed
// once into the user's cache.
func startAuthority(t *testing.T, httpPort, tlsPort int) authority {
	t.Helper()
	cache, err := os.UserCacheDir()
	if err != nil {
		cache = os.TempDir()
	}
	folder := filepath.Join(cache, "purveyor", strings.ReplaceAll(filepath.Base(pebble), "@", "-"))
	program := filepath.Join(folder, "pebble")
	if _, err := os.Stat(program); err != nil {
		install := exec.Command("go", "install", pebble)
		install.Env = append(os.Environ(), "GOBIN="+folder, "GOFLAGS=-mod=mod")
		if out, err := install.CombinedOutput(); err != nil {
			t.Fatalf("this test needs %s, and it cannot be installed (is the Go module proxy reachable?): %v\n%s", pebble, err, out)
		}
	}
	dir := t.TempDir()
	cert, key := certify(t, 1)
	address, manage := fmt.Sprint("127.0.0.1:", freePort(t)), fmt.Sprint("127.0.0.1:", freePort(t))
	config, err := json.Marshal(map[string]any{"pebble": map[string]any{"listenAddress": address, "managementListenAddress": manage,
		"certificate": filepath.Join(dir, "cert.pem"), "privateKey": filepath.Join(dir, "key.pem"), "httpPort": httpPort, "tlsPort": tlsPort,
		"retryAfter": map[string]any{"authz": 1, "order": 1}, "profiles": map[string]any{"default": map[string]any{"description": "short", "validityPeriod": 86400}}}})
	if err != nil {
		t.Fatal(err)
	}
	for name, data := range map[string][]byte{"cert.pem": cert, "key.pem": key, "pebble.json": config} {
		if err := os.WriteFile(filepath.Join(dir, name), data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	ctx, stop := context.WithCancel(context.Background())
	server := exec.CommandContext(ctx, program, "-config", filepath.Join(dir, "pebble.json"), "-dnsserver", serveNames(t))
	server.Env = append(os.Environ(), "PEBBLE_VA_NOSLEEP=1")
	var log output
	server.Stdout, server.Stderr = &log, &log
	if err := server.Start(); err != nil {
		t.Fatal(err)
	}
	a := authority{url: "https://" + address + "/dir", file: filepath.Join(dir, "cert.pem"), stop: func() { stop(); _ = server.Wait() }} // it was killed
	t.Cleanup(func() {
		a.stop()
		if t.Failed() {
			t.Log(log.String())
		}
	})
	c := secureClient(t, "https://"+manage, "", false, cert)
	check.Eventually(t, patience, pollPause, "the authority", func() bool {
		answer, err := c.send(get("/roots/0"))
		a.roots = answer.body
		return err == nil && answer.status == 200
	})
	return a
}

// serveNames answers every question for a name with 127.0.0.1. Pebble asks over TCP.
func serveNames(t *testing.T) (address string) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	check.OK(t, err)
	t.Cleanup(func() { _ = l.Close() })
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			go answerName(conn)
		}
	}()
	return l.Addr().String()
}

func answerName(conn net.Conn) {
	defer conn.Close()
	size := make([]byte, 2)
	if _, err := io.ReadFull(conn, size); err != nil {
		return
	}
	question := make([]byte, binary.BigEndian.Uint16(size))
	var m dnsmessage.Message
	if _, err := io.ReadFull(conn, question); err != nil || m.Unpack(question) != nil {
		return
	}
	m.Response, m.Additionals = true, nil
	if q := m.Questions[0]; q.Type == dnsmessage.TypeA {
		m.Answers = []dnsmessage.Resource{{Header: dnsmessage.ResourceHeader{Name: q.Name, Type: q.Type, Class: q.Class}, Body: &dnsmessage.AResource{A: [4]byte{127, 0, 0, 1}}}}
	}
	if answer, err := m.AppendPack(make([]byte, 2, 512)); err == nil {
		binary.BigEndian.PutUint16(answer, uint16(len(answer)-2))
		_, _ = conn.Write(answer)
	}
}

// A service with a domain fetches its certificate at the start, by either challenge, keeps it where
// only its owner can read it, and starts with it again while the authority is away.
func TestCertificateOfADomain(t *testing.T) {
	t.Parallel()
	for _, challenge := range []string{"tls-alpn-01", "http-01"} {
		t.Run(challenge, func(t *testing.T) {
			t.Parallel()
			httpPort, tlsPort := freePort(t), freePort(t)
			asks := tlsPort
			if challenge == "http-01" {
				asks = freePort(t) // where nothing answers
			}
			ca := startAuthority(t, httpPort, asks)
			s := newShop(t)
			serve := []string{"serve", "--database", s.url(), "--tls-domain", "Shop.example.com", "--listen", fmt.Sprint("127.0.0.1:", tlsPort), "--redirect-listen", fmt.Sprint("127.0.0.1:", httpPort), "--acme-directory", ca.url}
			p := start(t, []string{"SSL_CERT_FILE=" + ca.file}, serve...)
			if base := p.serves(); base != "https://shop.example.com" {
				t.Errorf("its URL is %s", base)
			}
			check.Eventually(t, patience, pollPause, "the certificate", func() bool { return strings.Contains(p.stderr.String(), "the certificate is in use") })
			c := secureClient(t, "https://shop.example.com", s.partner.Keys.Live, true, ca.roots)
			c.http.Transport.(*http.Transport).DialContext = func(ctx context.Context, network, _ string) (net.Conn, error) {
				return new(net.Dialer).DialContext(ctx, network, fmt.Sprint("127.0.0.1:", tlsPort))
			}
			c.must(200, get("/v1/products/p1"))
			if _, err := tls.Dial("tcp", fmt.Sprint("127.0.0.1:", tlsPort), &tls.Config{ServerName: "other.example.com", InsecureSkipVerify: true}); err == nil {
				t.Error("another name gets a certificate")
			}
			redirects(t, fmt.Sprint("http://127.0.0.1:", httpPort))

			files, err := filepath.Glob(s.path() + "-tls/*")
			if err != nil || len(files) < 2 {
				t.Errorf("%v is kept, %v", files, err)
			}
			for _, path := range append(files, s.path()+"-tls") {
				if info, err := os.Stat(path); err != nil || info.Mode()&0o077 != 0 {
					t.Errorf("%s: %v, %v", path, info.Mode(), err)
				}
			}
			p.stop()
			ca.stop()
			p = start(t, nil, serve...)
			p.serves()
			c.must(200, get("/v1/products/p1"))
			p.stop()
		})
	}
}

// redirects checks what callers get that come without TLS.
func redirects(t *testing.T, base string) {
	t.Helper()
	plain := newClient(t, base, "")
	plain.http.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	if to := plain.must(302, get("/office?a=b")).header.Get("Location"); to != "https://shop.example.com/office?a=b" {
		t.Errorf("browsers go to %s", to)
	}
	a := plain.must(400, post("/v1/orders/report", "k", "{}"))
	if why := a.refusal(t, 400, "invalid_body"); !strings.Contains(why, "https://shop.example.com") {
		t.Error(why)
	}
}
