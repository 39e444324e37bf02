package browser

import (
	"context"
	"encoding/json"
	"slices"
	"sync"
	"testing"

	"github.com/chromedp/cdproto/accessibility"
	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/chromedp"
)

// Visitor is a person with a browser on a page. It records the requests of the page
// and the messages of the browser's console.
type Visitor struct {
	T   testing.TB
	Tab context.Context

	mu       sync.Mutex
	requests []string
	problems []string
}

// Visit runs the actions in a new tab, and opens the address there.
func Visit(t testing.TB, browser context.Context, address string, before ...chromedp.Action[chromedp.Void]) *Visitor {
	t.Helper()
	v := &Visitor{T: t, Tab: Tab(t, browser)}
	v.must(chromedp.Listen(v.Tab, func(event any) {
		v.mu.Lock()
		defer v.mu.Unlock()
		switch e := event.(type) {
		case *network.EventRequestWillBeSent:
			v.requests = append(v.requests, e.Request.URL)
		case *log.EventEntryAdded:
			v.problems = append(v.problems, e.Entry.Text)
		}
	}))
	_, err := chromedp.Call(v.Tab, log.Enable, cdp.Empty{})
	v.must(err)
	_, err = chromedp.Call(v.Tab, network.Enable, network.EnableParams{})
	v.must(err)
	v.must(chromedp.Do(v.Tab, append(before, chromedp.Navigate(address))...))
	return v
}

// NoScripts switches scripts off.
func NoScripts() chromedp.Action[chromedp.Void] {
	return chromedp.Func(func(ctx context.Context, _ *chromedp.Target) error {
		_, err := chromedp.Call(ctx, emulation.SetScriptExecutionDisabled, emulation.SetScriptExecutionDisabledParams{Value: true})
		return err
	})
}

// Dark makes the browser prefer a dark colour scheme.
func Dark() chromedp.Action[chromedp.Void] { return scheme("dark") }

// Light makes it prefer a light one.
func Light() chromedp.Action[chromedp.Void] { return scheme("light") }

func scheme(name string) chromedp.Action[chromedp.Void] {
	return chromedp.Func(func(ctx context.Context, _ *chromedp.Target) error {
		_, err := chromedp.Call(ctx, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{
			Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: name}}})
		return err
	})
}

func (v *Visitor) must(err error) {
	v.T.Helper()
	if err != nil {
		v.T.Fatal(err)
	}
}

// Ask evaluates a script and returns its value.
func Ask[T any](v *Visitor, script string) T {
	v.T.Helper()
	value, err := chromedp.Run(v.Tab, chromedp.Evaluate[T](script))
	v.must(err)
	return value
}

// Requests returns the addresses of all requests so far.
func (v *Visitor) Requests() []string {
	v.mu.Lock()
	defer v.mu.Unlock()
	return slices.Clone(v.requests)
}

// Problems returns the console's messages so far. They include violations of the
// page's policy.
func (v *Visitor) Problems() []string {
	v.mu.Lock()
	defer v.mu.Unlock()
	return slices.Clone(v.problems)
}

// Fits checks that the page is not wider than a screen of this width.
func (v *Visitor) Fits(width int) {
	v.T.Helper()
	if wide := Ask[int](v, "document.documentElement.scrollWidth"); wide > width {
		v.T.Errorf("the page is %d pixels wide, the screen %d", wide, width)
	}
}

// contrast returns the texts without enough contrast to their background (WCAG 2,
// level AA, text of any size). It ignores SVG.
const contrast = `(() => {
	const channels = c => c.match(/[\d.]+/g).map(Number);
	const light = ([r, g, b]) => [r, g, b].map(v => v / 255).map(v => v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4)
		.reduce((sum, v, i) => sum + v * [0.2126, 0.7152, 0.0722][i], 0);
	const behind = e => { for (; e; e = e.parentElement) { const c = channels(getComputedStyle(e).backgroundColor); if (c.length == 3 || c[3] == 1) return c; } return [255, 255, 255]; };
	const bad = [];
	for (const e of document.body.querySelectorAll(":not(svg *)")) {
		const text = e.matches("input") ? e.value : [...e.childNodes].filter(n => n.nodeType == 3).map(n => n.data).join("").trim();
		if (!text) continue;
		const a = light(channels(getComputedStyle(e).color)), b = light(behind(e));
		const ratio = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
		if (ratio < 4.5) bad.push(text + " " + ratio.toFixed(2));
	}
	return bad;
})()`

// Readable checks what people with impaired sight need.
func (v *Visitor) Readable() {
	v.T.Helper()
	for _, bad := range Ask[[]string](v, contrast) {
		v.T.Errorf("hard to read: %s", bad)
	}
	if lang := Ask[string](v, "document.documentElement.lang"); lang != "en" {
		v.T.Errorf("the language is %q", lang)
	}
	if headings := Ask[int](v, `document.querySelectorAll("h1").length`); headings != 1 {
		v.T.Errorf("%d headings of the first level", headings)
	}
	if groups := Ask[int](v, `document.querySelectorAll("fieldset:not(:has(> legend))").length`); groups != 0 {
		v.T.Errorf("%d groups of fields have no name", groups)
	}
	if outside := Ask[int](v, `[...document.body.children].filter(e => !e.matches("header, nav, main, dialog, script, noscript")).length`); outside != 0 {
		v.T.Errorf("%d parts of the page stand in no landmark", outside)
	}
	tree, err := chromedp.Call(v.Tab, accessibility.GetFullAXTree, accessibility.GetFullAXTreeParams{})
	v.must(err)
	named := 0
	for _, node := range tree.Nodes {
		if node.Ignored || node.Role == nil {
			continue
		}
		switch role := string(node.Role.Value); role {
		case `"button"`, `"textbox"`, `"link"`, `"heading"`, `"region"`, `"RootWebArea"`, `"image"`:
			named++
			if node.Name == nil || len(node.Name.Value) <= 2 {
				about, err := json.Marshal(node.Properties)
				v.must(err)
				v.T.Errorf("a %s has no name: %s", role, about)
			}
		}
	}
	if named < 2 {
		v.T.Errorf("%d things have names", named)
	}
}
