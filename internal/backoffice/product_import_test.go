package backoffice

import (
	"bytes"
	"io"
	"mime/multipart"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"purveyor/internal/commerce"
	"purveyor/internal/testkit/fixture"
)

// upload sends a form with a file.
func (o *office) upload(user, path, text string, fields ...string) (status int, body string) {
	var form bytes.Buffer
	w := multipart.NewWriter(&form)
	if text != "" {
		file, err := w.CreateFormFile("file", "products.csv")
		if err != nil {
			o.t.Fatal(err)
		}
		_, _ = io.WriteString(file, text)
	}
	for i := 0; i < len(fields); i += 2 {
		_ = w.WriteField(fields[i], fields[i+1])
	}
	_ = w.Close()
	r := httptest.NewRequest(http.MethodPost, "http://shop.example"+path, &form)
	r.Header.Set("Content-Type", w.FormDataContentType())
	return o.do(user, r)
}

// TestImport: the preview shows every problem, a confirmed file is imported whole, twice is once,
// and one that was overtaken comes back as another preview.
func TestImport(t *testing.T) {
	o := openOffice(t)
	at := productsPath + "/import"
	status, page := o.upload("manager", at, "id,name,price,quantity\nprd_0,,x,1\n,New,,\nprd_z,\"<b>\" x,1,1\n", "store", fixture.StoreID)
	mustHave(t, page, "<td class=\"num\" data-word=\"Line\">2</td><td data-word=\"Column\">name</td>", "data-word=\"Column\">price", "is missing: the product is new", "quotes of this line", "-Import all of it")
	if status != http.StatusOK {
		t.Errorf("%d", status)
	}
	const file = "id,name,price,quantity,description\r\nprd_0,Rye,12.50,5,\r\nprd_1,Rye <i>,13,,\"a\r\nb\"\r\n,New,1,7,=1+1\r\n"
	_, page = o.upload("manager", at, file, "store", fixture.StoreID)
	mustHave(t, page, "1 new, 1 changed, 1 as they are", "Quantities of known products stay as they are", "Rye &lt;i&gt;", "Import all of it")
	confirm := []string{"mark", hidden(t, page, "mark"), "prepared", hidden(t, page, "prepared"), "key", hidden(t, page, "key"), "store", fixture.StoreID, "text", file}
	for range 2 {
		if status, to := o.upload("manager", at+"/confirm", "", confirm...); status != http.StatusSeeOther || to != productsPath {
			t.Fatalf("%d %s", status, to)
		}
	}
	if s := o.Stock(0); s.Quantity != 100 || o.Stock(1).Name != "Rye <i>" || o.Stock(1).PriceCents != 1300 {
		t.Errorf("%+v, %+v", s, o.Stock(1))
	}
	_, page = o.get("manager", productsPath)
	if strings.Count(page, ">New</a>") != 1 {
		t.Errorf("the new product is there more than once, or never:\n%s", page)
	}
	_, export := o.get("manager", productsPath+"/export")
	mustHave(t, export, "\ufeffid,store_id,name", ",'=1+1,", "prd_1,sto_1,Rye <i>,,\"a\nb\"")
	if _, page = o.upload("manager", at, export, "store", "", "quantities", "yes"); !strings.Contains(page, "would change nothing") {
		t.Errorf("the export would change something:\n%s", page)
	}
	_, page = o.upload("manager", at, "id,name,quantity\nprd_0,Rye,3\n", "store", fixture.StoreID, "quantities", "yes")
	confirm = []string{"mark", hidden(t, page, "mark"), "prepared", hidden(t, page, "prepared"), "key", hidden(t, page, "key"), "store", fixture.StoreID, "quantities", "yes", "text", "id,name,quantity\nprd_0,Rye,3\n"}
	fixture.Do(o.Shop, o.Report(0, 1))
	status, page = o.upload("manager", at+"/confirm", "", confirm...)
	mustHave(t, page, "were changed since the preview", ">99</td>")
	if status != http.StatusConflict || o.Stock(0).Quantity != 99 {
		t.Errorf("%d, %d are left", status, o.Stock(0).Quantity)
	}
	confirm[1] = hidden(t, page, "mark")
	if status, _ := o.upload("manager", at+"/confirm", "", confirm...); status != http.StatusSeeOther || o.Stock(0).Quantity != 3 {
		t.Errorf("confirmed once more: %d, %d are left", status, o.Stock(0).Quantity)
	}
	if m := o.lastMove(0); m.Kind != commerce.MoveImported || m.Note.Actor != "staff:usr_manager" {
		t.Errorf("%+v", m)
	}
	if status, page = o.upload("manager", at, "", "store", fixture.StoreID); status != http.StatusBadRequest || !strings.Contains(page, "choose a file") {
		t.Errorf("without a file: %d", status)
	}
	if _, page = o.upload("elsewhere", at, "id,store_id,name,price\nprd_0,sto_1,x,1\nprd_n,sto_1,x,1\n"); !strings.Contains(page, "is not a store whose products you may change") || strings.Contains(page, "Import all") {
		t.Errorf("into a foreign store:\n%s", page)
	}
}

// endless is a body of that length which fails the test if more than a form is read.
type endless struct {
	t    *testing.T
	left int64
	read int64
}

func (e *endless) Read(b []byte) (int, error) {
	n := min(int64(len(b)), e.left)
	if n == 0 {
		return 0, io.EOF
	}
	if e.left, e.read = e.left-n, e.read+n; e.read > confirmRoom+1<<20 {
		e.t.Fatal("too much of the body is read")
	}
	return int(n), nil
}

// TestLargeUpload: a file of 100 MiB is refused before it is read, also if its length was not
// announced.
func TestLargeUpload(t *testing.T) {
	o := openOffice(t)
	for _, announced := range []bool{true, false} {
		body := &endless{t: t, left: 100 << 20}
		head := "--x\r\nContent-Disposition: form-data; name=\"file\"; filename=\"a.csv\"\r\n\r\n"
		r := httptest.NewRequest(http.MethodPost, "http://shop.example"+productsPath+"/import", io.MultiReader(strings.NewReader(head), body))
		r.Header.Set("Content-Type", "multipart/form-data; boundary=x")
		if r.ContentLength = -1; announced {
			r.ContentLength = 100 << 20
		}
		status, page := o.do("manager", r)
		if status != http.StatusRequestEntityTooLarge || !strings.Contains(page, "larger than 10 MiB") || announced && body.read > 0 {
			t.Errorf("announced %v: %d, %d bytes were read\n%s", announced, status, body.read, page)
		}
	}
	if status, _ := o.get("manager", productsPath); status != http.StatusOK {
		t.Errorf("after it: %d", status)
	}
}
