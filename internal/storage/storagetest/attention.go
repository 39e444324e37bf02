package storagetest

import (
	"context"
	"reflect"
	"testing"
	"time"

	"purveyor/internal/commerce"
	"purveyor/internal/storage"
	"purveyor/internal/storage/schema/schematest"
)

var attentionTests = map[string]func(*testing.T, Database){
	"open attention comes in pages, the oldest first": openAttention,
}

// openAttention raises and resolves reasons in two stores, and reads them back
// whole and page by page.
func openAttention(t *testing.T, db Database) {
	e := db.Open(t, time.Now)
	row := func(store, order string, code commerce.AttentionCode, since, resolved int64) commerce.Attention {
		return commerce.Attention{StoreID: store, OrderID: order, Code: code, Since: commerce.Millis(since), Detail: "d", ResolvedOn: commerce.Millis(resolved)}
	}
	rows := []commerce.Attention{
		row("sto_1", "ord_b", "a", 5, 0), row("sto_1", "ord_a", "b", 5, 0), row("sto_1", "ord_a", "a", 5, 0), row("sto_1", "ord_a", "c", 4, 0),
		row("sto_1", "ord_c", "a", 6, 0), row("sto_1", "ord_c", "b", 3, 7), row("sto_2", "ord_d", "a", 1, 0),
	}
	save := func(list ...commerce.Attention) {
		t.Helper()
		c := commerce.Changes{Attention: list}
		Change(t, e, schematest.Needs(c), func(*commerce.Rows, commerce.Millis) commerce.Changes { return c })
	}
	save(rows...)
	rows[4].ResolvedOn, rows[4].ResolvedBy = 9, "order:cancel"
	save(rows[4])

	ctx, r := context.Background(), e.Reader()
	var all []commerce.Attention
	var after storage.AttentionPosition
	for {
		page, err := r.OpenAttention(ctx, "sto_1", after, 2)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, page...)
		if len(page) < 2 {
			break
		}
		last := page[1]
		after = storage.AttentionPosition{Since: last.Since, OrderID: last.OrderID, Code: last.Code}
	}
	if want := []commerce.Attention{rows[3], rows[2], rows[1], rows[0]}; !reflect.DeepEqual(all, want) {
		t.Errorf("open in pages:\n got %+v\nwant %+v", all, want)
	}
	of, err := r.Attention(ctx, commerce.OrderKey{StoreID: "sto_1", OrderID: "ord_c"})
	if want := []commerce.Attention{rows[4], rows[5]}; err != nil || !reflect.DeepEqual(of, want) {
		t.Errorf("of one order:\n got %+v, %v\nwant %+v", of, err, want)
	}
}
