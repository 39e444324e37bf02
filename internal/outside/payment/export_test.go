package payment

import "time"

// SetClock has the sandbox live at another time.
func (s *Sandbox) SetClock(now func() time.Time) { s.now = now }
