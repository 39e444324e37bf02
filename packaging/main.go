// Command packaging makes everything that a release of Purveyor consists of: archives, an
// image for containers, packages for Debian, the list of parts, and the sums of all files.
// It needs the sources, Go and git, and no container engine. Two runs on one commit give
// equal bytes.
package main

import (
	"crypto/sha256"
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// release is what the parts of a release have in common.
type release struct {
	version string
	time    time.Time // of the commit
	root    string    // of the sources
	out     string
}

// platform is what a program is made for.
type platform struct{ os, arch string }

var platforms = []platform{{"linux", "amd64"}, {"linux", "arm64"}, {"darwin", "amd64"}, {"darwin", "arm64"}, {"windows", "amd64"}, {"windows", "arm64"}}

func main() {
	version := flag.String("version", "", "version of the release, such as 1.2.3")
	out := flag.String("out", "", "folder for the files, which is made or is empty; a relative one counts from where the command is called")
	only := flag.String("only", "", "one platform, such as linux/amd64, instead of all")
	flag.Parse()
	if err := run(*version, *out, *only); err != nil {
		fmt.Fprintln(os.Stderr, "packaging:", err)
		os.Exit(1)
	}
}

func run(version, out, only string) error {
	chosen, err := choose(only)
	if err != nil {
		return err
	}
	r, err := newRelease(version, out)
	if err != nil {
		return err
	}
	programs, err := os.MkdirTemp("", "purveyor-packaging-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(programs)
	onLinux := map[platform]string{}
	for _, p := range chosen {
		program := filepath.Join(programs, p.os+"-"+p.arch)
		if err := r.packPlatform(p, program); err != nil {
			return fmt.Errorf("%s/%s: %w", p.os, p.arch, err)
		}
		if p.os == "linux" {
			onLinux[p] = program
		}
	}
	if len(onLinux) > 0 {
		if err := r.writeImages(onLinux); err != nil {
			return err
		}
	}
	return writeSums(r.out)
}

// choose returns the platforms to make the release for.
func choose(only string) ([]platform, error) {
	if only == "" {
		return platforms, nil
	}
	for _, p := range platforms {
		if p.os+"/"+p.arch == only {
			return []platform{p}, nil
		}
	}
	return nil, fmt.Errorf("--only %s: there is no such platform", only)
}

var versionForm = regexp.MustCompile(`^[0-9]+\.[0-9]+\.[0-9]+(-[0-9A-Za-z.]+)?$`)

// newRelease checks what was asked for, and reads the time of the commit.
func newRelease(version, out string) (release, error) {
	if !versionForm.MatchString(version) {
		return release{}, fmt.Errorf("--version %q is not like 1.2.3", version)
	}
	if out == "" {
		return release{}, errors.New("--out DIR is required")
	}
	// `go -C packaging run` has left the folder in which it was called; PWD still names it.
	if called := os.Getenv("PWD"); !filepath.IsAbs(out) && filepath.IsAbs(called) {
		out = filepath.Join(called, out)
	}
	entries, err := os.ReadDir(out)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return release{}, err
	}
	if len(entries) > 0 {
		return release{}, fmt.Errorf("--out %s is not empty", out)
	}
	root, err := output("git", "rev-parse", "--show-toplevel")
	if err != nil {
		return release{}, err
	}
	text, err := output("git", "log", "-1", "--format=%ct")
	if err != nil {
		return release{}, err
	}
	seconds, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		return release{}, err
	}
	return release{version, time.Unix(seconds, 0).UTC(), root, out}, os.MkdirAll(out, 0o755)
}

func output(name string, args ...string) (string, error) {
	text, err := exec.Command(name, args...).Output()
	if err != nil {
		return "", fmt.Errorf("%s: %w", strings.Join(append([]string{name}, args...), " "), err)
	}
	return strings.TrimSpace(string(text)), nil
}

// packPlatform builds the program, and makes its archive, its list of parts and its package.
func (r release) packPlatform(p platform, program string) error {
	cmd := exec.Command("go", "build", "-trimpath", "-ldflags=-s -w -X main.version="+r.version, "-o", program, "./cmd/purveyor")
	cmd.Dir, cmd.Stderr = r.root, os.Stderr
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "GOOS="+p.os, "GOARCH="+p.arch, "GOAMD64=v1", "GOARM64=v8.0", "GOEXPERIMENT=", "GOFLAGS=", "GOWORK=off")
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("go build: %w", err)
	}
	if err := r.writeArchive(p, program); err != nil {
		return err
	}
	if err := r.writeParts(p, program); err != nil {
		return err
	}
	if p.os != "linux" {
		return nil
	}
	return r.writeDeb(p, program)
}

// path is where a file of the release lies.
func (r release) path(p platform, suffix string) string {
	return filepath.Join(r.out, fmt.Sprintf("purveyor-%s-%s-%s%s", r.version, p.os, p.arch, suffix))
}

// writeSums writes the SHA-256 of each file of the release, as sha256sum does.
func writeSums(out string) error {
	var lines []string
	err := filepath.WalkDir(out, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		sum, err := sumOf(path)
		if err != nil {
			return err
		}
		name, err := filepath.Rel(out, path)
		lines = append(lines, fmt.Sprintf("%x  %s\n", sum, filepath.ToSlash(name)))
		return err
	})
	if err != nil {
		return err
	}
	slices.SortFunc(lines, func(a, b string) int { return strings.Compare(a[66:], b[66:]) })
	return os.WriteFile(filepath.Join(out, "SHA256SUMS"), []byte(strings.Join(lines, "")), 0o644)
}

func sumOf(path string) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	h := sha256.New()
	_, err = io.Copy(h, f)
	return h.Sum(nil), err
}
