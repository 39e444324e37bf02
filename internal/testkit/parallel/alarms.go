package parallel

import (
	"container/heap"
	"time"
)

// alarm calls a function at a time.
type alarm struct {
	at   time.Time
	fire func()
	void bool // it is not called any more
}

// alarms are in the order of their times.
type alarms []*alarm

func (a *alarms) add(x *alarm) { heap.Push(a, x) }

// first is the time of the next alarm.
func (a *alarms) first() (at time.Time, some bool) {
	for len(*a) > 0 && (*a)[0].void {
		heap.Pop(a)
	}
	if len(*a) == 0 {
		return at, false
	}
	return (*a)[0].at, true
}

// due takes the first alarm whose time has come; nil: there is none.
func (a *alarms) due(now time.Time) *alarm {
	if at, some := a.first(); !some || at.After(now) {
		return nil
	}
	return heap.Pop(a).(*alarm)
}

func (a alarms) Len() int           { return len(a) }
func (a alarms) Less(i, j int) bool { return a[i].at.Before(a[j].at) }
func (a alarms) Swap(i, j int)      { a[i], a[j] = a[j], a[i] }
func (a *alarms) Push(x any)        { *a = append(*a, x.(*alarm)) }
func (a *alarms) Pop() any {
	last := len(*a) - 1
	x := (*a)[last]
	(*a)[last] = nil
	*a = (*a)[:last]
	return x
}
