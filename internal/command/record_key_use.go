package command

import "purveyor/internal/commerce"

// RecordKeyUse notes the minute in which a key was last used.
type RecordKeyUse struct {
	KeyID string
	On    commerce.Millis
}

// Needs names the key.
func (c RecordKeyUse) Needs() commerce.Needs { return commerce.Needs{APIKeys: []string{c.KeyID}} }

// Decide moves the time on, never back.
func (c RecordKeyUse) Decide(rows *commerce.Rows, _ commerce.Millis) (struct{}, commerce.Changes, error) {
	k, ok := rows.APIKeys.Get(c.KeyID)
	if !ok || k.UsedOn >= c.On {
		return struct{}{}, commerce.Changes{}, nil
	}
	k.UsedOn = c.On
	return struct{}{}, commerce.Changes{APIKeys: []commerce.APIKey{k}}, nil
}
