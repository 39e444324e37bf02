// Package browser opens pages in headless Chromium, for tests. scripts/test installs
// Chromium.
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

// patience bounds the time of a test in one tab, also where the machine is slow and busy.
const patience = 15 * time.Minute

// Start runs a browser until the test ends, and returns its chromedp context, in
// which Tab opens tabs.
func Start(t testing.TB) context.Context {
	t.Helper()
	if testing.Short() {
		t.Skip("-short leaves the browser out")
	}
	options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(program(t)))
	if os.Geteuid() == 0 { // Chromium's own sandbox does not work for root
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

// program returns the path of Chromium or Chrome. Chromium without windows takes a third of
// the time.
func program(t testing.TB) string {
	t.Helper()
	for _, name := range []string{"chromium-headless-shell", "chromium", "chromium-browser", "google-chrome"} {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	t.Fatal("Chromium is not installed (on Debian: apt-get install chromium-headless-shell)")
	return ""
}

// Tab opens a tab that shares nothing with other tabs, like a private window. It is
// closed when the test ends.
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

// Screenshot saves a picture of the whole page in the folder that
// PURVEYOR_SCREENSHOTS names. It does nothing if the variable is not set.
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
