package command

import "purveyor/internal/commerce"

// UpdateCategory renames a category, and switches it on or off.
type UpdateCategory struct {
	ID     string
	Name   string
	Active bool
	Facts  string // digest of the category that the change was made from; empty: it is not checked
}

// Needs names the category.
func (c UpdateCategory) Needs() commerce.Needs {
	return commerce.Needs{Lock: true, Categories: []string{c.ID}}
}

// Decide refuses an unknown category (404), and one that was changed meanwhile (409). A
// change that finds its values stored changes nothing.
func (c UpdateCategory) Decide(rows *commerce.Rows, _ commerce.Millis) (commerce.Category, commerce.Changes, error) {
	was, ok := rows.Categories.Get(c.ID)
	if !ok {
		return was, commerce.Changes{}, commerce.NotFound("category")
	}
	next := commerce.Category{ID: c.ID, Name: c.Name, Active: c.Active}
	if next == was {
		return was, commerce.Changes{}, nil
	}
	if err := was.CheckFacts(c.Facts); err != nil {
		return was, commerce.Changes{}, err
	}
	return next, commerce.Changes{Categories: []commerce.Category{next}}, nil
}
