package sqlite

import (
	"fmt"
	"path/filepath"
	"testing"
	"time"
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

// TestLogBeginsAnew: what is written after a checkpoint takes the place of what
// was copied, unless a read still needs that.
func TestLogBeginsAnew(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.db")
	e, err := Open(path, Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	conn, err := connect(path, Options{BusyTimeout: time.Millisecond}, false, checkpointCacheKiB)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	saved := 0
	framesAfter := func(n int) int64 {
		t.Helper()
		for range n {
			saved++
			if err := saveReply(e, fmt.Sprint(saved)); err != nil {
				t.Fatal(err)
			}
		}
		frames, _, err := walCheckpoint(conn, "NOOP")
		if err != nil {
			t.Fatal(err)
		}
		return frames
	}
	before := framesAfter(20)
	if err := e.checkpoint(conn, before+1); err != nil {
		t.Error(err)
	}
	if after := framesAfter(1); after <= before {
		t.Errorf("%d frames, then %d: the log began anew though it was short", before, after)
	}
	if err := e.checkpoint(conn, 1); err != nil {
		t.Error(err)
	}
	if after := framesAfter(1); after >= before {
		t.Errorf("%d frames, then %d: the log did not begin anew", before, after)
	}

	before = framesAfter(20)
	reader := <-e.readers
	for _, sql := range []string{"BEGIN", "SELECT value FROM meta"} {
		if err := exec(reader, sql, noArgs); err != nil {
			t.Fatal(err)
		}
	}
	if err := e.checkpoint(conn, 1); err != nil {
		t.Errorf("beside a read: %v", err)
	}
	if after := framesAfter(1); after <= before {
		t.Errorf("%d frames, then %d: the log began anew beside a read of it", before, after)
	}
	if err := exec(reader, "ROLLBACK", noArgs); err != nil {
		t.Error(err)
	}
	e.readers <- reader
}

// TestCheckpointLeavesBatchesAlone: a checkpoint of a short log, and one of a log
// that a long read needs, do not wait for the turn to write.
func TestCheckpointLeavesBatchesAlone(t *testing.T) {
	e := fresh(t).Open(t, time.Now).(*Engine)
	conn, err := connect(e.path, Options{BusyTimeout: time.Millisecond}, false, checkpointCacheKiB)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	alone := func(least int64) {
		t.Helper()
		writer := <-e.writer
		defer func() { e.writer <- writer }()
		done := make(chan error, 1)
		go func() { done <- e.checkpoint(conn, least) }()
		select {
		case err := <-done:
			if err != nil {
				t.Error(err)
			}
		case <-time.After(10 * time.Second):
			t.Error("it waits for its turn to write")
		}
	}
	alone(1 << 40)
	reader := <-e.readers
	defer func() { e.readers <- reader }()
	for _, sql := range []string{"BEGIN", "SELECT value FROM meta"} {
		if err := exec(reader, sql, noArgs); err != nil {
			t.Fatal(err)
		}
	}
	for n, frames := 0, int64(0); frames < leftFrames+1000; n++ {
		if err = saveReply(e, fmt.Sprint(n)); err == nil {
			frames, _, err = walCheckpoint(conn, "NOOP")
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	alone(1)
	if err := exec(reader, "ROLLBACK", noArgs); err != nil {
		t.Error(err)
	}
}
