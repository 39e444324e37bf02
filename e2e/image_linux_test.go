package e2e_test

import (
	"archive/tar"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"

	"purveyor/internal/testkit/check"
	"purveyor/internal/testkit/office"
)

// container is the root file system of a release's image, and how the image says to run it.
type container struct {
	t      *testing.T
	root   string
	config struct {
		Entrypoint, Cmd, Env []string
		User, WorkingDir     string
	}
}

// unpackImage makes a release for this machine, and unpacks its image.
func unpackImage(t *testing.T) *container {
	t.Helper()
	out, here := t.TempDir(), "linux-"+runtime.GOARCH
	cmd := exec.Command("go", "-C", "../packaging", "run", ".", "--version", "0.0.1", "--out", out, "--only", strings.Replace(here, "-", "/", 1))
	cmd.Env = append(os.Environ(), "GOFLAGS=-trimpath", "CGO_ENABLED=0")
	if text, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("packaging: %v\n%s", err, text)
	}
	i := &container{t: t, root: t.TempDir()}
	check.OK(t, os.Chmod(i.root, 0o755))
	files := map[string][]byte{}
	f, err := os.Open(filepath.Join(out, "purveyor-0.0.1-"+here+".docker.tar"))
	check.OK(t, err)
	defer f.Close()
	check.OK(t, eachEntry(f, func(h *tar.Header, r io.Reader) (err error) {
		files[h.Name], err = io.ReadAll(r)
		return err
	}))
	var manifest []struct {
		Config string
		Layers []string
	}
	check.OK(t, json.Unmarshal(files["manifest.json"], &manifest))
	check.OK(t, json.Unmarshal(files[manifest[0].Config], &struct{ Config any }{&i.config}))
	for _, layer := range manifest[0].Layers {
		z, err := gzip.NewReader(strings.NewReader(string(files[layer])))
		check.OK(t, err)
		check.OK(t, eachEntry(z, i.unpack))
	}
	return i
}

func eachEntry(r io.Reader, do func(h *tar.Header, r io.Reader) error) error {
	t := tar.NewReader(r)
	for {
		h, err := t.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err == nil {
			err = do(h, t)
		}
		if err != nil {
			return err
		}
	}
}

func (i *container) unpack(h *tar.Header, r io.Reader) error {
	path := filepath.Join(i.root, h.Name)
	if h.Typeflag == tar.TypeDir {
		if err := os.Mkdir(path, 0o755); err != nil {
			return err
		}
	} else {
		data, err := io.ReadAll(r)
		if err == nil {
			err = os.WriteFile(path, data, 0o644)
		}
		if err != nil {
			return err
		}
	}
	return errors.Join(os.Chown(path, h.Uid, h.Gid), os.Chmod(path, os.FileMode(h.Mode).Perm()))
}

// enter stands for an engine: in a mount namespace of its own all is read-only but the volume
// and the folder for temporary files, and the program runs in a chroot as the image's user.
// Unlike in a container there is no /proc and no /dev, and the network is that of the test.
const enter = `mount --bind "$ROOT" "$ROOT" && mount --bind "$ROOT/data" "$ROOT/data" && mount -t tmpfs -o mode=1777 tmpfs "$ROOT/tmp" &&
mount -o remount,ro,bind "$ROOT" && exec setpriv --no-new-privs chroot --userspec="$ID" --groups= "$ROOT" "$@"`

// command is the image's entrypoint with other arguments than its own, and variables.
func (i *container) command(args ...string) (cmd *exec.Cmd, env []string) {
	args = append([]string{"--mount", "sh", "-c", enter, "sh"}, append(i.config.Entrypoint, args...)...)
	return exec.Command("unshare", args...), append(i.config.Env, "ROOT="+i.root, "ID="+i.config.User)
}

func (i *container) operate(args ...string) result {
	i.t.Helper()
	cmd, env := i.command(args...)
	cmd.Env = environment(env...)
	return runCommand(i.t, cmd)
}

