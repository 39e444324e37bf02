package config

import (
	"os"
	"runtime/debug"
)

const (
	besideCache = 64 << 20 // bytes

	// Percent of what stays. What SQLite takes, about 50 MiB, comes on top.
	garbageBesideSQLite = 200
	garbage             = 1000
)

// BoundMemory has the garbage of this process collected less often than Go would
// by itself, as little of it stays, but before it grows much beyond the memory
// of the cache. There is more room for it when the database is elsewhere. GOGC
// and GOMEMLIMIT override it.
func (s Server) BoundMemory(databaseElsewhere bool) {
	percent := garbageBesideSQLite
	if databaseElsewhere {
		percent = garbage
	}
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(percent)
	}
	if os.Getenv("GOMEMLIMIT") == "" {
		debug.SetMemoryLimit(int64(s.CacheMiB)<<20 + besideCache)
	}
}
