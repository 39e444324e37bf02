package command

import "purveyor/internal/commerce"

// KeepSums stores the sums of hours of one store.
type KeepSums struct {
	Worker string
	Hours  []KeptHour
}

// KeptHour is the sum of an hour of a day.
type KeptHour struct {
	Day  commerce.DaySumsKey
	Hour commerce.HourSum
}

// Needs names the days, and the position of the run.
func (c KeepSums) Needs() commerce.Needs {
	n := MakeSums{}.Needs()
	met := map[commerce.DaySumsKey]bool{}
	for _, h := range c.Hours {
		if !met[h.Day] {
			met[h.Day] = true
			n.HourSums = append(n.HourSums, h.Day)
		}
	}
	return n
}

// Decide replaces the sums. A process that was so slow that another one has the run is
// refused: its sums may be older.
func (c KeepSums) Decide(rows *commerce.Rows, now commerce.Millis) (kept bool, changes commerce.Changes, _ error) {
	p, _ := rows.SumPositions.Get(commerce.SumRun)
	if p.Worker != c.Worker {
		return false, changes, nil
	}
	days := map[commerce.DaySumsKey]int{}
	for _, h := range c.Hours {
		i, met := days[h.Day]
		if !met {
			d, _ := rows.HourSums.Get(h.Day)
			d.DaySumsKey = h.Day
			i, days[h.Day] = len(changes.HourSums), len(changes.HourSums)
			changes.HourSums = append(changes.HourSums, d)
		}
		changes.HourSums[i] = changes.HourSums[i].With(h.Hour)
	}
	changes.SumPositions = []commerce.SumPosition{keptLonger(p, c.Worker, now)}
	return true, changes, nil
}
