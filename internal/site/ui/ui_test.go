package ui

import (
	"crypto/sha256"
	"encoding/hex"
	"math"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// vendored are the files that others wrote, with their SHA-256: as npm has them.
var vendored = map[string]string{
	"htmx.js":   "a0abb04f2f45a1f89d1d4844023245537e5e6014c87b144553e0607b4cc32130", // htmx.org 4.0.1, dist/htmx.min.js
	"hx-sse.js": "18ef2761356ec1fe0bb6d92612315b37517a7c1e9856b661c5ae81fef239d103", // the same, dist/ext/hx-sse.min.js
}

func TestVendored(t *testing.T) {
	for name, want := range vendored {
		content, err := embedded.ReadFile("files/" + name)
		if err != nil {
			t.Fatal(err)
		}
		if sum := sha256.Sum256(content); hex.EncodeToString(sum[:]) != want {
			t.Errorf("%s is not the file of its release", name)
		}
	}
}

// TestSizes: what a browser loads once is small.
func TestSizes(t *testing.T) {
	for name, most := range map[string]int{"office.css": 16 << 10, "office.js": 12 << 10, "icons.svg": 9 << 10} {
		if size := len(files.Content(name)); size >= most || size < 1000 {
			t.Errorf("%s has %d bytes, not less than %d", name, size, most)
		}
	}
}

// TestServed: a file has its type, may be kept for a year, and is found by its hash alone.
func TestServed(t *testing.T) {
	for name := range contents {
		rec := httptest.NewRecorder()
		if !Serve(rec, httptest.NewRequest(http.MethodGet, Path(name), nil)) || rec.Code != http.StatusOK || rec.Body.String() != string(files.Content(name)) {
			t.Errorf("%s: %d", name, rec.Code)
		}
		h := rec.Header()
		if h.Get("Content-Type") == "" || h.Get("Cache-Control") != "public, max-age=31536000, immutable" || h.Get("X-Content-Type-Options") != "nosniff" {
			t.Errorf("%s: %v", name, h)
		}
		if Serve(httptest.NewRecorder(), httptest.NewRequest(http.MethodGet, Prefix+name, nil)) {
			t.Errorf("%s is served without its hash", name)
		}
	}
	defer func() {
		if recover() == nil {
			t.Error("a file that is missing has a path")
		}
	}()
	Path("missing.css")
}

// TestIcons: each icon is one symbol of the sprite.
func TestIcons(t *testing.T) {
	sprite := string(files.Content("icons.svg"))
	if n, closed := strings.Count(sprite, "<symbol id="), strings.Count(sprite, "</symbol>"); n < 20 || n != closed {
		t.Errorf("%d symbols, %d ends", n, closed)
	}
}

// text are the pairs that letters and what is behind them have, with the names of the
// style sheet; lines are borders, marks and the lines of charts.
var (
	text = [][2]string{
		{"text", "page"}, {"text", "surface"}, {"text", "stripe"}, {"text", "raised"},
		{"muted", "page"}, {"muted", "surface"}, {"muted", "stripe"}, {"muted", "raised"},
		{"accent", "page"}, {"accent", "surface"}, {"accent", "stripe"}, {"accent", "raised"}, {"on-accent", "accent"},
		{"danger", "page"}, {"danger", "surface"}, {"danger", "stripe"}, {"danger", "raised"}, {"on-danger", "danger"},
		{"paid", "on-paid"}, {"processed", "on-processed"}, {"ready", "on-ready"}, {"way", "on-way"}, {"done", "on-done"},
		{"closed", "on-closed"}, {"attention", "on-attention"}, {"test", "on-test"},
		{"amber", "surface"}, {"amber", "stripe"}, {"red", "surface"}, {"red", "stripe"},
	}
	lines = [][2]string{
		{"control", "surface"}, {"control", "page"}, {"control", "stripe"}, {"control", "raised"},
		{"accent", "surface"}, {"accent", "page"}, {"accent", "on-paid"}, {"danger", "surface"}, {"danger", "on-attention"},
		{"amber", "surface"}, {"amber", "page"}, {"red", "surface"}, {"red", "page"}, {"ready", "surface"}, {"processed", "surface"},
	}
)

// TestContrast computes every pair of colours of the style sheet from its own tokens, for the
// light and for the dark theme (WCAG 2.2, level AA).
func TestContrast(t *testing.T) {
	css := string(files.Content("office.css"))
	tokens := map[string][2]string{}
	for _, m := range regexp.MustCompile(`--([\w-]+):light-dark\((#[0-9a-f]{6}),(#[0-9a-f]{6})\)`).FindAllStringSubmatch(css, -1) {
		tokens[m[1]] = [2]string{m[2], m[3]}
	}
	paired := map[string]bool{}
	check := func(pairs [][2]string, least float64) {
		for _, p := range pairs {
			paired[p[0]], paired[p[1]] = true, true
			for n, theme := range []string{"light", "dark"} {
				ratio := contrast(t, tokens[p[0]][n], tokens[p[1]][n])
				if ratio < least {
					t.Errorf("%s on %s, %s: %.2f", p[0], p[1], theme, ratio)
				}
			}
		}
	}
	check(text, 4.5)
	check(lines, 3)
	for name := range tokens {
		if !paired[name] {
			t.Errorf("the colour %s is in no pair", name)
		}
	}
	_, parts, _ := strings.Cut(css, "@layer parts")
	for _, colour := range regexp.MustCompile(`#[0-9a-f]{3,8}\b`).FindAllString(parts, -1) {
		if colour != "#fff" { // of paper
			t.Errorf("the colour %s is not one of the tokens", colour)
		}
	}
}

// contrast is the ratio of two colours by WCAG 2.2.
func contrast(t *testing.T, a, b string) float64 {
	t.Helper()
	x, y := luminance(t, a), luminance(t, b)
	return (max(x, y) + 0.05) / (min(x, y) + 0.05)
}

func luminance(t *testing.T, colour string) (sum float64) {
	t.Helper()
	if len(colour) != 7 {
		t.Fatalf("%q is not a colour", colour)
	}
	for i, weight := range []float64{0.2126, 0.7152, 0.0722} {
		n, err := strconv.ParseUint(colour[1+2*i:3+2*i], 16, 8)
		if err != nil {
			t.Fatal(err)
		}
		v := float64(n) / 255
		if v <= 0.04045 {
			v /= 12.92
		} else {
			v = math.Pow((v+0.055)/1.055, 2.4)
		}
		sum += weight * v
	}
	return sum
}

// TestContrastOf: the computation itself, by values that are known.
func TestContrastOf(t *testing.T) {
	for _, c := range []struct {
		a, b string
		want float64
	}{{"#000000", "#ffffff", 21}, {"#ffffff", "#ffffff", 1}, {"#767676", "#ffffff", 4.54}, {"#0b4fb3", "#ffffff", 7.54}} {
		if got := contrast(t, c.a, c.b); math.Abs(got-c.want) > 0.01 {
			t.Errorf("%s on %s: %.3f", c.a, c.b, got)
		}
	}
}
