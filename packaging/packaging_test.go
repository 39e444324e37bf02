package main

import (
	"archive/tar"
	"bytes"
	"debug/buildinfo"
	"encoding/json"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strings"
	"testing"
	"time"
)

var moment = time.Unix(1_772_463_840, 0).UTC()

func TestArguments(t *testing.T) {
	full := t.TempDir()
	if err := os.WriteFile(filepath.Join(full, "x"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ version, out, only, says string }{
		{"", "x", "", "--version"},
		{"1.2", "x", "", "1.2.3"},
		{"v1.2.3", "x", "", "1.2.3"},
		{"1.2.3", "", "", "--out"},
		{"1.2.3", full, "", "not empty"},
		{"1.2.3", "x", "plan9/amd64", "platform"},
	} {
		if err := run(c.version, c.out, c.only); err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%+v: %v", c, err)
		}
	}
}

// The image has a user, a folder for temporary files, certificates, and a folder for data
// that the user may write.
func TestRootFiles(t *testing.T) {
	var first, second bytes.Buffer
	for _, w := range []io.Writer{&first, &second} {
		if err := writeTar(w, rootFiles([]byte("program")), moment); err != nil {
			t.Fatal(err)
		}
	}
	if !bytes.Equal(first.Bytes(), second.Bytes()) {
		t.Error("two runs differ")
	}
	found := map[string]*tar.Header{}
	for r := tar.NewReader(&first); ; {
		h, err := r.Next()
		if err == io.EOF {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		if !h.ModTime.Equal(moment) {
			t.Errorf("%s is of %v", h.Name, h.ModTime)
		}
		found[h.Name] = h
	}
	if h := found["data/"]; h == nil || h.Uid != user || h.Gid != user || h.Mode != 0o700 {
		t.Errorf("data: %+v", h)
	}
	if h := found["tmp/"]; h == nil || h.Mode != 0o1777 {
		t.Errorf("tmp: %+v", h)
	}
	if h := found["purveyor"]; h == nil || h.Mode != 0o755 || h.Uid != 0 {
		t.Errorf("program: %+v", h)
	}
	if n := strings.Count(string(authorities()), "BEGIN CERTIFICATE"); n < 100 {
		t.Errorf("%d authorities", n)
	}
}

func TestParts(t *testing.T) {
	info := &buildinfo.BuildInfo{GoVersion: "go1.26", Deps: []*debug.Module{
		{Path: "a.example/a", Version: "v1.0.0"},
		{Path: "b.example/b", Version: "v1.0.0", Replace: &debug.Module{Path: "c.example/c", Version: "v2.0.0"}}}}
	data, err := json.Marshal(release{version: "1.2.3", time: moment}.parts(info))
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{`"bomFormat":"CycloneDX"`, `pkg:golang/stdlib@go1.26`, `pkg:golang/a.example/a@v1.0.0`, `pkg:golang/c.example/c@v2.0.0`} {
		if !strings.Contains(string(data), want) {
			t.Errorf("%s is not in %s", want, data)
		}
	}
}

// TestRelease makes a release twice, compares all files, and lets Debian's tools look at its
// packages.
func TestRelease(t *testing.T) {
	if os.Getenv("PURVEYOR_TEST_PACKAGES") == "" {
		t.Skip("scripts/test full makes releases")
	}
	first, called := t.TempDir(), t.TempDir()
	if err := run("1.2.3", first, ""); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PWD", called)
	if err := run("1.2.3", "second", ""); err != nil {
		t.Fatal(err)
	}
	if text, err := exec.Command("diff", "-r", first, filepath.Join(called, "second")).CombinedOutput(); err != nil {
		t.Errorf("two runs differ: %v\n%s", err, text)
	}
	check := exec.Command("sha256sum", "--check", "--strict", "--quiet", "SHA256SUMS")
	check.Dir = first
	if text, err := check.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, text)
	}
	packages, err := filepath.Glob(filepath.Join(first, "*.deb"))
	if err != nil || len(packages) != 2 {
		t.Fatal(packages, err)
	}
	t.Run("lintian", func(t *testing.T) {
		if _, err := exec.LookPath("lintian"); err != nil {
			t.Skip("lintian is not installed")
		}
		text, err := exec.Command("lintian", append([]string{"--allow-root", "--fail-on", "error,warning"}, packages...)...).CombinedOutput()
		if err != nil || len(bytes.TrimSpace(text)) > 0 {
			t.Errorf("%v\n%s", err, text)
		}
	})
	t.Run("installed", func(t *testing.T) { install(t, filepath.Join(first, "purveyor-1.2.3-linux-"+runtime.GOARCH+".deb")) })
}

// install installs a package twice and purges it, on a copy of this machine's files that
// lies in memory and is gone at the end.
func install(t *testing.T, file string) {
	const copied = `set -e
mount -t tmpfs tmpfs "$0"
mkdir "$0/upper" "$0/work" "$0/root"
mount -t overlay -o "lowerdir=/,upperdir=$0/upper,workdir=$0/work" overlay "$0/root"
cp "$1" "$0/root/purveyor.deb"`
	const steps = `set -e
dpkg -i /purveyor.deb
purveyor version | grep -x "version   1.2.3"
purveyor config check --config /etc/purveyor/purveyor.conf
systemctl is-enabled purveyor.service purveyor.socket purveyor-backup.timer
test ! -e /var/lib/purveyor # nothing was started
echo "# mine" >>/etc/purveyor/purveyor.conf
dpkg -i /purveyor.deb
grep -x "# mine" /etc/purveyor/purveyor.conf
dpkg -P purveyor
test ! -e /etc/purveyor && test ! -e /usr/bin/purveyor
test -z "$(find /etc/systemd -name "purveyor*")"`
	if text, err := exec.Command("unshare", "--mount", "sh", "-c", "true").CombinedOutput(); err != nil {
		t.Skipf("files of its own need root: %s", text)
	}
	text, err := exec.Command("unshare", "--mount", "sh", "-c", copied+`
exec chroot "$0/root" sh -xc '`+steps+`'`, t.TempDir(), file).CombinedOutput()
	if err != nil {
		t.Errorf("%v\n%s", err, text)
	}
}
