package config

import (
	"math"
	"runtime/debug"
	"testing"
)

func TestBoundMemory(t *testing.T) {
	had, limit := debug.SetGCPercent(-1), debug.SetMemoryLimit(-1)
	defer func() { debug.SetGCPercent(had); debug.SetMemoryLimit(limit) }()
	const unset, own = "", "set by the operator"
	for _, c := range []struct {
		gogc, gomemlimit string
		elsewhere        bool
		percent          int
		limit            int64
	}{
		{unset, unset, false, 200, 76 << 20},
		{unset, unset, true, 1000, 96 << 20},
		{own, unset, true, 50, 96 << 20},
		{unset, own, true, 1000, math.MaxInt64},
	} {
		t.Setenv("GOGC", c.gogc)
		t.Setenv("GOMEMLIMIT", c.gomemlimit)
		debug.SetGCPercent(50)
		debug.SetMemoryLimit(math.MaxInt64)
		Server{CacheMiB: 32}.BoundMemory(c.elsewhere)
		if percent, limit := debug.SetGCPercent(50), debug.SetMemoryLimit(-1); percent != c.percent || limit != c.limit {
			t.Errorf("%+v: %d percent, %d bytes", c, percent, limit)
		}
	}
}
