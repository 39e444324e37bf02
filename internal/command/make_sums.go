package command

import (
	"time"

	"purveyor/internal/commerce"
)

// sumLease is how long a process has the run alone after each of its steps. A step takes
// much less.
const sumLease = 2 * time.Minute

// MakeSums begins a run of the job that makes the sums, for one process alone. The run goes
// on by KeepSums and AdvanceSums.
type MakeSums struct {
	Worker string
	// Until is the hour before which every hour is to have its sums.
	Until commerce.Millis
}

// Needs names the position of the run.
func (c MakeSums) Needs() commerce.Needs {
	return commerce.Needs{SumPositions: []string{commerce.SumRun}}
}

// SumRun is a run that was taken.
type SumRun struct {
	Taken bool
	// Now is the time of the batch. Changes of batches that were saved before have lower
	// times.
	Now commerce.Millis
}

// Decide takes nothing if another process has the run, or the sums are made already.
func (c MakeSums) Decide(rows *commerce.Rows, now commerce.Millis) (SumRun, commerce.Changes, error) {
	p, _ := rows.SumPositions.Get(commerce.SumRun)
	if p.Made(c.Until) || p.Worker != c.Worker && p.LeasedUntil > now && p.LeasedUntil <= now.Add(sumLease) {
		return SumRun{}, commerce.Changes{}, nil
	}
	return SumRun{true, now}, commerce.Changes{SumPositions: []commerce.SumPosition{keptLonger(p, c.Worker, now)}}, nil
}

func keptLonger(p commerce.SumPosition, worker string, now commerce.Millis) commerce.SumPosition {
	p.Name, p.Worker, p.LeasedUntil = commerce.SumRun, worker, now.Add(sumLease)
	return p
}
