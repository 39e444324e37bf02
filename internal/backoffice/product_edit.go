package backoffice

import (
	"errors"
	"strings"

	"purveyor/internal/commerce"
	"purveyor/internal/jsonin"
	"purveyor/internal/service"
	"purveyor/internal/storage"
)

// productForm is the data of the page "product_form": what the form of a product has in its
// fields.
type productForm struct {
	New     bool
	Action  string // where the form is sent to
	Back    string
	Key     string
	StoreID string
	Facts   string // of the product that the form was made from
	typedProduct
	Stores     []commerce.Store // of a new product
	Categories []commerce.Category
	Bad        string         // the field at fault; empty: none
	Stored     []storedValue  // what is stored otherwise than it was typed, after a conflict
	item       *commerce.Item // nil: the product is new
}

// typedProduct is what was typed.
type typedProduct struct {
	Name, Description, Price, CategoryID, SKU, FeaturedImage, Images, Quantity string
	Active, Hot                                                                bool
}

// storedValue is a value that is stored otherwise than it was typed.
type storedValue struct{ Word, Value string }

// typedOf is a product as its form shows it.
func typedOf(p commerce.Item) typedProduct {
	return typedProduct{Name: p.Stock.Name, Description: p.Description, Price: plain(p.Stock.PriceCents), CategoryID: p.Stock.CategoryID,
		SKU: p.SKU, FeaturedImage: p.FeaturedImage, Images: strings.Join(p.Images, "\n"), Active: p.Stock.Active, Hot: p.Hot}
}

// typed reads the fields of the form of a product.
func (v *visit) typedProduct() typedProduct {
	text := func(name string) string {
		return strings.TrimSpace(strings.ReplaceAll(v.PostFormValue(name), "\r\n", "\n"))
	}
	return typedProduct{Name: text("name"), Description: text("description"), Price: text("price"), CategoryID: text("category"), SKU: text("sku"),
		FeaturedImage: text("featured_image"), Images: text("images"), Quantity: text("quantity"), Active: text("active") == "yes", Hot: text("hot") == "yes"}
}

// upsert checks what was typed. It is the same check that the API does.
func (t typedProduct) upsert() (service.UpsertProduct, error) {
	var c jsonin.Check
	price, err := commerce.ParseScaled(strings.ReplaceAll(strings.TrimPrefix(t.Price, "$"), ",", ""), 2)
	if err != nil || price < 0 || commerce.Cents(price) > commerce.MaxCents {
		c.Err = commerce.Invalid("price", "The price must be an amount like 12.50")
	}
	images := strings.FieldsFunc(t.Images, func(r rune) bool { return r == '\n' })
	for i, url := range images {
		images[i] = strings.TrimSpace(url)
	}
	c.Required("name", &t.Name, jsonin.MaxName)
	c.Optional("description", &t.Description, jsonin.MaxText)
	c.Optional("featured_image", &t.FeaturedImage, jsonin.MaxURL)
	c.Optional("sku", &t.SKU, jsonin.MaxID)
	c.Images("images", &images)
	if strings.ContainsRune(t.Name+t.Description+t.SKU+t.FeaturedImage+t.Images+t.CategoryID, 0) {
		c.Fail("name", "holds a NUL character")
	}
	return service.UpsertProduct{Name: t.Name, Description: &t.Description, PriceCents: new(commerce.Cents(price)), CategoryID: t.CategoryID, SKU: &t.SKU,
		FeaturedImage: &t.FeaturedImage, Images: &images, Active: &t.Active, Hot: &t.Hot}, c.Err
}

// newProduct shows the form of a new product.
func (v *visit) newProduct() error {
	form, err := v.newForm()
	if err != nil {
		return err
	}
	form.Active = true
	return v.page("product_form", "New product", form)
}

func (v *visit) newForm() (form productForm, err error) {
	form = productForm{New: true, Action: productsPath + "/new", Back: productsPath, Key: v.NewKey()}
	stores, err := v.storeFilter()
	if err != nil {
		return form, err
	}
	form.Stores, form.StoreID = stores.Stores, stores.chooseFirst()
	form.Categories, err = v.o.reads.Categories(v.Context(), storage.CategoryFilter{})
	return form, err
}

