package command

import "purveyor/internal/commerce"

// TakeFault counts a call of a partner's test key, if a fault hits it.
type TakeFault struct {
	PartnerID string
	Operation string // of the API
}

// Needs names the partner's faults.
func (c TakeFault) Needs() commerce.Needs { return commerce.Needs{Faults: []string{c.PartnerID}} }

// Decide returns the fault that hits the call: the oldest one that does. The zero Fault: none.
func (c TakeFault) Decide(rows *commerce.Rows, now commerce.Millis) (commerce.Fault, commerce.Changes, error) {
	stored, _ := rows.Faults.Get(c.PartnerID)
	list := stored.Active(now)
	for i, f := range list {
		if f.Hits(c.Operation, now) {
			list[i].Left--
			return f, changeFaults(c.PartnerID, list, now), nil
		}
	}
	return commerce.Fault{}, commerce.Changes{}, nil
}