// TestImage is the image's smoke suite: as an unprivileged user on a read-only root, with
// little memory, it imports, signs a person in three times, and takes 100 orders of 10 clients at once.
func TestImage(t *testing.T) {
	if os.Getenv("PURVEYOR_TEST_PACKAGES") == "" {
		t.Skip("scripts/test full makes packages")
	}
	if err := exec.Command("unshare", "--mount", "true").Run(); err != nil {
		t.Skip("a root file system of its own needs root: ", err)
	}
	i := unpackImage(t)
	if i.config.User != "65532:65532" || i.config.WorkingDir != "/data" {
		t.Errorf("user %s in %s", i.config.User, i.config.WorkingDir)
	}
	catalog := check.JSON(map[string]any{"stores": []any{map[string]any{"id": "s1", "name": "First"}},
		"products": []any{map[string]any{"id": "p1", "name": "Tea", "store_id": "s1", "price": 100, "available_quantity": 1000}}})
	check.OK(t, os.WriteFile(filepath.Join(i.root, "data/catalog.json"), []byte(catalog), 0o644))
	i.operate("import", "catalog.json").refused(t, 1, "catalog.json") // chroot starts in /, not in /data
	i.operate("import", "/data/catalog.json").ok(t)
	i.operate("export", "--out", "/catalog.json").refused(t, 1, "read-only file system")
	partner := parseIssued(t, i.operate("partner", "create", "--json", "--name", "Kiosk", "--rate-limit", "10000").ok(t))
	invited := i.operate("user", "create", "--email", "jo@e.example")

	cmd, env := i.command(append(i.config.Cmd, "--listen", "127.0.0.1:0", "--cache-mib", "4")...)
	p := startCommand(t, cmd, append(env, "GOMEMLIMIT=64MiB"))
	base := p.ready(&p.stderr, servingLine)
	var clients sync.WaitGroup
	for n := range 10 {
		clients.Go(func() { tenOrders(newClient(t, base, partner.Keys.Live), n) })
	}
	jo := office.Accept(t, base, oneTimeLink.FindStringSubmatch(invited.ok(t))[2])
	for range 3 { // a password takes 19 MiB for a moment
		if status, _ := office.New(t, base).SignIn("jo@e.example"); status != http.StatusSeeOther {
			t.Errorf("signed in: %d", status)
		}
	}
	clients.Wait()
	if status, _ := jo.Get("/office/orders"); status != http.StatusOK {
		t.Errorf("the orders in the office: %d", status)
	}
	i.operate("backup", "--to", "/data").ok(t)
	peak := p.peakMiB()
	if t.Logf("peak memory %d MiB", peak); peak > 96 {
		t.Errorf("the service took %d MiB, want at most 96", peak)
	}
	p.stop()
	i.operate("ledger", "check").ok(t)
	i.operate("stock", "check").ok(t)
	if text := i.operate("export").ok(t); !strings.Contains(text, `"available_quantity":900`) {
		t.Errorf("the catalog after 100 orders of a stock of 1000:\n%s", text)
	}
}

// tenOrders reports orders and works them to their end.
func tenOrders(c *client, n int) {
	for k := range 10 {
		a, err := c.send(report(fmt.Sprintf("%d-%d", n, k), "p1"))
		if err != nil || a.status != http.StatusCreated {
			c.t.Errorf("%d %v: %s", a.status, err, a.body)
			return
		}
		order := "/v1/orders/" + a.orderID(c.t)
		for _, r := range []request{get("/v1/products"), post(order+"/ready-for-pickup", "", nil), post(order+"/picked-up", "", nil), get(order + "/timeline")} {
			if a, err := c.send(r); err != nil || a.status != http.StatusOK {
				c.t.Errorf("%s %s: %d %v: %s", r.method, r.path, a.status, err, a.body)
			}
		}
	}
}
