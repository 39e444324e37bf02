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
