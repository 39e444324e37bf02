package sqlite

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"purveyor/internal/commerce"
	"purveyor/internal/storage/storagetest"
)

// smallDisk mounts a file system of its own for the test.
func smallDisk(t *testing.T, bytes int) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "disk")
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, fmt.Sprintf("size=%d", bytes)); err != nil {
		t.Skipf("a small disk needs the right to mount a tmpfs: %v", err)
	}
	t.Cleanup(func() {
		if err := syscall.Unmount(dir, syscall.MNT_DETACH); err != nil {
			t.Error(err)
		}
	})
	return dir
}

const (
	diskBytes = 24 << 20
	rowBytes  = 32 << 10
)

// rewrite writes the same large row again, with other bytes.
func rewrite(e *Engine, size int) error {
	b, err := e.Load(context.Background(), commerce.Needs{Sandbox: []string{"sbx_1"}})
	if err != nil {
		return err
	}
	defer b.Discard()
	was, _ := b.Rows().Sandbox.Get("sbx_1")
	storagetest.Apply(b, commerce.Changes{Sandbox: []commerce.SandboxObject{{ID: "sbx_1", Version: was.Version + 1, Data: []byte(`"` + strings.Repeat(fmt.Sprint(was.Version%10), size) + `"`)}}})
	return b.Save(context.Background())
}

// TestLogOnSmallDisk: the same row is written so often that the log would be
// larger than the disk. It is copied before it fills the disk.
func TestLogOnSmallDisk(t *testing.T) {
	e, err := Open(filepath.Join(smallDisk(t, diskBytes), "x.db"), Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	for range 4 * diskBytes / rowBytes {
		if err := rewrite(e, rowBytes); err != nil {
			t.Fatal(err)
		}
	}
}

// TestLogThatFilledTheDisk: while a long read needs the log, it takes all of the
// disk. After that a write that finds the disk full has the log copied, for which
// the file has room.
func TestLogThatFilledTheDisk(t *testing.T) {
	e, err := Open(filepath.Join(smallDisk(t, diskBytes), "x.db"), Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	conn, err := connect(e.path, Options{BusyTimeout: restartPatience}, false, checkpointCacheKiB)
	if err == nil {
		err = errors.Join(rewrite(e, 4*rowBytes), rewrite(e, rowBytes)) // pages of the first row are free
	}
	if err == nil {
		err = errors.Join(e.checkpoint(conn, 1), conn.Close())
	}
	if err != nil {
		t.Fatal(err)
	}
	reader := <-e.readers
	for _, sql := range []string{"BEGIN", "SELECT value FROM meta"} {
		if err := exec(reader, sql, noArgs); err != nil {
			t.Fatal(err)
		}
	}
	for err == nil {
		err = rewrite(e, rowBytes)
	}
	if !strings.Contains(err.Error(), "full") || e.worthCopying() != 1 {
		t.Errorf("on a full disk %d frames are worth copying: %v", e.worthCopying(), err)
	}
	if err := exec(reader, "ROLLBACK", noArgs); err != nil {
		t.Fatal(err)
	}
	e.readers <- reader
	for deadline := time.Now().Add(10 * time.Second); err != nil && time.Now().Before(deadline); {
		err = rewrite(e, rowBytes)
	}
	if err != nil {
		t.Error(err)
	}
}

// TestOpenOnFullDisk: a full disk has no room for the file of the rate limits.
// The database opens all the same, and can be read.
func TestOpenOnFullDisk(t *testing.T) {
	dir := smallDisk(t, 2<<20)
	path := filepath.Join(dir, "x.db")
	e, err := Open(path, Options{})
	if err == nil {
		err = errors.Join(saveReply(e, "a"), e.Close(), os.Remove(path+ratesSuffix))
	}
	if err != nil {
		t.Fatal(err)
	}
	const left = 128 << 10 // for the indexes of the logs
	if err := os.WriteFile(filepath.Join(dir, "ballast"), make([]byte, freeSpace(dir)-left), 0o600); err != nil {
		t.Fatal(err)
	}
	if e, err = Open(path, Options{}); err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	if err := e.Reader().Ping(t.Context()); err != nil {
		t.Error(err)
	}
}
