package command

import "purveyor/internal/commerce"

// KeepStrayCallback stores a provider's callback about a delivery that is not ours.
type KeepStrayCallback struct{ Callback commerce.StrayCallback }

// Needs names nothing.
func (c KeepStrayCallback) Needs() commerce.Needs { return commerce.Needs{} }

// Decide stores it.
func (c KeepStrayCallback) Decide(_ *commerce.Rows, now commerce.Millis) (bool, commerce.Changes, error) {
	c.Callback.ReceivedOn = now
	return true, commerce.Changes{StrayCallbacks: []commerce.StrayCallback{c.Callback}}, nil
}
