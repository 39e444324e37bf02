package command

import "purveyor/internal/commerce"

// AckCertification keeps what a partner's books have with its run.
type AckCertification struct {
	Certification commerce.Certification // as it was read, with the run after the change
}

// Needs names the partner's certification.
func (c AckCertification) Needs() commerce.Needs {
	return commerce.Needs{Certified: []string{c.Certification.PartnerID}}
}

// Decide reports whether the run is kept. If it has changed since it was read, it is not.
func (c AckCertification) Decide(rows *commerce.Rows, now commerce.Millis) (bool, commerce.Changes, error) {
	kept, changes := keepCertification(rows, c.Certification, now)
	return kept, changes, nil
}