// makeProduct makes a product from its form.
func (v *visit) makeProduct() error {
	storeID, typed := v.PostFormValue("store"), v.typedProduct()
	if err := v.mayIn(storeID, "store"); err != nil {
		return err
	}
	in, err := typed.upsert()
	in.Create, in.StoreID = true, storeID
	if err == nil && typed.Quantity != "" {
		var quantity int64
		if quantity, err = pieces("quantity", typed.Quantity); err == nil && quantity < 0 {
			err = commerce.Invalid("quantity", "The stock cannot be below zero")
		}
		in.Quantity = &quantity
	}
	if err == nil {
		var out service.Outcome[commerce.Item]
		id := func(p commerce.Item) string { return p.ID }
		if out, err = v.o.uses.UpsertProduct(v.Context(), v.caller(), in, once(v, saying(id))); err == nil {
			return v.done(productPath(saidOf(out, id)), typed.Name+" is made")
		}
	}
	form, failed := v.newForm()
	if failed != nil {
		return failed
	}
	form.typedProduct = typed
	form.mark(err)
	return v.again(err, "product_form", "New product", form)
}

// editProduct shows the form of a product.
func (v *visit) editProduct(item commerce.Item) error {
	form, err := v.editForm(item)
	if err != nil {
		return err
	}
	form.typedProduct = typedOf(item)
	return v.page("product_form", "Edit "+item.Stock.Name, form)
}

func (v *visit) editForm(item commerce.Item) (form productForm, err error) {
	url := productPath(item.ID)
	form = productForm{Action: url + "/edit", Back: url, StoreID: item.StoreID, Facts: item.Facts(), item: &item}
	form.Categories, err = v.o.reads.Categories(v.Context(), storage.CategoryFilter{})
	return form, err
}

// saveProduct saves the form of a product. If the product was edited meanwhile, the form comes
// again with what was typed, and with what is stored now.
func (v *visit) saveProduct(item commerce.Item) error {
	typed := v.typedProduct()
	in, err := typed.upsert()
	if err == nil {
		in.ID, in.StoreID, in.Facts = item.ID, item.StoreID, v.PostFormValue("facts")
		if *in.Description == strings.ReplaceAll(item.Description, "\r\n", "\n") {
			in.Description = nil // browsers write line breaks in their own way
		}
		_, err = v.o.uses.UpsertProduct(v.Context(), v.caller(), in, service.Once[commerce.Item]{})
	}
	if err == nil {
		return v.done(productPath(item.ID), typed.Name+" is saved")
	}
	now, failed := v.o.uses.FindProduct(v.Context(), v.caller(), item.ID)
	if failed != nil {
		return failed
	}
	form, failed := v.editForm(now)
	if failed != nil {
		return failed
	}
	form.typedProduct = typed
	form.mark(err)
	if e, ok := errors.AsType[*commerce.Error](err); ok && e.Kind == commerce.KindConflict {
		form.Stored = form.storedValues()
	}
	return v.again(err, "product_form", "Edit "+now.Stock.Name, form)
}

// mark marks the field at fault.
func (f *productForm) mark(refused error) {
	if e, ok := errors.AsType[*commerce.Error](refused); ok {
		f.Bad, _, _ = strings.Cut(e.Field, "[")
	}
}

// storedValues are the values that are stored otherwise than they were typed.
func (f *productForm) storedValues() (list []storedValue) {
	was, now := f.typedProduct, typedOf(*f.item)
	category := func(id string) string {
		for _, c := range f.Categories {
			if c.ID == id {
				return c.Name
			}
		}
		return "none"
	}
	yes := map[bool]string{true: "yes", false: "no"}
	for _, field := range []struct{ word, typed, stored string }{
		{"Name", was.Name, now.Name}, {"Description", was.Description, now.Description}, {"Price", was.Price, now.Price},
		{"Category", category(was.CategoryID), category(now.CategoryID)}, {"SKU", was.SKU, now.SKU}, {"Picture", was.FeaturedImage, now.FeaturedImage},
		{"More pictures", was.Images, now.Images}, {"For sale", yes[was.Active], yes[now.Active]}, {"Featured", yes[was.Hot], yes[now.Hot]},
	} {
		if field.typed != field.stored {
			list = append(list, storedValue{field.word, field.stored})
		}
	}
	return list
}
