package e2e_test

import (
	"bytes"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"purveyor/internal/testkit/check"
)

// startAsUnit starts the program as systemd does: sockets from descriptor 3 on, and their
// number and the process they are for in variables.
func startAsUnit(t *testing.T, sockets []*os.File, env []string, args ...string) *process {
	t.Helper()
	cmd := exec.Command("sh", append([]string{"-c", `LISTEN_PID=$$ exec "$0" "$@"`, program(t)}, args...)...)
	cmd.ExtraFiles = sockets
	return startCommand(t, cmd, append(env, "LISTEN_FDS="+strconv.Itoa(len(sockets))))
}

// openSocket listens, and returns the descriptor that a unit inherits.
func openSocket(t *testing.T, address string) (socket *os.File, base string) {
	t.Helper()
	l, err := net.Listen("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	if socket, err = l.(*net.TCPListener).File(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = socket.Close() })
	return socket, "http://" + l.Addr().String()
}

// TestRestartsBehindSocket restarts the service under load while the test, in place of
// systemd, holds the socket. No request may fail.
func TestRestartsBehindSocket(t *testing.T) {
	s := newShop(t)
	socket, base := openSocket(t, "127.0.0.1:0")
	restarts, requests := 4, int64(2_000)
	if os.Getenv("PURVEYOR_TEST_LOAD") != "" {
		restarts, requests = 20, 100_000
	}
	begin := func() *process {
		return startAsUnit(t, []*os.File{socket}, nil, "serve", "--database", s.url())
	}
	p := begin()
	var answered atomic.Int64
	var callers sync.WaitGroup
	for w := range int64(loadWorkers) {
		callers.Go(func() {
			client := &http.Client{Timeout: 2 * patience, Transport: &http.Transport{}}
			for n := w; n < requests && !t.Failed(); n += loadWorkers {
				sendPatiently(t, client, base, s.partner.Keys.Live, n)
				answered.Add(1)
			}
		})
	}
	for r := range int64(restarts) {
		check.Eventually(t, 10*patience, pollPause, "the load to go on", func() bool {
			serves := servingLine.MatchString(p.stderr.String()) // else a signal would only end its start
			return serves && answered.Load() >= (r+1)*requests/int64(restarts+1) || t.Failed()
		})
		p.stop()
		p = begin()
	}
	callers.Wait()
	t.Logf("%d requests, %d restarts", answered.Load(), restarts)
	p.ready(&p.stderr, servingLine)
	p.stop()
}

// sendPatiently sends the request of this number as any HTTP client does, which may repeat
// one with an Idempotency-Key when an open connection ends. Every tenth is a report.
func sendPatiently(t *testing.T, client *http.Client, base, key string, n int64) {
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, base+"/v1/products/p1", nil)
	if n%10 == 0 {
		body := fmt.Appendf(nil, `{"external_order_id":"e%d","store_id":"s1","fulfillment_type":"pickup","items":[{"product_id":"p1","quantity":1,"price":100}]}`, n)
		req, err = http.NewRequestWithContext(t.Context(), http.MethodPost, base+"/v1/orders/report", bytes.NewReader(body))
	}
	if err != nil {
		t.Error(err)
		return
	}
	req.Header.Set("X-Api-Key", key)
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Idempotency-Key", fmt.Sprintf("k%d", n))
	res, err := client.Do(req)
	if err != nil {
		t.Errorf("request %d: %v", n, err)
		return
	}
	defer res.Body.Close()
	if answer, err := io.ReadAll(res.Body); err != nil || res.StatusCode/100 != 2 {
		t.Errorf("request %d: status %d, %v: %s", n, res.StatusCode, err, answer)
	}
}

