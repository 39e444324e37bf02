package commit

import "purveyor/internal/commerce"

// Waiting is how many commands are admitted and in no batch yet.
func (c *Committer) Waiting() (n int) {
	for _, l := range c.loops {
		n += len(l.queue)
	}
	return n
}

// IdleInEachLoop admits a command that does nothing to each loop, and returns the number of loops.
func (c *Committer) IdleInEachLoop() int {
	for _, l := range c.loops {
		l.queue <- &call{done: make(chan struct{}), decide: func(*commerce.Rows, commerce.Millis) (none commerce.Changes, err error) { return none, nil }}
		l.wake()
	}
	return len(c.loops)
}
