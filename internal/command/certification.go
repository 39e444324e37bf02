package command

import "purveyor/internal/commerce"

// keepCertification keeps a run as it is after a change, unless it has changed since it was read, and reports which.
func keepCertification(rows *commerce.Rows, row commerce.Certification, now commerce.Millis) (kept bool, changes commerce.Changes) {
	stored, _ := rows.Certified.Get(row.PartnerID)
	if stored.RunID != row.RunID || stored.Version != row.Version {
		return false, changes
	}
	row.Version, row.UpdatedOn = row.Version+1, now
	return true, commerce.Changes{Certified: []commerce.Certification{row}}
}
