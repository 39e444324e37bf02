package load

import "time"

// Steadily has callers make so many requests a second together, evenly, as
// long as the service keeps up: what is late is made at once.
func Steadily(list []Caller, perSecond int) []Caller {
	every := time.Duration(len(list)) * time.Second / time.Duration(perSecond) // of one connection
	now := time.Now()
	paced := make([]Caller, len(list))
	for i, c := range list {
		paced[i] = &steady{c, now.Add(every * time.Duration(i) / time.Duration(len(list))), every}
	}
	return paced
}

// steady makes its next request when it is due.
type steady struct {
	Caller
	due   time.Time
	every time.Duration
}

func (s *steady) Next() []byte {
	time.Sleep(time.Until(s.due))
	s.due = s.due.Add(s.every)
	return s.Caller.Next()
}
