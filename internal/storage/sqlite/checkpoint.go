package sqlite

import (
	"log/slog"
	"time"
)

// What is committed stands in the write-ahead log until a checkpoint copies it
// into the database file. SQLite would do that inside of some commits, whose
// batches then wait for it; here a goroutine with a connection of its own does
// it beside them.
const (
	// checkpointPause gathers commits, so that a page that many of them write is
	// copied once.
	checkpointPause = 200 * time.Millisecond
	// restartFrames is when the log has grown too long, because readers or
	// batches were always at its end: batches wait once until it can begin anew.
	restartFrames = 16_000
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
		frames, err := checkpoint(conn, "PASSIVE")
		if err == nil && frames > restartFrames {
			writer := <-e.writer
			_, err = checkpoint(conn, "RESTART")
			e.writer <- writer
		}
		if err != nil { // the log keeps everything; the next one tries again
			slog.Warn("checkpoint failed", "error", explain(err))
		}
	}
}

// checkpoint returns how many frames the log has.
func checkpoint(conn *connection, mode string) (frames int64, err error) {
	err = query(conn, "PRAGMA wal_checkpoint("+mode+")", noArgs, func(s *scanner) {
		s.next() // whether it had to stop early, which is no fault
		frames = s.int()
	})
	return frames, err
}

// tellSaved wakes the checkpoints, if they are not awake.
func (e *Engine) tellSaved() {
	select {
	case e.saved <- struct{}{}:
	default:
	}
}
