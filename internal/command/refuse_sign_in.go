package command

import "purveyor/internal/commerce"

// RefuseSignIn counts a sign-in that failed.
type RefuseSignIn struct{ Counts []string }

// Needs names the counts.
func (c RefuseSignIn) Needs() commerce.Needs {
	return commerce.Needs{Lock: true, SignInCounts: c.Counts}
}

// Decide counts. A count that is older than its window begins again.
func (c RefuseSignIn) Decide(rows *commerce.Rows, now commerce.Millis) (bool, commerce.Changes, error) {
	var changes commerce.Changes
	for _, id := range c.Counts {
		count, _ := rows.SignInCounts.Get(id)
		changes.SignInCounts = append(changes.SignInCounts, count.Failed(id, now))
	}
	return true, changes, nil
}
