package conformance_test

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"testing"
	"time"

	"purveyor/docs/partner"
	"purveyor/internal/testkit/check"
)

// codeIn returns the first block of a language in a guide.
func codeIn(t *testing.T, guide, language string) string {
	t.Helper()
	text, err := partner.Guides.ReadFile(guide + ".md")
	check.OK(t, err)
	found := regexp.MustCompile("(?ms)^```" + language + "\n(.*?)^```$").FindSubmatch(text)
	if found == nil {
		t.Fatalf("%s has no %s", guide, language)
	}
	return string(found[1])
}

// posted is a request to a receiver of webhooks, and the status that it should answer.
type posted struct {
	ID, At, Signature, Body string
	Status                  int
}

// posts returns requests of all sorts, and the secret, as environment variables.
func posts(t *testing.T) []string {
	t.Helper()
	const body, secret = `{"id":"evt_1","event":"order.paid","order_id":"ord_1","timestamp":"2026-03-02T15:04:05.250Z","trace_id":null,"data":{}}`, "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
	key, err := base64.StdEncoding.DecodeString(secret[len("whsec_"):])
	check.OK(t, err)
	sign := func(at time.Time) (string, string) {
		seconds := strconv.FormatInt(at.Unix(), 10)
		mac := hmac.New(sha256.New, key)
		mac.Write([]byte("evt_1." + seconds + "." + body))
		return seconds, "v1," + base64.StdEncoding.EncodeToString(mac.Sum(nil))
	}
	now, good := sign(time.Now())
	old, late := sign(time.Now().Add(-6 * time.Minute))
	list, err := json.Marshal([]posted{
		{"evt_1", now, good, body, 204},
		{"evt_1", now, good, body + " ", 400},
		{"evt_2", now, good, body, 400},
		{"evt_1", old, late, body, 400},
		{"evt_1", now, "", body, 400},
	})
	check.OK(t, err)
	return []string{"POSTS=" + string(list), "WEBHOOK_SECRET=" + secret}
}

// TestWebhooksInGo: the receiver of the guide takes the requests that it should.
func TestWebhooksInGo(t *testing.T) {
	out := runGo(t, `package main

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"

	"purveyor/sdk/go"
)

`+codeIn(t, "webhooks", "go")+`
func keep(event *purveyor.WebhookEvent) { fmt.Print("kept ", event.ID) }

func main() {
	var posts []struct {
		ID, At, Signature, Body string
		Status                  int
	}
	if err := json.Unmarshal([]byte(os.Getenv("POSTS")), &posts); err != nil {
		panic(err)
	}
	for _, p := range posts {
		r := httptest.NewRequest("POST", "/hooks", strings.NewReader(p.Body))
		r.Header.Set("webhook-id", p.ID)
		r.Header.Set("webhook-timestamp", p.At)
		r.Header.Set("webhook-signature", p.Signature)
		w := httptest.NewRecorder()
		handle(w, r)
		if w.Code != p.Status {
			fmt.Println(w.Code, p)
		}
	}
}
`, posts(t)...)
	if out != "kept evt_1" {
		t.Error(out)
	}
}

// TestSyncInGo: the loops of the guides about the catalog and about polling, with the answers of
// the API document.
func TestSyncInGo(t *testing.T) {
	s := openShop(t)
	out := runGo(t, `package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"

	"purveyor/sdk/go"
)

`+codeIn(t, "catalog-sync", "go")+codeIn(t, "polling", "go")+`
func main() {
	client, err := purveyor.New(os.Getenv("SHOP"), "sk_test_1", purveyor.Options{})
	if err != nil {
		panic(err)
	}
	var products []purveyor.ProductInput
	for _, sku := range []string{"WRL-1", "BAG-1", "BUN-1"} {
		products = append(products, purveyor.ProductInput{StoreID: "s", CategoryID: "c", Name: "n", SKU: &sku})
	}
	fmt.Println(push(context.Background(), client, products))
	fmt.Println(follow(context.Background(), client, "", func(f purveyor.Followed) error { return errors.New(f.Event.ID) }))
}
`, "SHOP="+s.URL)
	const want = "map[BAG-1:The stock of Baguette is 39, and 58 was expected BUN-1:category cat_none is not known] <nil>\n" +
		"evt_06eay4zfg8zepzmpwpee83wwp4\n"
	if out != want {
		t.Error(out)
	}
}

// syncInTypeScript compiles and runs the loop of the guide about the catalog.
func syncInTypeScript(t *testing.T, folder string) {
	s := openShop(t)
	check.OK(t, os.WriteFile(filepath.Join(folder, "sync.ts"), []byte(codeIn(t, "catalog-sync", "ts")+`
import { Purveyor as Client } from "purveyor-sdk";

try {
  await pull(new Client({ baseUrl: process.env.SHOP!, apiKey: "sk_test_1" }), 0, async (p) => {
    throw new Error(p.id); // the example has no end
  });
} catch (e) {
  console.log((e as Error).message);
}
`), 0o600))
	compileSamples(t, folder, []string{node(t, folder), "sync.ts"})
	run := exec.CommandContext(t.Context(), "node", "sync.js")
	run.Dir, run.Env = folder, append(os.Environ(), "SHOP="+s.URL)
	if out, err := run.CombinedOutput(); err != nil || string(out) != "prd_soho_sourdough\n" {
		t.Errorf("%v: %s", err, out)
	}
}

// webhooksInTypeScript is TestWebhooksInGo for TypeScript.
func webhooksInTypeScript(t *testing.T, folder string) {
	check.OK(t, os.WriteFile(filepath.Join(folder, "hooks.ts"), []byte(codeIn(t, "webhooks", "ts")+`
import type { WebhookEvent } from "purveyor-sdk";

function keep(event: WebhookEvent) {
  console.log("kept " + event.id);
}
for (const p of JSON.parse(process.env.POSTS!) as { ID: string; At: string; Signature: string; Body: string; Status: number }[]) {
  const headers = { "webhook-id": p.ID, "webhook-timestamp": p.At, "webhook-signature": p.Signature };
  const answer = await handle(new Request("http://localhost/hooks", { method: "POST", headers, body: p.Body }));
  if (answer.status !== p.Status) {
    console.log(answer.status, p);
  }
}
`), 0o600))
	compileSamples(t, folder, []string{node(t, folder), "hooks.ts"})
	run := exec.CommandContext(t.Context(), "node", "hooks.js")
	run.Dir, run.Env = folder, append(os.Environ(), posts(t)...)
	if out, err := run.CombinedOutput(); err != nil || string(out) != "kept evt_1\n" {
		t.Errorf("%v: %s", err, out)
	}
}
