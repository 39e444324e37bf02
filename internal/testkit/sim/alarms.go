package sim

import "time"

// alarm is what happens at a time: a task goes on, or a function is called.
type alarm struct {
	at   time.Duration // since start
	seq  uint64        // of equal times, the earlier alarm comes first
	task *task
	wait uint64 // of the task: an alarm of an earlier wait is void
	fire func()
}

func (a alarm) void() bool { return a.task != nil && (a.task.ended || a.task.waits != a.wait) }

// before reports whether an alarm goes off before another one.
func (a *alarm) before(b *alarm) bool {
	if a.at != b.at {
		return a.at < b.at
	}
	return a.seq < b.seq
}

// alarms are a heap: an alarm goes off before the two below it, whose places are 2i+1 and 2i+2.
// There are some for each turn, so they are not boxed as container/heap does.
type alarms struct {
	heap []alarm
	made uint64
}

func (a *alarms) push(x alarm) {
	a.made++
	x.seq = a.made
	a.heap = append(a.heap, x)
	for i := len(a.heap) - 1; i > 0; {
		above := (i - 1) / 2
		if !a.heap[i].before(&a.heap[above]) {
			return
		}
		a.heap[i], a.heap[above] = a.heap[above], a.heap[i]
		i = above
	}
}

// first is the time of the next alarm.
func (a *alarms) first() (at time.Duration, ok bool) {
	for len(a.heap) > 0 && a.heap[0].void() {
		a.take()
	}
	if len(a.heap) == 0 {
		return at, false
	}
	return a.heap[0].at, true
}

// pop takes the first alarm that is due.
func (a *alarms) pop(now time.Duration) (x alarm, due bool) {
	if at, ok := a.first(); !ok || at > now {
		return x, false
	}
	return a.take(), true
}

// take takes the first alarm.
func (a *alarms) take() (x alarm) {
	x = a.heap[0]
	last := len(a.heap) - 1
	moved := a.heap[last]
	a.heap[last] = alarm{}
	if a.heap = a.heap[:last]; last == 0 {
		return x
	}
	i := 0
	for below := 1; below < last; below = 2*i + 1 {
		if right := below + 1; right < last && a.heap[right].before(&a.heap[below]) {
			below = right
		}
		if !a.heap[below].before(&moved) {
			break
		}
		a.heap[i] = a.heap[below]
		i = below
	}
	a.heap[i] = moved
	return x
}
