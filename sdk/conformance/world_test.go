// Package conformance_test runs the cases of cases.json with each SDK against the real program,
// through a proxy that loses answers, makes errors and repeats requests. After each case the
// books must hold exactly what it says.
package conformance_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"zombiezen.com/go/sqlite"
	"zombiezen.com/go/sqlite/sqlitex"

	"purveyor/internal/testkit/check"
	"purveyor/internal/testkit/faultproxy"
)

// patience bounds waits that have no limit of their own.
const patience = 30 * time.Second

const root = "../.." // of the repository

// program is the path of the built program.
var program string

func TestMain(m *testing.M) { os.Exit(buildAndRun(m)) }

func buildAndRun(m *testing.M) int {
	flag.Parse()
	if testing.Short() {
		return m.Run()
	}
	dir, err := os.MkdirTemp("", "purveyor-sdk-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(dir)
	program = filepath.Join(dir, "purveyor")
	build := exec.Command("go", "build", "-ldflags=-w", "-o", program, "./cmd/purveyor")
	build.Dir, build.Stdout, build.Stderr = root, os.Stderr, os.Stderr
	if err := build.Run(); err != nil {
		fmt.Fprintln(os.Stderr, "the program does not build:", err)
		return 1
	}
	return m.Run()
}

// world is a service on a database of its own, behind a proxy.
type world struct {
	t       *testing.T
	file    string // of the database, if it is SQLite
	url     string // of the database
	base    string // of the service, past the proxy
	key     string
	proxy   *faultproxy.HTTP
	hooks   *hooks
	partner string
}

// secret signs webhooks; it is a whsec_ in base64.
const secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"

// newWorld starts a service with a catalog on SQLite.
func newWorld(t *testing.T, catalog json.RawMessage) *world {
	t.Helper()
	file := filepath.Join(t.TempDir(), "shop.db")
	w := newWorldOn(t, catalog, "sqlite:"+file)
	w.file = file
	return w
}

// newWorldOn starts a service with a catalog on a database.
func newWorldOn(t *testing.T, catalog json.RawMessage, url string) *world {
	t.Helper()
	w := &world{t: t, url: url, hooks: &hooks{}}
	sink := httptest.NewServer(w.hooks)
	t.Cleanup(sink.Close)
	stores := filepath.Join(t.TempDir(), "catalog.json")
	check.OK(t, os.WriteFile(stores, catalog, 0o600))
	w.operate("import", stores)
	var made struct {
		ID   string `json:"partner_client_id"`
		Keys struct{ Test string }
	}
	check.OK(t, json.Unmarshal(w.operate("partner", "create", "--json", "--name", "Partner", "--rate-limit", "1000000",
		"--callback-url", sink.URL, "--callback-secret", secret), &made))
	w.key, w.partner = made.Keys.Test, made.ID
	w.base = w.serve()
	proxy, err := faultproxy.NewHTTP(strings.TrimPrefix(w.base, "http://"))
	check.OK(t, err)
	t.Cleanup(func() { _ = proxy.Close() })
	w.proxy = proxy
	return w
}

// command makes a command of the program, without the settings of the tests' environment.
func (w *world) command(args ...string) *exec.Cmd {
	cmd := exec.CommandContext(w.t.Context(), program, append(args, "--database", w.url)...)
	cmd.Dir = w.t.TempDir()
	cmd.Env = slices.DeleteFunc(os.Environ(), func(v string) bool { return strings.HasPrefix(v, "PURVEYOR_") })
	return cmd
}

// operate runs a command of the operator, and returns its output.
func (w *world) operate(args ...string) []byte {
	w.t.Helper()
	cmd := w.command(args...)
	var problem bytes.Buffer
	cmd.Stderr = &problem
	out, err := cmd.Output()
	if err != nil {
		w.t.Fatalf("%v: %v\n%s%s", args, err, out, problem.Bytes())
	}
	return out
}

var serving = regexp.MustCompile(`msg=serving url=(\S+)`)

// serve starts the service until the test ends.
func (w *world) serve() (base string) {
	var log output
	cmd := w.command("serve", "--listen", "127.0.0.1:0", "--allow-private-webhooks", "--no-office")
	cmd.Stdout, cmd.Stderr = &log, &log
	check.OK(w.t, cmd.Start())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_ = cmd.Wait() // it is killed
	}()
	w.t.Cleanup(func() {
		_ = cmd.Process.Kill() // it may have ended
		<-ended
		if w.t.Failed() {
			w.t.Logf("the log of the service ends:\n%s", log.tail())
		}
	})
	check.Eventually(w.t, patience, 5*time.Millisecond, "the service to be ready", func() bool {
		match := serving.FindStringSubmatch(log.String())
		if match == nil {
			return false
		}
		base = match[1]
		response, err := http.Get(base + "/readyz")
		if err != nil {
			return false
		}
		defer response.Body.Close()
		return response.StatusCode == http.StatusOK
	})
	return base
}

