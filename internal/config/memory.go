package config

import (
	"os"
	"runtime/debug"
)

const (
	// Bytes beside the cache of answers about products. What SQLite takes, about 50 MiB,
	// and the program's own text, about 25, come on top.
	besideCacheAndSQLite = 44 << 20
	besideCache          = 64 << 20

	// Percent of what stays.
	garbageBesideSQLite = 200
	garbage             = 1000
)

// BoundMemory has the garbage of this process collected less often than Go would
// by itself, as little of it stays, but before it grows much beyond the memory
// of the cache. There is more room for it when the database is elsewhere. GOGC
// and GOMEMLIMIT override it.
func (s Server) BoundMemory(databaseElsewhere bool) {
	percent, beside := garbageBesideSQLite, int64(besideCacheAndSQLite)
	if databaseElsewhere {
		percent, beside = garbage, besideCache
	}
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(percent)
	}
	if os.Getenv("GOMEMLIMIT") == "" {
		debug.SetMemoryLimit(int64(s.CacheMiB)<<20 + beside)
	}
}
