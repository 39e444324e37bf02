package command

import "purveyor/internal/commerce"

// RefuseSignIn counts a sign-in that failed.
type RefuseSignIn struct{ Tries []commerce.SignInTry }

// Needs names the counts.
func (c RefuseSignIn) Needs() commerce.Needs {
	return commerce.Needs{SignInCounts: triesOf(c.Tries)}
}

// Decide counts. A count that is older than its window begins again. After too many failures, it
// answers as SignIn does, so that of many tries at once no more are told apart than one by one.
func (c RefuseSignIn) Decide(rows *commerce.Rows, now commerce.Millis) (bool, commerce.Changes, error) {
	var changes commerce.Changes
	if err := within(rows, c.Tries, now); err != nil {
		return false, changes, err
	}
	for _, try := range c.Tries {
		count, _ := rows.SignInCounts.Get(try.ID)
		changes.SignInCounts = append(changes.SignInCounts, try.Failed(count, now))
	}
	return true, changes, nil
}

func triesOf(tries []commerce.SignInTry) (ids []string) {
	for _, try := range tries {
		ids = append(ids, try.ID)
	}
	return ids
}

// within refuses a sign-in after too many failures.
func within(rows *commerce.Rows, tries []commerce.SignInTry, now commerce.Millis) error {
	for _, try := range tries {
		count, _ := rows.SignInCounts.Get(try.ID)
		if until := try.Spent(count, now); until != 0 {
			return &commerce.TooManyTries{Until: until}
		}
	}
	return nil
}
