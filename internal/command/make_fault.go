package command

import "purveyor/internal/commerce"

// MakeFault has the next calls of a partner's test keys hit by a fault.
type MakeFault struct {
	PartnerID string
	Fault     commerce.Fault // its id is drawn by the caller; the command sets Left and ExpiresOn
}

// Needs names the partner's faults.
func (c MakeFault) Needs() commerce.Needs { return commerce.Needs{Faults: []string{c.PartnerID}} }

// Access implements commit.Keyed. The front checks the rights of the key.
func (c MakeFault) Access(*commerce.Rows) error { return nil }

// Decide refuses more faults than a partner may have (409 limit_reached).
func (c MakeFault) Decide(rows *commerce.Rows, now commerce.Millis) (commerce.Fault, commerce.Changes, error) {
	stored, _ := rows.Faults.Get(c.PartnerID)
	list := stored.Active(now)
	if len(list) >= commerce.MaxFaults {
		return c.Fault, commerce.Changes{}, commerce.Conflict("limit_reached", "There are at most %d faults at a time; end them first", commerce.MaxFaults)
	}
	f := c.Fault
	f.Left, f.ExpiresOn = f.Calls, now.Add(commerce.FaultLife)
	return f, changeFaults(c.PartnerID, append(list, f), now), nil
}

func changeFaults(partnerID string, list []commerce.Fault, now commerce.Millis) commerce.Changes {
	return commerce.Changes{Faults: []commerce.Faults{{PartnerID: partnerID, List: list, UpdatedOn: now}}}
}
