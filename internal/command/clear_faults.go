package command

import "purveyor/internal/commerce"

// ClearFaults ends all faults of a partner.
type ClearFaults struct{ PartnerID string }

// Needs names the partner's faults.
func (c ClearFaults) Needs() commerce.Needs { return commerce.Needs{Faults: []string{c.PartnerID}} }

// Access implements commit.Keyed. The front checks the rights of the key.
func (c ClearFaults) Access(*commerce.Rows) error { return nil }

// Decide returns how many it ends.
func (c ClearFaults) Decide(rows *commerce.Rows, now commerce.Millis) (int, commerce.Changes, error) {
	stored, _ := rows.Faults.Get(c.PartnerID)
	if len(stored.List) == 0 {
		return 0, commerce.Changes{}, nil
	}
	return len(stored.Active(now)), changeFaults(c.PartnerID, nil, now), nil
}
