package e2e_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"regexp"
	"strings"
	"testing"

	"purveyor/docs/partner"
)

// guideBlock matches the blocks of code of a guide, with their languages.
var guideBlock = regexp.MustCompile("(?ms)^```(\\w+)\n(.*?)^```$")

// TestGuides runs the lines of the guides for developers, word for word, against a fresh demo.
// Readers put in their own URL, key and order; so does the test. Answers that a guide shows
// have the members that the service answers, and no others.
func TestGuides(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("curl"); err != nil {
		t.Skip("curl is not installed")
	}
	p := start(t, []string{"TMPDIR=" + t.TempDir()}, "demo", "--listen", "127.0.0.1:0", "--no-office")
	base := p.ready(&p.stdout, demoLine)
	key := demoTestKey.FindStringSubmatch(p.stdout.String())[1]
	reader := &guideReader{t: t, values: map[string]string{"https://shop.example.com": base, "sk_test_...": key}}
	if page := newClient(t, base, "").must(200, get("/docs/start")); !strings.Contains(string(page.body), " URL="+base) {
		t.Errorf("the page does not name the service:\n%s", page.body)
	}
	reader.read("start")
	reader.read("idempotency")
	reader.read("webhooks")
	reader.read("polling")
	reader.read("catalog-sync")

	var checkout struct {
		URL string `json:"checkout_url"`
	}
	newClient(t, base, key).must(201, post("/v1/checkout/session", "guide", map[string]any{"store_id": "sto_nyc_soho", "fulfillment_type": "pickup",
		"items": []any{map[string]any{"product_id": "prd_soho_sourdough", "quantity": 1}}, "customer_email": "jo@example.com",
		"success_url": "https://example.com/thanks", "cancel_url": "https://example.com/cart"})).decode(t, &checkout)
	order := newClient(t, base, key).must(201, post("/v1/orders/report", "guide-delivery", map[string]any{"external_order_id": "G-1", "store_id": "sto_nyc_soho", "fulfillment_type": "delivery",
		"items": []any{map[string]any{"product_id": "prd_soho_sourdough", "quantity": 1, "price": 925}}, "delivery_address": map[string]any{"name": "Jo", "phone": "+12125550123",
			"address": map[string]any{"line1": "350 5th Ave", "city": "New York", "state": "NY", "postal_code": "10118", "country": "US"}}})).orderID(t)
	reader.exports = append(reader.exports, "export CHECKOUT_URL="+checkout.URL, "export ORDER="+order) // an order that a courier brings
	if out := reader.read("test-mode"); !strings.Contains(out, "303 See Other") {
		t.Errorf("the payment page answers %s", out)
	}
}

// guideReader is a person at a shell, reading guides.
type guideReader struct {
	t       *testing.T
	values  map[string]string // what stands in the guides, and what it is here
	exports []string          // lines that set variables
}

// read runs the lines of a guide, and returns their output.
func (g *guideReader) read(name string) (all string) {
	g.t.Helper()
	text, err := partner.Guides.ReadFile(name + ".md")
	if err != nil {
		g.t.Fatal(err)
	}
	blocks := guideBlock.FindAllStringSubmatch(string(text), -1)
	ran := 0
	for i, block := range blocks {
		if block[1] != "sh" || strings.HasPrefix(block[2], "purveyor listen") { // which does not end
			continue
		}
		ran++
		var shown string
		if i+1 < len(blocks) && blocks[i+1][1] == "json" {
			shown = blocks[i+1][2]
		}
		all += g.run(block[2], shown)
	}
	if ran == 0 {
		g.t.Errorf("%s has no lines to run", name)
	}
	return all
}

func (g *guideReader) run(lines, shown string) string {
	g.t.Helper()
	for from, to := range g.values {
		lines = strings.ReplaceAll(lines, from, to)
	}
	if strings.HasPrefix(lines, "export ") {
		g.exports = append(g.exports, lines)
		return ""
	}
	script := strings.Join(append(g.exports, lines), "\n")
	out := runCommand(g.t, exec.CommandContext(g.t.Context(), "sh", "-e", "-c", script)).ok(g.t)
	if !strings.HasPrefix(out, "{") {
		return out
	}
	var last map[string]any
	for answers := json.NewDecoder(strings.NewReader(out)); ; {
		var answer map[string]any
		if err := answers.Decode(&answer); errors.Is(err, io.EOF) {
			break
		} else if err != nil || answer["ok"] != true {
			g.t.Errorf("%s\nanswers %s", lines, out)
			return out
		}
		last = answer
	}
	if id, ok := last["order_id"].(string); ok {
		g.values["ord_1_06eay4zfg8zepzmpwpee83wwp4"] = id
	}
	if endpoint, ok := last["endpoint"].(map[string]any); ok {
		g.values["whe_06eay4zfgb8ebbxq4t0h3rkcr8"] = endpoint["id"].(string)
	}
	if shown != "" {
		var want map[string]any
		if err := json.Unmarshal([]byte(shown), &want); err != nil {
			g.t.Fatal(err)
		}
		for _, difference := range differences("", want, last) {
			g.t.Errorf("the guide shows another answer of\n%s\n%s", lines, difference)
		}
	}
	return out
}

// differences lists the members that only one of two answers has.
func differences(at string, a, b any) (list []string) {
	one, ok := a.(map[string]any)
	other, ok2 := b.(map[string]any)
	if !ok || !ok2 {
		if fmt.Sprintf("%T", a) != fmt.Sprintf("%T", b) && a != nil && b != nil {
			list = append(list, fmt.Sprintf("%s is %v and %v", at, a, b))
		}
		return list
	}
	for name, value := range one {
		if _, ok := other[name]; !ok {
			list = append(list, "only the guide has "+at+"."+name)
			continue
		}
		list = append(list, differences(at+"."+name, value, other[name])...)
	}
	for name := range other {
		if _, ok := one[name]; !ok {
			list = append(list, "only the service has "+at+"."+name)
		}
	}
	return list
}
