package e2e_test

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"purveyor/internal/testkit/check"
)

var (
	demoLine    = regexp.MustCompile(`Purveyor demo: (http://127\.0\.0\.1:[1-9]\d*)\n`)
	demoLiveKey = regexp.MustCompile(`live key\s+(sk_live_\S+)\n`)
	demoTestKey = regexp.MustCompile(`test key\s+(sk_test_\S+)\n`)
	demoCurl    = regexp.MustCompile(`(?m)^\s*(curl .*)$`)
)

// The first minute of a newcomer: everything that the demo prints works, and it
// leaves nothing behind.
func TestDemo(t *testing.T) {
	t.Parallel()
	temp := t.TempDir()
	p := start(t, []string{"TMPDIR=" + temp}, "demo", "--listen", "127.0.0.1:0")
	base := p.ready(&p.stdout, demoLine)
	check.Eventually(t, patience, pollPause, "the whole welcome", func() bool { return strings.Contains(p.stdout.String(), "Ctrl-C") })
	welcome := p.stdout.String()
	if left, err := os.ReadDir(temp); err != nil || len(left) == 0 {
		t.Fatalf("the demo keeps nothing in TMPDIR (error %v), so its folder cannot be watched", err)
	}

	for _, key := range []*regexp.Regexp{demoLiveKey, demoTestKey} {
		found := key.FindStringSubmatch(welcome)
		if found == nil {
			t.Fatalf("no %v in:\n%s", key, welcome)
		}
		newClient(t, base, found[1]).must(200, get("/v1/health"))
	}
	t.Run("curl", func(t *testing.T) { checkCurlLines(t, demoCurl.FindAllStringSubmatch(welcome, -1)) })
	t.Run("images", func(t *testing.T) { checkImages(newClient(t, base, demoLiveKey.FindStringSubmatch(welcome)[1])) })

	p.signal(syscall.SIGINT)
	if code := p.exit(10 * time.Second); code != 0 {
		t.Errorf("exit code %d after Ctrl-C, want 0", code)
	}
	if left, err := os.ReadDir(temp); err != nil || len(left) > 0 {
		t.Errorf("the demo left %v behind (error %v)", left, err)
	}
}

func checkCurlLines(t *testing.T, lines [][]string) {
	if len(lines) != 3 {
		t.Fatalf("%d curl lines, want 3", len(lines))
	}
	if _, err := exec.LookPath("curl"); err != nil {
		t.Skip("curl is not installed")
	}
	for i, line := range lines {
		r := runCommand(t, exec.CommandContext(t.Context(), "sh", "-c", line[1]))
		var body struct {
			OK           bool             `json:"ok"`
			Count        int              `json:"count"`
			Products     []map[string]any `json:"products"`
			AllAvailable bool             `json:"all_available"`
			Status       string           `json:"status"`
		}
		if err := json.Unmarshal([]byte(r.ok(t)), &body); err != nil {
			t.Fatalf("%s\nanswers %q", line[1], r.stdout)
		}
		works := [3]bool{body.Count == 3 && len(body.Products) == 3, body.AllAvailable, body.Status == "processed"}
		if !body.OK || !works[i] {
			t.Errorf("%s\nanswers %s", line[1], r.stdout)
		}
	}
}

func checkImages(c *client) {
	images := map[string]bool{}
	for path := "/v1/products?limit=300"; path != ""; {
		var page struct {
			Next     string    `json:"next_cursor"`
			Products []product `json:"products"`
		}
		c.must(200, get(path)).decode(c.t, &page)
		for _, p := range page.Products {
			if p.FeaturedImage == "" {
				c.t.Errorf("%s has no picture", p.ID)
			}
			images[p.FeaturedImage] = true
			for _, image := range p.Images {
				images[image] = true
			}
		}
		if path = ""; page.Next != "" {
			path = "/v1/products?limit=300&cursor=" + page.Next
		}
	}
	if len(images) < 10 {
		c.t.Fatalf("only %d pictures", len(images))
	}
	for image := range images {
		path, ours := strings.CutPrefix(image, c.base)
		if !ours {
			c.t.Errorf("picture %s is not below %s", image, c.base)
			continue
		}
		// Browsers show the images, so they need no key.
		if a := c.with("").must(200, get(path)); a.header.Get("Content-Type") != "image/svg+xml" || len(a.body) == 0 {
			c.t.Errorf("%s: %s, %d bytes", image, a.header.Get("Content-Type"), len(a.body))
		}
	}
}

// Without a folder for temporary files the demo says what to do. With one, its files
// are private to their owner.
func TestDemoFolder(t *testing.T) {
	t.Parallel()
	nowhere := filepath.Join(t.TempDir(), "nowhere")
	operateIn(t, []string{"TMPDIR=" + nowhere}, "demo", "--listen", "127.0.0.1:0").refused(t, 1, nowhere, "TMPDIR", "make")
	temp := t.TempDir()
	p := start(t, []string{"TMPDIR=" + temp}, "demo", "--listen", "127.0.0.1:0")
	p.ready(&p.stdout, demoLine)
	folders, err := filepath.Glob(filepath.Join(temp, "purveyor-demo-*"))
	if err != nil || len(folders) != 1 {
		t.Fatalf("folders of the demo: %q, %v", folders, err)
	}
	checkPrivate(t, folders[0], "demo.db", "demo.db-wal", "demo.db-rates")
}
