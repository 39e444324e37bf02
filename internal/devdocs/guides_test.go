package devdocs

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"purveyor/docs/partner"
)

// TestGuides: each guide has a title, a summary of one paragraph, and sentences that are not
// about us.
func TestGuides(t *testing.T) {
	s := theSite(t)
	names := []string{}
	for _, g := range s.guides {
		names = append(names, g.Name)
		if len(g.Title) < 4 || len(g.Title) > 40 || len(g.Summary) < 20 || len(g.Summary) > 240 || strings.HasPrefix(g.Summary, "#") {
			t.Errorf("%s: %q, %q", g.Name, g.Title, g.Summary)
		}
		if words := len(strings.Fields(string(g.source))); words > 1200 {
			t.Errorf("%s has %d words", g.Name, words)
		}
	}
	for _, name := range []string{"start", "test-mode", "idempotency", "webhooks", "polling", "catalog-sync", "portal", "certification", "going-live", "changes"} {
		if !strings.Contains(strings.Join(names, " "), name) {
			t.Errorf("there is no guide %s", name)
		}
	}
}

// codeIn returns the first block of a language in a guide.
func codeIn(t *testing.T, guide, language string) string {
	t.Helper()
	return codesIn(t, guide, language)[0]
}

// codesIn returns the blocks of a language in a guide.
func codesIn(t *testing.T, guide, language string) (blocks []string) {
	t.Helper()
	text, err := partner.Guides.ReadFile(guide + ".md")
	if err != nil {
		t.Fatal(err)
	}
	found := regexp.MustCompile("(?ms)^```"+language+"\n(.*?)^```$").FindAllSubmatch(text, -1)
	if found == nil {
		t.Fatalf("%s has no %s", guide, language)
	}
	for _, block := range found {
		blocks = append(blocks, string(block[1]))
	}
	return blocks
}

const (
	webhookSecret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
	oldSecret     = "whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD"
	webhookBody   = `{"id":"evt_1","event":"order.paid","data":{"n":"ü"}}`
)

// delivery is a webhook as it comes, and whether it is to be taken.
type delivery struct {
	name              string
	id, at, signature string
	body              string
	taken             bool
}

// deliveries are webhooks of all sorts.
func deliveries(now time.Time) []delivery {
	at := strconv.FormatInt(now.Unix(), 10)
	old := strconv.FormatInt(now.Add(-6*time.Minute).Unix(), 10)
	ahead := strconv.FormatInt(now.Add(6*time.Minute).Unix(), 10)
	good, previous := sign(webhookSecret, at), sign(oldSecret, at)
	return []delivery{
		{"good", "evt_1", at, good, webhookBody, true},
		{"by the old secret", "evt_1", at, previous, webhookBody, true},
		{"by both", "evt_1", at, sign("whsec_AAAA", at) + " " + good, webhookBody, true},
		{"another body", "evt_1", at, good, webhookBody + " ", false},
		{"another id", "evt_2", at, good, webhookBody, false},
		{"another time", "evt_1", strconv.FormatInt(now.Unix()-1, 10), good, webhookBody, false},
		{"by another secret", "evt_1", at, sign("whsec_AAAA", at), webhookBody, false},
		{"too old", "evt_1", old, sign(webhookSecret, old), webhookBody, false},
		{"from the future", "evt_1", ahead, sign(webhookSecret, ahead), webhookBody, false},
		{"no signature", "evt_1", at, "", webhookBody, false},
	}
}

// sign signs the body as the service does.
func sign(secret, at string) string {
	key, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(secret, "whsec_"))
	if err != nil {
		panic(err)
	}
	mac := hmac.New(sha256.New, key)
	mac.Write([]byte("evt_1." + at + "." + webhookBody))
	return "v1," + base64.StdEncoding.EncodeToString(mac.Sum(nil))
}

// receivers run the code of the guide in a language: they print the kind of the event that the
// arguments make, or fail.
var receivers = map[string]struct{ program, file, end string }{
	"python": {"python3", "receive.py", `
import sys
secret, old, message_id, at, signature, body = sys.argv[1:]
event = verify([secret, old], {"webhook-id": message_id, "webhook-timestamp": at, "webhook-signature": signature}, body.encode())
print(event["event"], event["data"]["n"] == "\u00fc")
`},
	"php": {"php", "receive.php", `
[, $secret, $old, $id, $at, $signature, $body] = $argv;
$event = verify([$secret, $old], ['webhook-id' => $id, 'webhook-timestamp' => $at, 'webhook-signature' => $signature], $body);
echo $event['event'], ' ', $event['data']['n'] === "\u{fc}" ? 'True' : 'False', "\n";
`},
}

// TestSimpleSignature: what the guide shows for the header x-partner-signature takes the body
// that was signed, and no other.
func TestSimpleSignature(t *testing.T) {
	if _, err := exec.LookPath("python3"); err != nil {
		t.Skip("python3 is not installed")
	}
	mac := hmac.New(sha256.New, []byte(oldSecret))
	mac.Write([]byte(webhookBody))
	code := codesIn(t, "webhooks", "python")[1] + `
import sys
secret, old, signature, body = sys.argv[1:]
print(verify_body([secret, old], {"x-partner-signature": signature}, body.encode()))
`
	for body, want := range map[string]string{webhookBody: "True", webhookBody + " ": "False"} {
		out, err := exec.Command("python3", "-c", code, webhookSecret, oldSecret, hex.EncodeToString(mac.Sum(nil)), body).CombinedOutput()
		if err != nil || strings.TrimSpace(string(out)) != want {
			t.Errorf("%s: %s, %v", body, out, err)
		}
	}
}

// TestWebhooksInScripts: what the guide shows for languages without an SDK takes the webhooks
// that it should, and no others.
func TestWebhooksInScripts(t *testing.T) {
	for language, r := range receivers {
		t.Run(language, func(t *testing.T) {
			if _, err := exec.LookPath(r.program); err != nil {
				t.Skipf("%s is not installed", r.program)
			}
			file := filepath.Join(t.TempDir(), r.file)
			if err := os.WriteFile(file, []byte(codeIn(t, "webhooks", language)+r.end), 0o600); err != nil {
				t.Fatal(err)
			}
			for _, d := range deliveries(time.Now()) {
				out, err := exec.Command(r.program, file, webhookSecret, oldSecret, d.id, d.at, d.signature, d.body).CombinedOutput()
				if taken := err == nil && strings.TrimSpace(string(out)) == "order.paid True"; taken != d.taken {
					t.Errorf("%s: taken is %v\n%s", d.name, taken, out)
				}
			}
		})
	}
}
