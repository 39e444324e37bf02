package e2e_test

import (
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"purveyor/internal/testkit/check"

	"go.yaml.in/yaml/v3"
)

// example returns a file of deploy with replaced parts, each of which must be in it.
func example(t *testing.T, name string, oldnew ...string) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("..", "deploy", name))
	check.OK(t, err)
	for i := 0; i < len(oldnew); i += 2 {
		if !strings.Contains(string(data), oldnew[i]) {
			t.Fatalf("%s has no %q", name, oldnew[i])
		}
	}
	return strings.NewReplacer(oldnew...).Replace(string(data))
}

// proxied is a service that trusts a proxy at 127.0.0.1, and a partner with a key for
// 127.0.0.2 alone.
type proxied struct {
	*shop
	port string // of the service
	key  string
}

func newProxied(t *testing.T) proxied {
	t.Helper()
	s := newShop(t)
	_, c := s.serve("--trusted-proxy", "127.0.0.1/32")
	key := parseIssued(t, s.operate("partner", "add-key", s.partner.PartnerID, "--mode", "test", "--name", "Near", "--address", "127.0.0.2/32", "--json").ok(t))
	return proxied{s, regexp.MustCompile(`\d+$`).FindString(c.base), key.Keys.Test}
}

// uses calls the service through a proxy as a partner at 127.0.0.2 that claims another
// address: the key works, a long body arrives, and a stream is not kept back.
func (p proxied) uses(c *client, http2 bool) {
	t := p.t
	t.Helper()
	c.key = p.key
	dialer := &net.Dialer{LocalAddr: &net.TCPAddr{IP: net.IPv4(127, 0, 0, 2)}}
	transport := c.http.Transport.(*http.Transport)
	transport.DialContext = dialer.DialContext
	c.http.Transport = claiming{transport}
	var order struct {
		OrderID string `json:"order_id"`
	}
	check.Eventually(t, patience, pollPause, "the proxy", func() bool {
		a, err := c.send(get("/v1/products/p1"))
		return err == nil && a.status != http.StatusBadGateway
	})
	c.must(201, report("behind a proxy", "p1")).decode(t, &order)
	c.must(400, post("/v1/products/availability", "", strings.Repeat(" ", 300<<10)))
	c.followed(order.OrderID, http2)
}

// claiming adds an address that the caller does not have.
type claiming struct{ next http.RoundTripper }

func (c claiming) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("X-Forwarded-For", "192.0.2.9")
	return c.next.RoundTrip(r)
}

// The example for nginx works as it stands, with other names, ports and files.
func TestNginx(t *testing.T) {
	t.Parallel()
	nginx, err := exec.LookPath("nginx")
	if err != nil {
		t.Skip("nginx is not installed; the full run has it")
	}
	p := newProxied(t)
	dir, plain, tls := t.TempDir(), freePort(t), freePort(t)
	cert, key := certify(t, 1)
	site := example(t, "nginx.conf", "127.0.0.1:8080", "127.0.0.1:"+p.port,
		"listen 80;", fmt.Sprintf("listen 127.0.0.1:%d;", plain), "listen [::]:80;", "",
		"listen 443 ssl http2;", fmt.Sprintf("listen 127.0.0.1:%d ssl http2;", tls), "listen [::]:443 ssl http2;", "",
		"/etc/letsencrypt/live/shop.example.com/fullchain.pem", p.file("cert.pem", string(cert)),
		"/etc/letsencrypt/live/shop.example.com/privkey.pem", p.file("key.pem", string(key)))
	// One process, which ends with the test.
	main := fmt.Sprintf("daemon off; master_process off; pid %s/pid; events {} http { access_log off; include %s; ", dir, p.file("site.conf", site))
	for _, kind := range []string{"client_body", "proxy", "fastcgi", "uwsgi", "scgi"} {
		main += fmt.Sprintf("%s_temp_path %s/%[1]s; ", kind, dir)
	}
	startProgram(t, nginx, nil, "-p", dir, "-e", "stderr", "-c", p.file("nginx.conf", main+"}"))
	p.uses(secureClient(t, fmt.Sprintf("https://127.0.0.1:%d", tls), "", true, cert), true)
	c := newClient(t, fmt.Sprintf("http://127.0.0.1:%d", plain), p.key)
	c.must(403, get("/v1/products/p1"))
	c.http.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	if to := c.with("").must(302, get("/office?a=b")).header.Get("Location"); to != "https://shop.example.com/office?a=b" {
		t.Errorf("a browser is sent to %s", to)
	}
}

// The example for Caddy works as it stands, with its own variables.
func TestCaddy(t *testing.T) {
	t.Parallel()
	caddy, err := exec.LookPath("caddy")
	if err != nil {
		t.Skip("caddy is not installed; the full run has it")
	}
	p := newProxied(t)
	base := fmt.Sprintf("http://127.0.0.1:%d", freePort(t))
	config := p.file("Caddyfile", "{\n\tadmin off\n}\n"+example(t, "Caddyfile"))
	startProgram(t, caddy, []string{"SITE=" + base, "UPSTREAM=127.0.0.1:" + p.port, "XDG_DATA_HOME=" + t.TempDir(), "XDG_CONFIG_HOME=" + t.TempDir()},
		"run", "--adapter", "caddyfile", "--config", config)
	p.uses(newClient(t, base, ""), false)
}

// The settings in the example for containers are settings of the program, and what the service
// trusts is the network of its proxy.
func TestCompose(t *testing.T) {
	t.Parallel()
	var file struct {
		Services map[string]struct {
			Environment map[string]string
			ReadOnly    bool `yaml:"read_only"`
		}
		Networks map[string]struct {
			IPAM struct{ Config []struct{ Subnet string } }
		}
	}
	check.OK(t, yaml.Unmarshal([]byte(example(t, "compose.yaml")), &file))
	service := file.Services["purveyor"]
	var env []string
	for name, value := range service.Environment {
		env = append(env, name+"="+value)
	}
	operateIn(t, append(env, "PURVEYOR_LISTEN=0.0.0.0:8080"), "config", "check").ok(t)
	if subnet := file.Networks["default"].IPAM.Config[0].Subnet; service.Environment["PURVEYOR_TRUSTED_PROXY"] != subnet || !service.ReadOnly {
		t.Errorf("network %s, service %+v", subnet, service)
	}
}
