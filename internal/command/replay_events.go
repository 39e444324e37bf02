package command

import "purveyor/internal/commerce"

// ReplayEvents delivers one step of a range of events of a partner again.
type ReplayEvents struct{ ResendEvents }

// Decide adds a job for each event, and returns how many.
func (c ReplayEvents) Decide(rows *commerce.Rows, now commerce.Millis) (int, commerce.Changes, error) {
	return c.ResendEvents.Decide(rows, now)
}
