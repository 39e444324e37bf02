package command

import "purveyor/internal/commerce"

// RemoveView forgets a saved view of a user.
type RemoveView struct{ Key commerce.SavedViewKey }

// Needs names the view.
func (c RemoveView) Needs() commerce.Needs {
	return commerce.Needs{SavedViews: []commerce.SavedViewKey{c.Key}}
}

// Decide removes the view. One that is gone already is no error.
func (c RemoveView) Decide(rows *commerce.Rows, _ commerce.Millis) (commerce.SavedViewKey, commerce.Changes, error) {
	if _, there := rows.SavedViews.Get(c.Key); !there {
		return c.Key, commerce.Changes{}, nil
	}
	return c.Key, commerce.Changes{GoneViews: []commerce.SavedViewKey{c.Key}}, nil
}
