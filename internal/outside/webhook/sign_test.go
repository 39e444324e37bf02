package webhook

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"purveyor/internal/commerce"
	"strings"
	"testing"
	"time"

	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"
)

const body = `{"id":"evt_1","event":"order.paid","data":{"name":"Crème brûlée ☕"}}`

// key is the key that a receiver uses, worked out without standardKey.
var signed = []struct{ name, secret, key string }{
	{"padded", "whsec_" + base64.StdEncoding.EncodeToString([]byte("sixteen bytes ok")), "sixteen bytes ok"},
	{"unpadded", "whsec_" + base64.RawStdEncoding.EncodeToString([]byte("sixteen bytes ok")), "sixteen bytes ok"},
	{"plain", "s3cret", "s3cret"},
	{"plain base64 without prefix", "c2l4dGVlbg==", "c2l4dGVlbg=="},
	{"not ASCII", "clé ☕", "clé ☕"},
	{"prefix without base64", "whsec_not/base64!", "whsec_not/base64!"},
	{"prefix with too much padding", "whsec_YQ===", "whsec_YQ==="},
	{"prefix with a line break", "whsec_YW\nJj", "whsec_YW\nJj"},
	{"prefix alone", "whsec_", "whsec_"},
}

// received is a request as the receiver saw it.
type received struct {
	header http.Header
	body   []byte
}

func receive(t *testing.T, r Request) received {
	t.Helper()
	var got received
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		got.header = r.Header
		got.body, _ = io.ReadAll(r.Body)
	}))
	defer server.Close()
	r.URL = server.URL
	if result := newSender(&net.Dialer{}).Send(t.Context(), r); result.Error != "" || result.Status != 200 {
		t.Fatalf("%+v", result)
	}
	return got
}

func TestRequest(t *testing.T) {
	got := receive(t, Request{ID: "evt_1", Body: []byte(body), At: 1_800_000_000_999})
	if string(got.body) != body {
		t.Errorf("body %q", got.body)
	}
	for header, want := range map[string]string{
		"Content-Type": "application/json", "Webhook-Id": "evt_1", "Webhook-Timestamp": "1800000000",
		"Webhook-Signature": "", "X-Partner-Signature": "", "Idempotency-Key": "",
	} {
		if got := strings.Join(got.header.Values(header), "|"); got != want {
			t.Errorf("%s: %q, want %q", header, got, want)
		}
	}
}

func TestSignaturesByOpenSSL(t *testing.T) {
	for _, c := range signed {
		got := receive(t, Request{ID: "evt_1", Body: []byte(body), At: 1_800_000_000_000, Secret: c.secret})
		if have, want := got.header.Get("X-Partner-Signature"), openssl(t, c.secret, body); have != want {
			t.Errorf("%s: x-partner-signature %q, want %q", c.name, have, want)
		}
		digest, err := hex.DecodeString(openssl(t, c.key, "evt_1.1800000000."+body))
		if err != nil {
			t.Fatal(err)
		}
		if have, want := got.header.Get("Webhook-Signature"), "v1,"+base64.StdEncoding.EncodeToString(digest); have != want {
			t.Errorf("%s: webhook-signature %q, want %q", c.name, have, want)
		}
	}
}

func openssl(t *testing.T, key, text string) string {
	t.Helper()
	command := exec.Command("openssl", "dgst", "-sha256", "-r", "-mac", "HMAC", "-macopt", "hexkey:"+hex.EncodeToString([]byte(key)))
	command.Stdin = strings.NewReader(text)
	out, err := command.Output()
	if err != nil {
		t.Fatalf("this test needs the openssl command (Debian: openssl): %v", err)
	}
	digest, _, _ := strings.Cut(string(out), " ")
	return digest
}

