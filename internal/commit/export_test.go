package commit

import "purveyor/internal/commerce"

// Waiting is how many commands are admitted and in no batch yet.
func (c *Committer) Waiting() (n int) {
	for _, q := range c.queues {
		n += len(q.calls)
	}
	return n
}

// IdleInEachQueue admits a command that does nothing to each queue, and returns the number of queues.
func (c *Committer) IdleInEachQueue() int {
	for _, q := range c.queues {
		q.calls <- &call{done: make(chan struct{}), decide: func(*commerce.Rows, commerce.Millis) (none commerce.Changes, err error) { return none, nil }}
		q.wake()
	}
	return len(c.queues)
}
