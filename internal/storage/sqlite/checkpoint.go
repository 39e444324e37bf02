package sqlite

import (
	"log/slog"
	"time"
)

// What is committed stands in the write-ahead log until a checkpoint copies it
// into the database file. SQLite would do that inside of some commits, whose
// batches then wait for it; here a goroutine with a connection of its own does
// it beside them, and seldom: a page that many commits wrote is copied once.
const (
	// checkpointPause is how long after a commit the log is looked at.
	checkpointPause = 200 * time.Millisecond
	// checkpointFrames of 4 KiB that are not copied yet are worth a checkpoint.
	checkpointFrames = 64_000
	// restartFrames is when the log has grown too long, because batches were
	// always at its end: they wait once, until it can begin anew.
	restartFrames = 96_000
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
		if err := e.checkpoint(conn); err != nil { // the log keeps everything; the next one tries again
			slog.Warn("checkpoint failed", "error", explain(err))
		}
	}
}

func (e *Engine) checkpoint(conn *connection) error {
	frames, copied, err := walCheckpoint(conn, "NOOP")
	if err != nil || frames-copied < checkpointFrames {
		return err
	}
	frames, _, err = walCheckpoint(conn, "PASSIVE")
	if err != nil || frames < restartFrames {
		return err
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
