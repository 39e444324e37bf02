package backoffice

import (
	"errors"
	"net/url"
	"strings"

	"purveyor/internal/commerce"
	"purveyor/internal/jsonin"
	"purveyor/internal/service"
	"purveyor/internal/storage"
)

// categoriesPage is the data of the page "categories".
type categoriesPage struct {
	Categories []categoryRow
	Key        string
	MayWrite   bool
	Typed      commerce.Category // of a form that was refused; without an id: that of a new one
	Bad        bool              // a form was refused
}

// categoryRow is a category of the list.
type categoryRow struct {
	commerce.Category
	URL string // to which its form is sent
}

// categories lists the categories, which all stores share.
func (v *visit) categories() error {
	page, err := v.categoriesPage()
	if err != nil {
		return err
	}
	return v.page("categories", "Categories", page)
}

func (v *visit) categoriesPage() (page categoriesPage, err error) {
	page = categoriesPage{Key: v.NewKey(), MayWrite: v.user.MayEverywhere(commerce.MayWriteProducts)}
	list, err := v.o.reads.Categories(v.Context(), storage.CategoryFilter{})
	for _, c := range list {
		page.Categories = append(page.Categories, categoryRow{c, categoriesPath + "/" + url.PathEscape(c.ID)})
	}
	return page, err
}

// typedCategory reads and checks the form of a category. Categories belong to no store, so
// changing them takes the permission in all stores.
func (v *visit) typedCategory(id string) (typed commerce.Category, err error) {
	if !v.user.MayEverywhere(v.route.may) {
		return typed, missing(v.route.may, commerce.AllStores)
	}
	var c jsonin.Check
	typed = commerce.Category{ID: id, Name: strings.TrimSpace(v.PostFormValue("name")), Active: v.PostFormValue("active") == "yes"}
	c.Required("name", &typed.Name, jsonin.MaxName)
	if strings.ContainsRune(typed.Name, 0) {
		c.Fail("name", "holds a NUL character")
	}
	return typed, c.Err
}

func (v *visit) makeCategory() error {
	typed, err := v.typedCategory("")
	if err == nil {
		_, err = v.o.uses.CreateCategory(v.Context(), v.caller(), typed.Name, once(v, answered[commerce.Category]))
	}
	return v.categorySaved(typed, typed.Name+" is made", err)
}

func (v *visit) saveCategory() error {
	typed, err := v.typedCategory(v.PathValue("id"))
	if err == nil {
		_, err = v.o.uses.UpdateCategory(v.Context(), v.caller().Actor, service.UpdateCategory{ID: typed.ID, Name: typed.Name, Active: typed.Active, Facts: v.PostFormValue("facts")})
	}
	return v.categorySaved(typed, typed.Name+" is saved", err)
}

// categorySaved ends an act on a category.
func (v *visit) categorySaved(typed commerce.Category, said string, refused error) error {
	if refused == nil {
		return v.done(categoriesPath, said)
	}
	e, ok := errors.AsType[*commerce.Error](refused)
	if !ok || e.Kind == commerce.KindForbidden || e.Kind == commerce.KindNotFound {
		return refused
	}
	page, err := v.categoriesPage()
	if err != nil {
		return err
	}
	page.Typed, page.Bad = typed, true
	return v.again(refused, "categories", "Categories", page)
}
