package commit

// Waiting is how many commands are admitted and in no batch yet.
func (c *Committer) Waiting() int { return len(c.queue) }
