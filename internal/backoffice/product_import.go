package backoffice

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"time"

	"purveyor/internal/commerce"
	"purveyor/internal/productcsv"
	"purveyor/internal/service"
	"purveyor/internal/web"
)

const (
	uploadRoom = productcsv.MaxBytes + 64<<10
	// A browser sends each line break of the confirmed text as two bytes.
	confirmRoom  = 2*productcsv.MaxBytes + 64<<10
	uploadTime   = 2 * time.Minute
	shownChanges = 200
	unreadRoom   = 32 << 20 // of a form that is too large
)

// importPage is the data of the page "product_import".
type importPage struct {
	storeFilter
	Columns    []string
	Quantities bool
	Preview    *productcsv.Preview // nil: no file was sent
	Changes    []productcsv.Change // the first ones
	Left       int                 // changes that are not shown
	Text       string              // of the file, to be confirmed
	Prepared   commerce.Millis
	Key        string
}

// importPage shows the form for a file.
func (v *visit) importPage() error {
	stores, err := v.storeFilter()
	if err != nil {
		return err
	}
	return v.page("product_import", "Import products", importPage{storeFilter: stores, Columns: productcsv.Columns})
}

// upload is a file that was sent, or confirmed.
type upload struct {
	text       []byte
	storeID    string // of products whose line names none
	quantities bool
	prepared   commerce.Millis
	key        string
	mark       string // of the preview that is confirmed
}

// uploaded reads the form with the file. It refuses one that is too large before it is read.
func (v *visit) uploaded() (u upload, err error) {
	if v.ContentLength > v.route.room {
		if v.ContentLength <= unreadRoom { // else the sender meets a closed connection instead of the answer
			_, _ = io.CopyN(io.Discard, v.Body, v.ContentLength)
		}
		v.w.Header().Set("Connection", "close")
		return u, tooLarge()
	}
	c := http.NewResponseController(v.w)
	_ = c.SetReadDeadline(v.o.env.Now().Add(uploadTime)) // where it is not possible, the usual one holds
	_ = c.SetWriteDeadline(v.o.env.Now().Add(2 * uploadTime))
	if err := v.ParseMultipartForm(v.route.room); err != nil {
		if _, ok := errors.AsType[*http.MaxBytesError](err); ok {
			return u, tooLarge()
		}
		return u, commerce.Invalid("file", "The form could not be read to its end")
	}
	defer func() { _ = v.MultipartForm.RemoveAll() }()
	u = upload{storeID: v.FormValue("store"), quantities: v.FormValue("quantities") == "yes", key: v.FormValue("key"), mark: v.FormValue("mark"), text: []byte(v.FormValue("text"))}
	prepared, _ := strconv.ParseInt(v.FormValue("prepared"), 10, 64) // none: before the preview
	u.prepared = commerce.Millis(prepared)
	if file, _, err := v.FormFile("file"); err == nil {
		defer func() { _ = file.Close() }()
		if u.text, err = io.ReadAll(file); err != nil {
			return u, err
		}
	}
	u.text = bytes.ReplaceAll(bytes.ReplaceAll(u.text, []byte("\r\n"), []byte("\n")), []byte("\r"), []byte("\n"))
	if len(u.text) == 0 {
		return u, commerce.Invalid("file", "Please choose a file")
	}
	return u, nil
}

func tooLarge() error {
	return &web.Error{Status: http.StatusRequestEntityTooLarge, Code: "too_large", Field: "file",
		Message: "The file is larger than 10 MiB; please split it"}
}

// previewOf tells what a file would change.
func (v *visit) previewOf(u upload) (productcsv.Preview, error) {
	if u.storeID != "" {
		if err := v.mayIn(u.storeID, "store"); err != nil {
			return productcsv.Preview{}, err
		}
	}
	v.o.importing.Lock()
	defer v.o.importing.Unlock()
	file := productcsv.Decode(u.text, u.storeID).WithIDs(u.prepared, u.key)
	return v.o.uses.PreviewProducts(v.Context(), v.caller(), file, u.quantities)
}

// previewImport shows what a file would change, and every error of it.
func (v *visit) previewImport() error {
	u, err := v.uploaded()
	if err != nil {
		return v.importAgain(u, nil, err)
	}
	u.prepared, u.key = commerce.MillisOf(v.o.env.Now()), v.NewKey()
	preview, err := v.previewOf(u)
	if err != nil {
		return err
	}
	page, err := v.importPageOf(u, &preview)
	if err != nil {
		return err
	}
	return v.page("product_import", "Import products", page)
}

// confirmImport imports what the preview showed: all of it, or nothing if the preview would be
// another one by now.
func (v *visit) confirmImport() error {
	u, err := v.uploaded()
	if err != nil {
		return v.importAgain(u, nil, err)
	}
	preview, err := v.previewOf(u)
	if err != nil {
		return err
	}
	if len(preview.Problems) == 0 && len(preview.Changes) > 0 && preview.Mark == u.mark {
		done, err := v.o.uses.ImportCatalog(v.Context(), v.caller().Actor, preview.Catalog())
		if err == nil {
			return v.done(productsPath, fmt.Sprintf("Imported: %d new, %d changed", done.ProductsMade, done.ProductsUpdated))
		}
		if _, refused := errors.AsType[*service.ImportRefused](err); !refused {
			return err
		}
		if preview, err = v.previewOf(u); err != nil { // they were changed since the line above
			return err
		}
	}
	if len(preview.Problems) == 0 && len(preview.Changes) == 0 {
		return v.done(productsPath, "Everything of the file is stored")
	}
	return v.importAgain(u, &preview, commerce.Conflict("changed_meanwhile", "Products of the file were changed since the preview; this is the preview as of now"))
}

// importAgain shows the page of an import that was refused.
func (v *visit) importAgain(u upload, preview *productcsv.Preview, refused error) error {
	if e, ok := errors.AsType[*web.Error](refused); ok && e.Code == "too_large" {
		return refused // what is left of the form is not read
	}
	page, err := v.importPageOf(u, preview)
	if err != nil {
		return err
	}
	return v.again(refused, "product_import", "Import products", page)
}

func (v *visit) importPageOf(u upload, preview *productcsv.Preview) (page importPage, err error) {
	page = importPage{Columns: productcsv.Columns, Quantities: u.quantities, Preview: preview, Text: string(u.text), Prepared: u.prepared, Key: u.key}
	if page.storeFilter, err = v.storeFilter(); err != nil {
		return page, err
	}
	page.Store = u.storeID
	if preview != nil {
		page.Changes = preview.Changes[:min(len(preview.Changes), shownChanges)]
		page.Left = len(preview.Changes) - len(page.Changes)
	}
	return page, nil
}
