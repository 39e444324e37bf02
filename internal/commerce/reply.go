package commerce

// Decision is the effect of a job's outcome on the stored reply that waits
// for it (Job.ReplyTo).
type Decision int

// The decisions.
const (
	Undecided Decision = iota // the job goes on, and the reply waits
	Decided                   // the answer is known: the reply is closed
	Refused                   // there is nothing to answer with: the key is free again
	// Amended: the answer says more than before. A reply that waits for another job
	// still waits, and one that is closed already is written again.
	Amended
)
