package command

import "purveyor/internal/commerce"

// RecordExport writes down that a person took rows out of the service.
type RecordExport struct {
	Entry commerce.AuditEntry // CreatedOn is given by the command
}

// Needs are none.
func (c RecordExport) Needs() commerce.Needs { return commerce.Needs{} }

// Decide adds the entry.
func (c RecordExport) Decide(_ *commerce.Rows, now commerce.Millis) (commerce.AuditEntry, commerce.Changes, error) {
	entry := c.Entry
	entry.CreatedOn = now
	return entry, commerce.Changes{Audit: []commerce.AuditEntry{entry}}, nil
}