func TestSignaturesByGoLibrary(t *testing.T) {
	for _, c := range signed {
		got := receive(t, Request{ID: "evt_1", Body: []byte(body), At: commerce.MillisOf(time.Now()), Secret: c.secret})
		receiver, err := standardwebhooks.NewWebhookRaw([]byte(c.key))
		if err != nil {
			t.Fatal(err)
		}
		if err := receiver.Verify(got.body, got.header); err != nil {
			t.Errorf("%s: %v", c.name, err)
		}
		if err := receiver.Verify(append(got.body, ' '), got.header); err == nil {
			t.Errorf("%s: another body passes", c.name)
		}
	}
}

// verifyJS prints the names of the cases that do not verify.
const verifyJS = `
const { Webhook } = require("standardwebhooks");
for (const c of JSON.parse(require("fs").readFileSync(0))) {
  const receiver = c.raw ? new Webhook(new Uint8Array(Buffer.from(c.secret, "utf8")), { format: "raw" }) : new Webhook(c.secret);
  try {
    receiver.verify(c.body, c.headers);
  } catch (e) {
    console.log(c.name + ": " + e.message);
  }
}`

func TestSignaturesByNodeLibrary(t *testing.T) {
	const needs = "this test needs node and npm (Debian: nodejs npm) and the npm registry: %v\n%s"
	folder := t.TempDir()
	install := exec.Command("npm", "install", "--no-audit", "--no-fund", "--prefix", folder, "standardwebhooks@1.1.1")
	if out, err := install.CombinedOutput(); err != nil {
		t.Fatalf(needs, err, out)
	}
	type check struct {
		Name    string            `json:"name"`
		Raw     bool              `json:"raw"`
		Secret  string            `json:"secret"`
		Body    string            `json:"body"`
		Headers map[string]string `json:"headers"`
	}
	var checks []check
	for _, c := range signed {
		got := receive(t, Request{ID: "evt_1", Body: []byte(body), At: commerce.MillisOf(time.Now()), Secret: c.secret})
		headers := map[string]string{}
		for name := range got.header {
			headers[strings.ToLower(name)] = got.header.Get(name)
		}
		if c.secret == c.key {
			checks = append(checks, check{c.name, true, c.secret, body, headers})
			continue
		}
		padded := strings.TrimRight(c.secret, "=")
		padded += strings.Repeat("=", -(len(padded)-len("whsec_"))&3) // the library accepts padded secrets only
		checks = append(checks, check{c.name, false, padded, body, headers})
	}
	forged := checks[0]
	forged.Name, forged.Body = "forged", body+" "
	input, err := json.Marshal(append(checks, forged))
	if err != nil {
		t.Fatal(err)
	}
	script := filepath.Join(folder, "verify.js")
	if err := os.WriteFile(script, []byte(verifyJS), 0o600); err != nil {
		t.Fatal(err)
	}
	verify := exec.Command("node", script)
	verify.Stdin = strings.NewReader(string(input))
	out, err := verify.CombinedOutput()
	if err != nil {
		t.Fatalf(needs, err, out)
	}
	if got := strings.TrimSpace(string(out)); got != "forged: No matching signature found" {
		t.Errorf("did not verify:\n%s", got)
	}
}

func TestRotation(t *testing.T) {
	request := Request{ID: "evt_1", Body: []byte(body), At: commerce.MillisOf(time.Now()), Secret: "new", PreviousSecret: "old"}
	got := receive(t, request)
	for _, secret := range []string{"new", "old"} {
		receiver, err := standardwebhooks.NewWebhookRaw([]byte(secret))
		if err != nil {
			t.Fatal(err)
		}
		if err := receiver.Verify(got.body, got.header); err != nil {
			t.Errorf("%s: %v", secret, err)
		}
	}
	mac := hmac.New(sha256.New, []byte("old"))
	mac.Write([]byte(body))
	if have, want := got.header.Get("X-Partner-Signature"), hex.EncodeToString(mac.Sum(nil)); have != want {
		t.Errorf("x-partner-signature %q, want that of the old secret %q", have, want)
	}
}
