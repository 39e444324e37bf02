package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"purveyor/internal/config"
	"purveyor/internal/testkit/check"
)

// A backup that would take the room of the service ends, and leaves nothing but the result.
func TestBackupNeedsRoom(t *testing.T) {
	for _, c := range []struct {
		name   string
		limits backupLimits
		says   string
	}{
		{"too little to begin", backupLimits{spare: 1 << 60, log: 1 << 60}, "free"},
		{"the log grows", backupLimits{log: -1}, "quiet hour"},
		{"the disk fills", backupLimits{log: 1 << 60, free: 1 << 60}, "only"},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := t.TempDir()
			on := onDatabase{Database: config.Database{Database: "sqlite:" + filepath.Join(t.TempDir(), "shop.db")}}
			db, err := on.provide(toFill)
			check.OK(t, err)
			defer func() { check.OK(t, db.Close()) }()
			take := backupTake{onDatabase: on, To: dir, Keep: "7,4,12", limits: c.limits}
			check.OK(t, take.prepare())
			if err := take.Run(t.Context(), db); err == nil || !strings.Contains(err.Error(), c.says) {
				t.Fatalf("the error is %v, want %q", err, c.says)
			}
			entries, err := os.ReadDir(dir)
			check.OK(t, err)
			for _, e := range entries {
				if name := e.Name(); name != "backup.lock" && name != "last-backup.json" {
					t.Errorf("left: %s", name)
				}
			}
		})
	}
}
