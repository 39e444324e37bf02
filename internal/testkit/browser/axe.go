package browser

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/chromedp/chromedp"
)

// axePackage is axe-core (MPL-2.0) at the npm registry, and axeSum the SHA-256 of its script. It
// is loaded for tests alone.
const (
	axePackage = "axe-core@4.14.1"
	axeSum     = "29348999450cdf2849a8e70b7912fc2da85a849da39c0d0d5394f51d4a9ed95c"
)

// Axe looks for what shuts people with impairments out of a page.
type Axe struct{ script string }

// NewAxe loads axe-core from the npm registry.
func NewAxe(t testing.TB) Axe {
	t.Helper()
	folder := t.TempDir()
	pack := exec.Command("npm", "pack", "--silent", "--pack-destination", folder, axePackage)
	pack.Dir = folder
	if out, err := pack.CombinedOutput(); err != nil {
		t.Fatalf("this test needs npm (Debian: npm) and the npm registry: %v\n%s", err, out)
	}
	files, err := filepath.Glob(filepath.Join(folder, "*.tgz"))
	if err != nil || len(files) != 1 {
		t.Fatal(files, err)
	}
	packed, err := os.ReadFile(files[0])
	if err != nil {
		t.Fatal(err)
	}
	script, err := unpack(packed, "package/axe.min.js")
	if err != nil {
		t.Fatal(err)
	}
	if sum := sha256.Sum256(script); hex.EncodeToString(sum[:]) != axeSum {
		t.Fatalf("%s is not the release that is known: %x", axePackage, sum)
	}
	return Axe{string(script)}
}

// unpack returns one file of a package.
func unpack(packed []byte, name string) ([]byte, error) {
	unzipped, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		return nil, err
	}
	for archive := tar.NewReader(unzipped); ; {
		file, err := archive.Next()
		if errors.Is(err, io.EOF) {
			return nil, os.ErrNotExist
		}
		if err != nil {
			return nil, err
		}
		if file.Name == name {
			return io.ReadAll(archive)
		}
	}
}

// Serious lists the serious and critical violations of the page, or only those of colours.
func (a Axe) Serious(v *Visitor, colours bool) []string {
	v.T.Helper()
	return a.violations(v, colours, `["serious", "critical"]`)
}

// All lists all violations of the page, or only those of colours.
func (a Axe) All(v *Visitor, colours bool) []string {
	v.T.Helper()
	return a.violations(v, colours, `["minor", "moderate", "serious", "critical"]`)
}

// violations leaves out what axe would tell of rules that the page keeps.
func (a Axe) violations(v *Visitor, colours bool, impacts string) []string {
	v.T.Helper()
	rules := `{resultTypes: ["violations"]}`
	if colours {
		rules = `{resultTypes: ["violations"], runOnly: ["color-contrast"]}`
	}
	if !Ask[bool](v, "!!window.axe") {
		Ask[bool](v, a.script+";true")
	}
	list, err := chromedp.Run(v.Tab, chromedp.Evaluate[[]string](`axe.run(document, `+rules+`).then(r => r.violations.filter(v => `+impacts+`.includes(v.impact))
		.map(v => v.id + ", " + v.help + ": " + v.nodes.slice(0, 3).map(n => n.html + " " + n.any.map(a => a.message).join(" ")).join("\n")))`, chromedp.EvalAwaitPromise))
	v.must(err)
	return list
}
