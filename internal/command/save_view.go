package command

import "purveyor/internal/commerce"

// SaveView keeps a filter of a user under a name, in place of the one with this name.
type SaveView struct {
	View commerce.SavedView // UpdatedOn is given by the command
}

// Needs names the view.
func (c SaveView) Needs() commerce.Needs {
	return commerce.Needs{SavedViews: []commerce.SavedViewKey{c.View.Key()}}
}

// Decide saves the view.
func (c SaveView) Decide(_ *commerce.Rows, now commerce.Millis) (commerce.SavedView, commerce.Changes, error) {
	view := c.View
	if view.Name == "" {
		return view, commerce.Changes{}, commerce.Invalid("name", "A view needs a name")
	}
	view.UpdatedOn = now
	return view, commerce.Changes{SavedViews: []commerce.SavedView{view}}, nil
}

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
