package command

import "purveyor/internal/commerce"

// RequestMemberLink has a link mailed to the member that asks for one. It counts what is asked for
// an address that no member has as well, so that the answers are the same.
type RequestMemberLink struct {
	Member commerce.Member // without an ID: no member has the address
	Tries  []commerce.SignInTry
}

// Needs names the member and the counts.
func (c RequestMemberLink) Needs() commerce.Needs {
	return commerce.Needs{Members: []string{c.Member.ID}, SignInCounts: triesOf(c.Tries)}
}

// Decide counts, and makes the job that sends the mail. It returns a commerce.TooManyTries after
// too many.
func (c RequestMemberLink) Decide(rows *commerce.Rows, now commerce.Millis) (bool, commerce.Changes, error) {
	_, changes, err := RefuseSignIn{Tries: c.Tries}.Decide(rows, now)
	if m, there := rows.Members.Get(c.Member.ID); there && err == nil {
		changes.NewJobs = []commerce.Job{linkJob(m, now)}
	}
	return true, changes, err
}
