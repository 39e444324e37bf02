package scenario

import (
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"

	"purveyor/internal/command"
	"purveyor/internal/commerce"
	"purveyor/internal/commit"
	"purveyor/internal/env"
	"purveyor/internal/web"

	jsonv2 "github.com/go-json-experiment/json"
)

// maxPage is the maximal size of a page in bytes (BEHAVIOUR, end of a list).
const maxPage = 2 << 20

// longImages returns images as long as a product could have before their sum was
// bounded; 50 of them have 400 kB.
func longImages(n int) []string {
	return slices.Repeat([]string{"https://e.example/" + strings.Repeat("x", 8000-len("https://e.example/"))}, n)
}

// storeLong gives products images of any length, as older versions may have stored
// them.
func (w *world) storeLong(t *testing.T, images []string, ids ...string) {
	t.Helper()
	for _, id := range ids {
		key := commerce.ProductKey{StoreID: "sto_north", ProductID: id}
		w.change(t, commerce.Needs{Products: []commerce.ProductKey{key}, Stock: []commerce.ProductKey{key}}, func(rows *commerce.Rows, now commerce.Millis) commerce.Changes {
			p, _ := rows.Products.Get(key)
			s, _ := rows.Stock.Get(key)
			p.Images, s.UpdatedOn = images, now
			return commerce.Changes{Products: []commerce.Product{p}, Stock: []commerce.Stock{s}}
		})
	}
}

// A page ends at 2 MiB, and the next one continues there: each product is read once,
// including one that alone is longer than a page.
func TestLongPages(t *testing.T) {
	onEveryEngine(t, func(t *testing.T, w *world) {
		catalog := command.ImportCatalog{Products: numbered(18), Categories: []command.ImportCategory{{ID: "cat_fruit", Name: "Fruit"}}}
		run(t, w, commit.Command[command.ImportResult](catalog))
		var want []string
		for i := range 18 {
			id := fmt.Sprintf("prd_%03d", i+1)
			want = append(want, id)
			switch {
			case i == 10:
				w.storeLong(t, longImages(300), id) // 2.4 MB
			case i%3 != 0:
				w.storeLong(t, longImages(50), id)
			default:
				w.storeLong(t, nil, id)
			}
		}
		for _, query := range []string{"limit=300", "limit=7&store_id=sto_north&active=all", "limit=300"} {
			got, sizes := w.readPages(t, "/v1/products?"+query)
			if !slices.Equal(got, want) {
				t.Errorf("%s: %v", query, got)
			}
			for i, size := range sizes {
				if size.bytes > maxPage && size.elements > 1 {
					t.Errorf("%s: page %d has %d elements and %d bytes", query, i, size.elements, size.bytes)
				}
			}
			if len(sizes) > 6 || len(sizes) < 4 {
				t.Errorf("%s: %d pages", query, len(sizes))
			}
		}
	})
}

// pageSize is the size of a page.
type pageSize struct{ elements, bytes int }

// readPages reads all pages of a list by their cursors.
func (w *world) readPages(t *testing.T, path string) (ids []string, sizes []pageSize) {
	t.Helper()
	for cursor := ""; ; {
		a := w.do(t, call{method: "GET", path: path + cursor, key: "busy"})
		type element struct {
			ID string `json:"id"`
		}
		var page struct {
			Products   []element `json:"products"`
			Stores     []element `json:"stores"`
			NextCursor string    `json:"next_cursor"`
		}
		if err := jsonv2.Unmarshal(a.body, &page); err != nil || a.status != http.StatusOK {
			t.Fatalf("%s: %d, %v: %.200s", path+cursor, a.status, err, a.body)
		}
		elements := append(page.Products, page.Stores...)
		for _, e := range elements {
			ids = append(ids, e.ID)
		}
		sizes = append(sizes, pageSize{len(elements), len(a.body)})
		if page.NextCursor == "" || len(elements) == 0 || len(sizes) > 1000 {
			return ids, sizes
		}
		cursor = "&cursor=" + page.NextCursor
	}
}

// The sum of images is bounded for new values only: an upsert may keep the stored
// ones, repeated or left out.
func TestLongImages(t *testing.T) {
	onEveryEngine(t, func(t *testing.T, w *world) {
		w.importCatalog(t, "small")
		stored := slices.Repeat([]string{"https://e.example/" + strings.Repeat("x", 1000)}, 50)
		w.storeLong(t, stored, "prd_loaf")
		upsert := func(images []string) call {
			product := map[string]any{"id": "prd_loaf", "store_id": "sto_north", "category_id": "cat_bread", "name": "Loaf"}
			if images != nil {
				product["images"] = images
			}
			body, err := json.Marshal(product)
			if err != nil {
				t.Fatal(err)
			}
			return call{method: "POST", path: "/v1/products/upsert", key: "busy", body: string(body)}
		}
		edge := []string{strings.Repeat("x", 1384), strings.Repeat("é", 1000)} // and 13,000 bytes
		edge = append(edge, slices.Repeat([]string{strings.Repeat("x", 1300)}, 10)...)
		for _, images := range [][]string{nil, stored} {
			if a := w.do(t, upsert(images)); a.status != http.StatusOK {
				t.Errorf("what is stored is refused: %d %.200s", a.status, a.body)
			}
		}
		w.refusesBody(t, upsert(nil), upsert(append(stored[:49:49], "https://e.example/other")).body, "images")
		w.refusesBody(t, upsert(nil), upsert(append(edge[:11:11], edge[11]+"x")).body, "images")
		if a := w.do(t, upsert(edge)); a.status != http.StatusOK {
			t.Errorf("16 KiB are refused: %d %.200s", a.status, a.body)
		}
		w.refusesBody(t, upsert(nil), upsert(stored).body, "images") // they are no longer stored
	})
}

