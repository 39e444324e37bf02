package sim

import (
	"runtime"
	"runtime/metrics"
	"sync"
)

// garbage is collected between two turns, while no task runs. Beside tasks, a collection makes
// each of their writes to memory slower: a history of 3,000 orders on one core takes 7 % longer
// then. It happens in a program that lets its heap grow beyond garbageFactor.
var garbage struct {
	sync.Mutex
	used uint64 // bytes after the collection before
}

const (
	garbageTurns  = 1 << 12  // between two looks at the heap
	garbageFactor = 5        // how often the heap may be what was in use
	garbageLeast  = 64 << 20 // bytes that are left alone
)

// tidy collects garbage if there is much.
func (s *Sim) tidy() {
	if s.turns.Load()%garbageTurns != 0 {
		return
	}
	garbage.Lock()
	defer garbage.Unlock()
	if heap() > max(garbageLeast, garbageFactor*garbage.used) {
		runtime.GC()
		garbage.used = heap()
	}
}

// heap is how many bytes objects take, also those that are garbage.
func heap() uint64 {
	sample := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}}
	metrics.Read(sample)
	return sample[0].Value.Uint64()
}
