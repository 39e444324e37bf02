package e2e_test

import (
	"crypto/rand"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"

	"purveyor/internal/testkit/check"
)

// The disk fills up: reports are refused, nothing that was answered is lost, reads
// continue, and once there is room the same requests succeed.
func TestDiskFull(t *testing.T) {
	t.Parallel()
	t.Run("sqlite", func(t *testing.T) {
		t.Parallel()
		disk := smallDisk(t, 6<<20)
		diskFull(t, newShopIn(t, disk), disk)
	})
	t.Run("postgres", func(t *testing.T) {
		t.Parallel()
		disk := smallDisk(t, 20<<20)
		// The server's log is on another disk: the server would end itself without
		// room for it.
		server := newPostgres(t)
		space := filepath.Join(disk, "space")
		check.OK(t, server.SQL("COPY (SELECT 1) TO PROGRAM 'cat && mkdir "+space+"'",
			"CREATE TABLESPACE small LOCATION '"+space+"'", "CREATE DATABASE shop TABLESPACE small"))
		s := &shop{t: t, postgres: server.URL("shop")}
		s.fill()
		diskFull(t, s, disk)
	})
}

func diskFull(t *testing.T, s *shop, disk string) {
	t.Helper()
	ballast := filepath.Join(disk, "ballast")
	if err := os.WriteFile(ballast, make([]byte, room(t, disk)-(1<<20)), 0o600); err != nil {
		t.Fatal(err)
	}
	p, c := s.serve()
	made, refused := fillDisk(c)
	if len(made) == 0 || len(refused) == 0 {
		t.Fatalf("%d orders, %d refused", len(made), len(refused))
	}
	t.Logf("%d orders, then %d refused", len(made), len(refused))
	// One large change needs the most room, and the operator is told why it fails.
	s.operate("import", s.file("large.json", largeCatalog(3000))).refused(t, 1, "full", "free some space")
	if got := s.count("SELECT count(*) FROM products WHERE id LIKE 'large%'"); got != "0" {
		t.Errorf("a refused import left %s products", got)
	}
	checkMade(c, made)

	// A process that dies while the disk is full can start again, and reads.
	p.kill()
	p, c = s.serve()
	checkMade(c, made)
	if err := os.Remove(ballast); err != nil {
		t.Fatal(err)
	}
	for _, r := range refused {
		a := c.must(201, r)
		if again := c.must(201, r); string(again.body) != string(a.body) {
			t.Errorf("%s made two orders: %s, %s", r.key, a.body, again.body)
		}
		made[strings.TrimPrefix(r.key, "report ")] = a.orderID(t)
	}
	p.stop()
	_, c = s.serve()
	checkMade(c, made)
	if got, want := c.product("p1").Quantity, int64(shopStock-len(made)); got != want {
		t.Errorf("stock is %d, want %d", got, want)
	}
	if got := s.count("SELECT count(*) FROM orders"); got != fmt.Sprint(len(made)) {
		t.Errorf("%s orders, want %d", got, len(made))
	}
	s.checkFile()
}

// smallDisk mounts a file system for the test.
func smallDisk(t *testing.T, bytes int) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "disk")
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	// The PostgreSQL server runs as another user, which has to reach the folder.
	if err := os.Chmod(filepath.Dir(filepath.Dir(dir)), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, fmt.Sprintf("size=%d", bytes)); err != nil {
		t.Skipf("a small disk needs the right to mount a tmpfs: %v", err)
	}
	t.Cleanup(func() {
		if err := syscall.Unmount(dir, syscall.MNT_DETACH); err != nil {
			t.Errorf("unmount %s: %v", dir, err)
		}
	})
	return dir
}

// room returns how many bytes may still be written to the disk.
func room(t *testing.T, disk string) int {
	t.Helper()
	var s syscall.Statfs_t
	if err := syscall.Statfs(disk, &s); err != nil {
		t.Fatal(err)
	}
	return int(s.Bavail) * int(s.Bsize)
}

// fillDisk reports large orders until the service refuses. It returns the orders by
// their external ids, and the refused requests.
func fillDisk(c *client) (made map[string]string, refused []request) {
	c.t.Helper()
	var mu sync.Mutex
	var wg sync.WaitGroup
	made = map[string]string{}
	for w := range 4 {
		wg.Go(func() {
			const enough = 2000 // a disk that takes these is not full
			for n := range enough {
				external := fmt.Sprintf("full-%d-%d", w, n)
				r := report(external, "p1")
				r.body.(map[string]any)["pickup_instructions"] = noise(5000)
				a, err := c.send(r)
				mu.Lock()
				if err == nil && a.status == 201 {
					made[external] = a.orderID(c.t)
					mu.Unlock()
					continue
				}
				refused = append(refused, r)
				mu.Unlock()
				if err != nil {
					c.t.Errorf("a full disk must not cut connections: %v", err)
					return
				}
				a.refusal(c.t, 500, "unavailable")
				if a, err := c.send(get("/v1/orders/by-external/" + external)); err != nil || a.status != 404 {
					c.t.Errorf("%s was refused; it is read as status %d, error %v: %s", external, a.status, err, a.body)
				}
				return
			}
		})
	}
	wg.Wait()
	return made, refused
}

// noise returns a text that hardly compresses.
func noise(length int) string {
	var b strings.Builder
	for b.Len() < length {
		b.WriteString(rand.Text())
	}
	return b.String()[:length]
}

func checkMade(c *client, made map[string]string) {
	c.t.Helper()
	for external, id := range made {
		if o := c.order("/v1/orders/by-external/" + external); o.ID != id || o.Status != "processed" {
			c.t.Errorf("%s is %+v, want %s, processed", external, o, id)
		}
		if o := c.order("/v1/orders/" + id); o.ExternalID != external {
			c.t.Errorf("%s is %+v, want %s", id, o, external)
		}
	}
}
