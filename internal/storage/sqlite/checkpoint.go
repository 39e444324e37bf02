package sqlite

import (
	"log/slog"
	"time"
)

// What is committed stands in the write-ahead log until a checkpoint copies it
// into the database file. SQLite would do that inside of some commits, whose
// batches then wait for it; here a goroutine with a connection of its own does
// it beside them, and seldom: a page that many commits wrote is copied once. Then
// the log begins anew, in the space that it has: batches that would lengthen the
// file, and reads that would look for their pages in a long log, take longer.
const (
	// checkpointPause is how long after a commit the log is looked at.
	checkpointPause = 200 * time.Millisecond
	// checkpointFrames of 4 KiB that are not copied yet are worth a checkpoint.
	checkpointFrames = 32_000
	// leftFrames are copied while batches wait. When more are left, a long read
	// needs them, and the log goes on.
	leftFrames = 4_000
	// restartPatience is how long batches wait for reads to leave the log.
	restartPatience = 100 * time.Millisecond
)

// checkpoints runs until the engine closes. It sleeps while nothing is saved.
func (e *Engine) checkpoints(conn *connection) {
	defer close(e.checkpointed)
	for {
		select {
		case <-e.saved:
		case <-e.closing:
			return
		}
		select {
		case <-time.After(checkpointPause):
		case <-e.closing:
			return // closing the last connection copies what is left
		}
		if err := e.checkpoint(conn, checkpointFrames); err != nil { // the log keeps everything; the next one tries again
			slog.Warn("checkpoint failed", "error", explain(err))
		}
	}
}

// checkpoint copies the log when at least so much of it is not copied, in three steps: all that is in it, what batches have
// added meanwhile, and, while they wait, the little that has come since.
func (e *Engine) checkpoint(conn *connection, least int64) error {
	frames, copied, err := walCheckpoint(conn, "NOOP")
	if err != nil || frames-copied < least {
		return err
	}
	for range 2 {
		if frames, copied, err = walCheckpoint(conn, "PASSIVE"); err != nil {
			return err
		}
	}
	if frames-copied > leftFrames {
		return nil
	}
	writer := <-e.writer
	defer func() { e.writer <- writer }()
	_, _, err = walCheckpoint(conn, "RESTART")
	return err
}

// walCheckpoint tells how many frames the log has, and how many of them are
// copied. NOOP only tells.
func walCheckpoint(conn *connection, mode string) (frames, copied int64, err error) {
	err = query(conn, "PRAGMA wal_checkpoint("+mode+")", noArgs, func(s *scanner) {
		s.next() // whether it had to stop early, which is no fault
		frames, copied = s.Int(), s.Int()
	})
	return frames, copied, err
}

// tellSaved wakes the checkpoints, if they are not awake.
func (e *Engine) tellSaved() {
	select {
	case e.saved <- struct{}{}:
	default:
	}
}
