package sqlite

import (
	"log/slog"
	"time"

	"zombiezen.com/go/sqlite"
)

// Commits go to the write-ahead log until a checkpoint copies it into the database
// file. SQLite would do that inside some commits, whose batches would wait for it.
// Here a goroutine with its own connection does it beside the batches, and rarely: a
// page that many commits wrote is copied once. Then the log restarts in its existing
// space, because batches that lengthen the file, and reads that search a long log,
// take longer.
const (
	// checkpointPause is how long after a commit the log is looked at.
	checkpointPause = 200 * time.Millisecond
	// shortPause is the same while space on the disk is short.
	shortPause = 10 * time.Millisecond
	// checkpointFrames of 4 KiB that are not copied yet are worth a checkpoint while
	// the disk has room.
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
	var warned time.Time
	for {
		select {
		case <-e.saved:
		case <-e.closing:
			return
		}
		least, pause := e.worthCopying(), checkpointPause
		if e.full.Load() {
			pause = 0
		} else if least < checkpointFrames {
			pause = shortPause
		}
		select {
		case <-time.After(pause):
		case <-e.closing:
			return // closing the last connection copies the rest
		}
		// If it fails, the log keeps everything, and the next checkpoint tries again.
		if err := e.checkpoint(conn, least); err != nil && time.Since(warned) > time.Minute {
			warned = time.Now()
			slog.Warn("checkpoint failed", "error", explain(err))
		}
	}
}

// worthCopying is the number of frames that are worth a checkpoint. It is smaller when the
// disk is nearly full, because the database file must grow by the frames of the log before
// the log can begin again. When the disk is full, a single frame is worth it.
func (e *Engine) worthCopying() int64 {
	if e.full.Load() {
		return 1
	}
	const frameBytes = 4 << 10
	// The rest of the space is for batches until the next look at the log.
	const share = 4
	return min(checkpointFrames, max(1, freeSpace(e.path)/frameBytes/share))
}

// failed classifies the error of a write as unavailable does. If the disk is full, the log
// is copied at once, because the log may be the file that takes the room.
func (e *Engine) failed(err error) error {
	if sqlite.ErrCode(err).ToPrimary() == sqlite.ResultFull {
		e.full.Store(true)
		e.wakeCheckpoints()
	}
	return unavailable(err)
}

// checkpoint copies the log into the database if at least this many frames are not copied.
// It does so in three steps: all frames, then the frames that batches have added meanwhile,
// then the last few, while batches wait.
func (e *Engine) checkpoint(conn *connection, least int64) error {
	frames, copied, err := walCheckpoint(conn, "NOOP")
	if err != nil || frames-copied < least {
		return err
	}
	defer e.tellCopied(time.Now())
	if !e.full.Load() { // else batches would take the room that the file needs
		for range 2 {
			if frames, copied, err = walCheckpoint(conn, "PASSIVE"); err != nil {
				return err
			}
		}
		if frames-copied > leftFrames {
			return nil
		}
	}
	writer := <-e.writer
	defer func() { e.writer <- writer }()
	if _, _, err = walCheckpoint(conn, "RESTART"); err == nil {
		e.full.Store(false)
	}
	return err
}

// walCheckpoint runs a checkpoint, and returns the number of frames in the log and how many
// of them are copied. The mode NOOP copies nothing.
func walCheckpoint(conn *connection, mode string) (frames, copied int64, err error) {
	err = query(conn, "PRAGMA wal_checkpoint("+mode+")", noArgs, func(s *scanner) {
		s.next() // whether it had to stop early, which is no fault
		frames, copied = s.Int(), s.Int()
	})
	return frames, copied, err
}

// wakeCheckpoints wakes the goroutine of checkpoints, if it sleeps.
func (e *Engine) wakeCheckpoints() {
	select {
	case e.saved <- struct{}{}:
	default:
	}
}