// Stores are read in pages of at most 300.
func TestPagesOfStores(t *testing.T) {
	onEveryEngine(t, func(t *testing.T, w *world) {
		many := command.ImportCatalog{Stores: []command.ImportStore{{ID: "sto_courier", Name: "C"}, {ID: "sto_north", Name: "N"}, {ID: "sto_south", Name: "S"}}}
		for i := range 350 {
			many.Stores = append(many.Stores, command.ImportStore{ID: fmt.Sprintf("sto_m%03d", i), Name: "Many", Address: new(strings.Repeat("🧀", 2500))})
		}
		run(t, w, commit.Command[command.ImportResult](many))
		var want []string
		for _, s := range many.Stores {
			want = append(want, s.ID)
		}
		slices.Sort(want)
		for query, pages := range map[string]int{"limit=300": 2, "limit=100": 4, "": 4} {
			got, sizes := w.readPages(t, "/v1/stores?active=true&"+query)
			if !slices.Equal(got, want) {
				t.Errorf("%s: %d stores, %v", query, len(got), got)
			}
			for i, size := range sizes {
				if size.bytes > maxPage {
					t.Errorf("%s: page %d has %d bytes", query, i, size.bytes)
				}
			}
			if len(sizes) < pages {
				t.Errorf("%s: %v", query, sizes)
			}
		}
		for _, cursor := range []string{"MS41LmE", "czEu", "czEuc3RvX20wMDA=", "x"} {
			w.refusesQuery(t, "/v1/stores?cursor="+cursor, "cursor")
		}
	})
}

// slowReader accepts an answer, and reads nothing until it is released.
type slowReader struct {
	*httptest.ResponseRecorder
	blocked chan<- int // receives the length of what is being written
	free    <-chan struct{}
}

// Write implements http.ResponseWriter.
func (r slowReader) Write(b []byte) (int, error) {
	if r.Code == http.StatusOK {
		r.blocked <- len(b)
		<-r.free
		return len(b), nil
	}
	return r.ResponseRecorder.Write(b)
}

// The memory that slow readers hold is bounded, per partner and in all. Further
// readers are told to come again.
func TestSlowReaders(t *testing.T) {
	t.Parallel()
	w := newWorld(t, engines[0].database(t)) // each engine would take as long, and knows nothing of the bound
	run(t, w, commit.Command[command.ImportResult](command.ImportCatalog{Products: numbered(6), Categories: []command.ImportCategory{{ID: "cat_fruit", Name: "Fruit"}}}))
	for i := range 6 {
		w.storeLong(t, longImages(50), fmt.Sprintf("prd_%03d", i+1))
	}
	handler := web.Trace(env.Env{}, slog.New(slog.DiscardHandler), w)
	blocked, free := make(chan int, 100), make(chan struct{})
	release := sync.OnceFunc(func() { close(free) })
	defer release()
	done := make(chan int, 100)
	read := func(key string) {
		r, err := w.request(call{method: "GET", path: "/v1/products?limit=300", key: key})
		if err != nil {
			t.Fatal(err)
		}
		recorder := slowReader{httptest.NewRecorder(), blocked, free}
		go func() { handler.ServeHTTP(recorder, r); done <- recorder.Code }()
	}
	// One after another: each reads and encodes 2 MiB, which takes long where many
	// tests run.
	hold := func(key string, n int) (bytes int) {
		for range n {
			read(key)
			select {
			case b := <-blocked:
				bytes += b
			case status := <-done:
				t.Fatalf("a reader is answered %d", status)
			}
		}
		return bytes
	}
	refuse := func(key string, n int) {
		for range n {
			read(key)
			select {
			case <-blocked:
				t.Fatal("one more is being answered")
			case status := <-done:
				if status != http.StatusTooManyRequests {
					t.Errorf("one more is answered %d", status)
				}
			}
		}
	}
	each := hold("busy", 1)
	most := 32 << 20 / each
	if each > maxPage || each < maxPage*9/10 {
		t.Errorf("a page has %d bytes", each)
	}
	hold("busy", most-1)
	refuse("busy", 3)
	hold("no-read_stores", most)   // another partner has its own share
	left := (64<<20)/each - 2*most // for all others together
	hold("no-read_orders", left)
	refuse("no-read_orders", 1)
	release()
	for range 2*most + left {
		if status := <-done; status != http.StatusOK {
			t.Errorf("a slow reader got %d", status)
		}
	}
	if a := w.do(t, call{method: "GET", path: "/v1/products?limit=300", key: "busy"}); a.status != http.StatusOK {
		t.Errorf("afterwards: %d", a.status)
	}
}
