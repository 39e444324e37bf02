package command

import "purveyor/internal/commerce"

// CreateCategory makes a category of products.
type CreateCategory struct {
	ID   string // drawn by the caller
	Name string
}

// Needs names the category.
func (c CreateCategory) Needs() commerce.Needs {
	return commerce.Needs{Categories: []string{c.ID}}
}

// Access implements commit.Keyed. Staff are checked by the front.
func (c CreateCategory) Access(*commerce.Rows) error { return nil }

// Decide makes the category, which is active.
func (c CreateCategory) Decide(*commerce.Rows, commerce.Millis) (commerce.Category, commerce.Changes, error) {
	made := commerce.Category{ID: c.ID, Name: c.Name, Active: true}
	return made, commerce.Changes{Categories: []commerce.Category{made}}, nil
}
