package api

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"purveyor/internal/api/wire"
	"purveyor/internal/commerce"
	"purveyor/internal/storage"
)

func items(n int) []commerce.Item {
	list := make([]commerce.Item, n)
	for i := range list {
		id := fmt.Sprintf("prd_%d", i)
		list[i] = commerce.Item{Product: commerce.Product{StoreID: "sto_1", ID: id, Description: strings.Repeat("<é>", i)},
			Stock: commerce.Stock{StoreID: "sto_1", ProductID: id, Name: "Product", Quantity: int64(i), UpdatedOn: commerce.Millis(int64(100 + i))}}
	}
	return list
}

// TestDocumentsOfPage takes a page apart, changes one product, and makes the page
// again of the parts and the product: it is as if every product were encoded.
func TestDocumentsOfPage(t *testing.T) {
	for _, n := range []int{0, 1, 2, 7} {
		list := items(n)
		products, ends := appendProducts(nil, list, nil, maxPage)
		body := pageBody("products", products, len(ends), "cursor", []byte(`{"active":"true"}`))
		documents := storage.Documents(parts(body, ends))
		if !json.Valid(body) || len(documents) != n {
			t.Errorf("%d products: %d documents of %s", n, len(documents), body)
		}
		for _, p := range list {
			if want := wire.AppendProduct(nil, p); !bytes.Equal(documents[p.Version()], want) {
				t.Errorf("%s is %s, want %s", p.ID, documents[p.Version()], want)
			}
		}
		if n == 0 {
			continue
		}
		list[n/2].Stock.Quantity, list[n/2].Stock.UpdatedOn = 99, 999
		want, _ := appendProducts(nil, list, nil, maxPage)
		unread := make([]commerce.Item, n)
		for i, p := range list {
			item, ok := documents.Unread(p.Version())
			if unread[i] = item; !ok {
				unread[i] = p
			}
		}
		if got, _ := appendProducts(nil, unread, documents, maxPage); !bytes.Equal(got, want) {
			t.Errorf("%d products:\n got %s\nwant %s", n, got, want)
		}
	}
}

// TestProductsHaveRoom: as many products are on a page as have room, and one at
// least.
func TestProductsHaveRoom(t *testing.T) {
	list := items(9)
	all, _ := appendProducts(nil, list, nil, maxPage)
	for room := range len(all) + 2 {
		got, ends := appendProducts(nil, list, nil, room)
		if len(got) > room && len(ends) > 1 || !bytes.HasPrefix(all, got) || ends[len(ends)-1].end != len(got) {
			t.Errorf("%d bytes have room for %d: %s", room, len(ends), got)
		}
		if more, _ := appendProducts(nil, list[:min(len(ends)+1, len(list))], storage.Documents{}, maxPage); len(ends) < len(list) && len(more) <= room {
			t.Errorf("%d bytes have room for more than %d products", room, len(ends))
		}
	}
}
