// Package browser opens pages in a real browser, headless Chromium, for
// tests. It must be installed: scripts/test does that.
package browser

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
)

// patience bounds what a test does in one tab.
const patience = 2 * time.Minute

// Start runs a browser until the end of the test, and gives its chromedp
// context. Tabs are opened in it with Tab.
func Start(t testing.TB) context.Context {
	t.Helper()
	if testing.Short() {
		t.Skip("-short leaves the browser out")
	}
	options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(program(t)))
	if os.Geteuid() == 0 { // with its own sandbox Chromium refuses to run as root
		options = append(options, chromedp.NoSandbox)
	}
	allocator, end := chromedp.NewExecAllocator(context.Background(), options...)
	t.Cleanup(end)
	browser, closeBrowser := chromedp.NewContext(allocator)
	t.Cleanup(closeBrowser)
	if err := chromedp.Do(browser); err != nil {
		t.Fatalf("Chromium does not start: %v", err)
	}
	return browser
}

// program finds Chromium, or Chrome.
func program(t testing.TB) string {
	t.Helper()
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome"} {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	t.Fatal("Chromium is not installed (on Debian: apt-get install chromium)")
	return ""
}

// Tab opens a tab that shares nothing with others, as in a private window. It
// is closed at the end of the test.
func Tab(t testing.TB, browser context.Context) context.Context {
	t.Helper()
	tab, end := chromedp.NewContext(browser, chromedp.WithNewBrowserContext())
	t.Cleanup(end)
	if err := chromedp.Do(tab); err != nil {
		t.Fatal(err)
	}
	tab, cancel := context.WithTimeout(tab, patience)
	t.Cleanup(cancel)
	return tab
}

// Screenshot keeps a picture of the whole page in the folder that
// PURVEYOR_SCREENSHOTS names, for people to look at. Without it there is none.
func Screenshot(t testing.TB, tab context.Context, name string) {
	t.Helper()
	folder := os.Getenv("PURVEYOR_SCREENSHOTS")
	if folder == "" {
		return
	}
	picture, err := chromedp.Run(tab, chromedp.FullScreenshot(100))
	if err == nil {
		err = os.MkdirAll(folder, 0o755)
	}
	if err == nil {
		err = os.WriteFile(filepath.Join(folder, name+".png"), picture, 0o644)
	}
	if err != nil {
		t.Error(err)
	}
}
