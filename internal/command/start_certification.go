package command

import "purveyor/internal/commerce"

// StartCertification begins a run of a partner's integration through the script.
type StartCertification struct {
	Certification commerce.Certification // of the new run
}

// Needs names the partner's certification.
func (c StartCertification) Needs() commerce.Needs {
	return commerce.Needs{Certified: []string{c.Certification.PartnerID}}
}

// Access implements commit.Keyed. The front checks the rights of the key.
func (c StartCertification) Access(*commerce.Rows) error { return nil }

// Decide makes the job that plays the run. There is one run at a time (409 limit_reached).
func (c StartCertification) Decide(rows *commerce.Rows, now commerce.Millis) (commerce.Certification, commerce.Changes, error) {
	stored, _ := rows.Certified.Get(c.Certification.PartnerID)
	if stored.Runs(now) {
		return stored, commerce.Changes{}, commerce.Conflict("limit_reached", "The run %s goes on; there is one at a time", stored.RunID)
	}
	row := c.Certification
	row.Running, row.Version, row.CertifiedOn, row.UpdatedOn = true, 1, stored.CertifiedOn, now
	return row, commerce.Changes{Certified: []commerce.Certification{row},
		NewJobs: []commerce.Job{{Kind: commerce.JobCertify, Mode: commerce.Test, Owner: row.PartnerID, PartnerID: row.PartnerID, Subject: row.RunID, RunAt: now}}}, nil
}
