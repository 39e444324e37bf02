package sim

import (
	"container/heap"
	"time"
)

// alarm is what happens at a time: a task goes on, or a function is called.
type alarm struct {
	at   time.Time
	seq  uint64 // of equal times, the earlier alarm comes first
	task *task
	wait uint64 // of the task: an alarm of an earlier wait is void
	fire func()
}

func (a alarm) void() bool { return a.task != nil && (a.task.ended || a.task.waits != a.wait) }

// alarms are in the order of their times.
type alarms struct {
	heap alarmHeap
	made uint64
}

func (a *alarms) push(x alarm) {
	a.made++
	x.seq = a.made
	heap.Push(&a.heap, x)
}

// first is the time of the next alarm.
func (a *alarms) first() (at time.Time, ok bool) {
	for len(a.heap) > 0 && a.heap[0].void() {
		heap.Pop(&a.heap)
	}
	if len(a.heap) == 0 {
		return at, false
	}
	return a.heap[0].at, true
}

// pop takes the first alarm that is due.
func (a *alarms) pop(now time.Time) (x alarm, due bool) {
	if at, ok := a.first(); !ok || at.After(now) {
		return x, false
	}
	return heap.Pop(&a.heap).(alarm), true
}

type alarmHeap []alarm

func (h alarmHeap) Len() int { return len(h) }
func (h alarmHeap) Less(i, j int) bool {
	if !h[i].at.Equal(h[j].at) {
		return h[i].at.Before(h[j].at)
	}
	return h[i].seq < h[j].seq
}
func (h alarmHeap) Swap(i, j int) { h[i], h[j] = h[j], h[i] }
func (h *alarmHeap) Push(x any)   { *h = append(*h, x.(alarm)) }
func (h *alarmHeap) Pop() any {
	last := len(*h) - 1
	x := (*h)[last]
	(*h)[last] = alarm{}
	*h = (*h)[:last]
	return x
}
