package command

import "purveyor/internal/commerce"

// AdvanceSums records how far a run has come.
type AdvanceSums struct {
	Worker string
	Feeds  []FeedPosition
	// Until ends the run: every hour before it has its sums. 0: the run goes on.
	Until commerce.Millis
}

// FeedPosition is the time before which all changes of a feed are in the sums.
type FeedPosition struct {
	Name string // commerce.SumFeed
	At   commerce.Millis
}

// Needs names the positions.
func (c AdvanceSums) Needs() commerce.Needs {
	n := MakeSums{}.Needs()
	for _, f := range c.Feeds {
		n.SumPositions = append(n.SumPositions, f.Name)
	}
	return n
}

// Decide refuses a process that has lost the run.
func (c AdvanceSums) Decide(rows *commerce.Rows, now commerce.Millis) (advanced bool, changes commerce.Changes, _ error) {
	p, _ := rows.SumPositions.Get(commerce.SumRun)
	if p.Worker != c.Worker {
		return false, changes, nil
	}
	for _, f := range c.Feeds {
		changes.SumPositions = append(changes.SumPositions, commerce.SumPosition{Name: f.Name, At: f.At})
	}
	p = keptLonger(p, c.Worker, now)
	if c.Until != 0 {
		p.At, p.LeasedUntil = c.Until, 0
	}
	changes.SumPositions = append(changes.SumPositions, p)
	return true, changes, nil
}
