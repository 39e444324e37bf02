package sqlite

import (
	"path/filepath"
	"testing"
)

// TestCheckpointModes: SQLite knows the mode that only tells, and the counts
// mean what the goroutine takes them for.
func TestCheckpointModes(t *testing.T) {
	e, err := Open(filepath.Join(t.TempDir(), "x.db"), Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	if err := saveReply(e, "a"); err != nil {
		t.Fatal(err)
	}
	conn := <-e.writer
	defer func() { e.writer <- conn }()
	frames, copied, err := walCheckpoint(conn, "NOOP")
	if err != nil || frames == 0 || copied != 0 {
		t.Errorf("before: %d frames, %d copied, %v", frames, copied, err)
	}
	if _, _, err := walCheckpoint(conn, "PASSIVE"); err != nil {
		t.Error(err)
	}
	again, copied, err := walCheckpoint(conn, "NOOP")
	if err != nil || again != frames || copied != frames {
		t.Errorf("after: %d frames of %d, %d copied, %v", again, frames, copied, err)
	}
}