// output collects the output of a process, and can be read meanwhile.
type output struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (o *output) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.text.Write(p)
}

func (o *output) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.text.String()
}

func (o *output) tail() string {
	text := o.String()
	return text[max(0, len(text)-4000):]
}

// post sends a request past the proxy, and returns its answer.
func (w *world) post(path, key string, body json.RawMessage) map[string]any {
	w.t.Helper()
	request, err := http.NewRequestWithContext(w.t.Context(), http.MethodPost, w.base+path, bytes.NewReader(body))
	check.OK(w.t, err)
	request.Header.Set("X-Api-Key", w.key)
	request.Header.Set("Idempotency-Key", key)
	response, err := http.DefaultClient.Do(request)
	check.OK(w.t, err)
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	check.OK(w.t, err)
	var answer map[string]any
	if err := json.Unmarshal(text, &answer); err != nil || response.StatusCode > 299 {
		w.t.Fatalf("%s: %d %s", path, response.StatusCode, text)
	}
	return answer
}

// tag returns the ETag of a path.
func (w *world) tag(path string) string {
	w.t.Helper()
	request, err := http.NewRequestWithContext(w.t.Context(), http.MethodGet, w.base+path, nil)
	check.OK(w.t, err)
	request.Header.Set("X-Api-Key", w.key)
	response, err := http.DefaultClient.Do(request)
	check.OK(w.t, err)
	defer response.Body.Close()
	return response.Header.Get("ETag")
}

// pay pays on a page of the sandbox.
func (w *world) pay(page string) {
	w.t.Helper()
	client := http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	response, err := client.PostForm(page, url.Values{"outcome": {"pay"}})
	check.OK(w.t, err)
	defer response.Body.Close()
	if response.StatusCode != http.StatusSeeOther {
		w.t.Fatalf("%s: %d", page, response.StatusCode)
	}
}

// books are the rows that a case may add or change.
type books struct {
	Orders []string `json:"orders"` // external id, status, refunded cents
	Moves  []string `json:"moves"`  // product, delta, kind
	Ledger []string `json:"ledger"` // kind, cents
}

// account reads the books. Each row is there as often as it is in the database.
func (w *world) account() books {
	w.t.Helper()
	return books{
		w.rows("SELECT coalesce(nullif(external_id, ''), 'checkout') || ' ' || status || ' ' || refunded_cents || '#' || id FROM orders"),
		w.rows("SELECT product_id || ' ' || delta || ' ' || kind || '#' || seq FROM stock_moves"),
		w.rows("SELECT kind || ' ' || amount_cents || '#' || order_id || seq FROM ledger"),
	}
}

// madeID is the id of a product that the service has made.
var madeID = regexp.MustCompile(`prd_\w+`)

// since returns the rows that were not there before, without what tells them apart.
func (b books) since(before books) books {
	added := func(now, then []string) []string {
		list := []string{}
		for _, row := range now {
			if !slices.Contains(then, row) {
				list = append(list, madeID.ReplaceAllString(row[:strings.LastIndex(row, "#")], "prd_new"))
			}
		}
		return list
	}
	return books{added(b.Orders, before.Orders), added(b.Moves, before.Moves), added(b.Ledger, before.Ledger)}.sorted()
}

func (b books) sorted() books {
	return books{slices.Sorted(slices.Values(b.Orders)), slices.Sorted(slices.Values(b.Moves)), slices.Sorted(slices.Values(b.Ledger))}
}

func (w *world) rows(query string) (list []string) {
	w.t.Helper()
	conn, err := sqlite.OpenConn(w.file, sqlite.OpenReadOnly)
	check.OK(w.t, err)
	defer conn.Close()
	conn.SetBusyTimeout(patience)
	check.OK(w.t, sqlitex.ExecuteTransient(conn, query, &sqlitex.ExecOptions{ResultFunc: func(row *sqlite.Stmt) error {
		list = append(list, row.ColumnText(0))
		return nil
	}}))
	return list
}

// hooks collects what the service posts.
type hooks struct {
	mu   sync.Mutex
	seen []hook
}

type hook struct {
	Body    string
	Headers map[string]string
}

func (h *hooks) ServeHTTP(_ http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return
	}
	got := hook{string(body), map[string]string{}}
	for name := range r.Header {
		got.Headers[strings.ToLower(name)] = r.Header.Get(name)
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.seen = append(h.seen, got)
}

// find returns a webhook whose body contains a text.
func (h *hooks) find(text string) (hook, bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	i := slices.IndexFunc(h.seen, func(k hook) bool { return strings.Contains(k.Body, text) })
	if i < 0 {
		return hook{}, false
	}
	return h.seen[i], true
}
