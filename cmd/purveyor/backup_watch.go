package main

import (
	"log/slog"
	"sync"
	"time"

	"purveyor/internal/backup"
	"purveyor/internal/metrics"
)

// backupWatch reads the newest results of a folder of backups.
type backupWatch struct {
	dir string

	mu     sync.Mutex
	warned time.Time
}

// read returns a backup of each kind that there is, and always one of those that `purveyor backup`
// takes: as long as there is none, it is not ok.
func (w *backupWatch) read() (list []metrics.Backup) {
	for _, kind := range backup.Kinds {
		r, err := backup.ReadResult(w.dir, kind)
		switch {
		case err != nil:
			w.warn(err)
			list = append(list, metrics.Backup{Kind: string(kind)})
		case r != nil:
			list = append(list, metrics.Backup{Kind: string(kind), OK: r.OK, GoodOn: r.GoodOn})
		case kind == backup.OfBackup:
			list = append(list, metrics.Backup{Kind: string(kind)})
		}
	}
	return list
}

// warn warns once a minute.
func (w *backupWatch) warn(err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if time.Since(w.warned) >= time.Minute {
		w.warned = time.Now()
		slog.Warn("the result of the last backup cannot be read", "error", err)
	}
}