// TestSocketRefused has sockets that cannot stand for --listen.
func TestSocketRefused(t *testing.T) {
	s := newShop(t)
	one, _ := openSocket(t, "127.0.0.1:0")
	every, _ := openSocket(t, "0.0.0.0:0")
	for _, c := range []struct {
		sockets []*os.File
		says    string
	}{
		{[]*os.File{one, one}, "systemd must pass one socket"},
		{[]*os.File{every}, "--public-url"},
	} {
		p := startAsUnit(t, c.sockets, nil, "serve", "--database", s.url())
		if code := p.exit(patience); code != 1 || !strings.Contains(p.stderr.String(), c.says) {
			t.Errorf("exit code %d, want 1 and a message with %q: %s", code, c.says, p.stderr.String())
		}
	}
}

// TestNotify reads what the service tells systemd: that it serves, that it works, and that it
// stops.
func TestNotify(t *testing.T) {
	s := newShop(t)
	dir, err := os.MkdirTemp("", "notify") // the path of a socket has 108 bytes
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(dir)
	address := &net.UnixAddr{Name: filepath.Join(dir, "s"), Net: "unixgram"}
	socket, err := net.ListenUnixgram("unixgram", address)
	if err != nil {
		t.Fatal(err)
	}
	defer socket.Close()
	p := startAsUnit(t, nil, []string{"NOTIFY_SOCKET=" + address.Name, "WATCHDOG_USEC=300000"},
		"serve", "--database", s.url(), "--listen", "127.0.0.1:0")
	await := func(state string) {
		t.Helper()
		buffer := make([]byte, 1024)
		for {
			_ = socket.SetReadDeadline(time.Now().Add(patience))
			n, err := socket.Read(buffer)
			if err != nil {
				t.Fatalf("waiting for %s: %v", state, err)
			}
			if string(buffer[:n]) == state {
				return
			}
		}
	}
	await("READY=1")
	for range 3 {
		await("WATCHDOG=1")
	}
	p.signal(15)
	await("STOPPING=1")
	if code := p.exit(patience); code != 0 {
		t.Errorf("exit code %d, want 0", code)
	}
}

// TestUnits lets systemd look at the units: nothing is wrong, and little is exposed.
func TestUnits(t *testing.T) {
	if _, err := exec.LookPath("systemd-analyze"); err != nil {
		t.Skip("systemd-analyze is not installed")
	}
	root := t.TempDir()
	folder := filepath.Join(root, "units")
	if err := os.CopyFS(folder, os.DirFS("../deploy/systemd")); err != nil {
		t.Fatal(err)
	}
	if err := os.CopyFS(folder, os.DirFS("../deploy/litestream")); err != nil {
		t.Fatal(err)
	}
	units, err := filepath.Glob(filepath.Join(folder, "*"))
	if err != nil || len(units) != 7 {
		t.Fatalf("%v: %v", units, err)
	}
	for _, u := range units { // the program need not be installed here
		text, err := os.ReadFile(u)
		if err != nil {
			t.Fatal(err)
		}
		text = bytes.ReplaceAll(text, []byte("/usr/bin/purveyor"), []byte("/bin/true"))
		text = bytes.ReplaceAll(text, []byte("/usr/bin/litestream"), []byte("/bin/true"))
		if err := os.WriteFile(u, text, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	out, err := exec.Command("systemd-analyze", append([]string{"verify", "--man=no"}, units...)...).CombinedOutput()
	if err != nil || len(bytes.TrimSpace(out)) > 0 {
		t.Errorf("systemd-analyze verify: %v\n%s", err, out)
	}
	for _, name := range []string{"purveyor.service", "purveyor-backup.service", "purveyor-litestream.service", "purveyor-replica.service"} {
		out, err := exec.Command("systemd-analyze", "security", "--no-pager", "--offline=true", filepath.Join(folder, name)).CombinedOutput()
		level := exposure.FindSubmatch(out)
		if err != nil || level == nil {
			t.Fatalf("systemd-analyze security: %v\n%s", err, out)
		}
		if value, _ := strconv.ParseFloat(string(level[1]), 64); value > 2 {
			t.Errorf("%s is exposed by %s, want at most 2.0:\n%s", name, level[1], out)
		}
	}
}

var exposure = regexp.MustCompile(`Overall exposure level for \S+: ([0-9.]+)`)
