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
			return // closing the last connection copies what is left
		}
		// If it fails, the log keeps everything, and the next one tries again.
		if err := e.checkpoint(conn, least); err != nil && time.Since(warned) > time.Minute {
			warned = time.Now()
			slog.Warn("checkpoint failed", "error", explain(err))
		}
	}
}

// worthCopying is how many frames are worth a checkpoint. When the disk is nearly
// full it is fewer, because the file must grow by what the log holds before the
// log can begin again; when it is full, any frame is worth the try.
func (e *Engine) worthCopying() int64 {
	if e.full.Load() {
		return 1
	}
	const frameBytes = 4 << 10
	// The rest of the space is for what is saved until the log is looked at again.
	const share = 4
	return min(checkpointFrames, max(1, freeSpace(e.path)/frameBytes/share))
}

// failed sorts the error of a write as unavailable does. After one that found the
// disk full, the log is copied at once: that may be what takes the room.
func (e *Engine) failed(err error) error {
	if sqlite.ErrCode(err).ToPrimary() == sqlite.ResultFull {
		e.full.Store(true)
		e.wakeCheckpoints()
	}
	return unavailable(err)
}

// checkpoint copies the log when at least so much of it is not copied, in three steps: all that is in it, what batches have
// added meanwhile, and, while they wait, the little that has come since.
func (e *Engine) checkpoint(conn *connection, least int64) error {
	frames, copied, err := walCheckpoint(conn, "NOOP")
	if err != nil || frames-copied < least {
		return err
	}
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

// walCheckpoint tells how many frames the log has, and how many of them are
// copied. NOOP only tells.
func walCheckpoint(conn *connection, mode string) (frames, copied int64, err error) {
	err = query(conn, "PRAGMA wal_checkpoint("+mode+")", noArgs, func(s *scanner) {
		s.next() // whether it had to stop early, which is no fault
		frames, copied = s.Int(), s.Int()
	})
	return frames, copied, err
}

// wakeCheckpoints wakes the checkpoints, if they are not awake.
func (e *Engine) wakeCheckpoints() {
	select {
	case e.saved <- struct{}{}:
	default:
	}
}
