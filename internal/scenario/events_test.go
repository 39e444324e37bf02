package scenario

import (
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"purveyor/internal/command"
	"purveyor/internal/commerce"
	"purveyor/internal/commit"
)

// Events of stores that a key may not use are left out, and pages lead past any
// number of them.
func TestEventsOfOtherStores(t *testing.T) {
	onEveryEngine(t, func(t *testing.T, w *world) {
		w.importCatalog(t, "small")
		const hidden = 25 // with one per page, more than one request reads
		w.do(t, call{method: "POST", path: "/v1/products/upsert", key: "busy", body: `{"id":"prd_south_loaf","store_id":"sto_south",
			"category_id":"cat_bread","name":"Corn Bread","available_quantity":100}`})
		w.reportFrom(t, "sto_north", "prd_loaf", "first")
		for i := range hidden {
			w.reportFrom(t, "sto_south", "prd_south_loaf", fmt.Sprint("hidden-", i))
		}
		w.reportFrom(t, "sto_north", "prd_loaf", "last")
		run(t, w, commit.Command[commerce.Partner](command.UpdatePartner{ID: partnerID("busy"), StoreIDs: &[]string{"sto_north"}}))
		w.clock.move(time.Minute) // the key is accepted for seconds

		var seen []string
		cursor := ""
		for range hidden {
			var page struct {
				NextCursor string `json:"next_cursor"`
				Events     []struct {
					Data struct {
						Order struct {
							ExternalID string `json:"external_order_id"`
						} `json:"order"`
					} `json:"data"`
				} `json:"events"`
			}
			a := w.do(t, call{method: "GET", path: "/v1/events?limit=1" + cursor, key: "busy"})
			if err := json.Unmarshal(a.body, &page); err != nil || page.NextCursor == "" {
				t.Fatalf("%v: %s", err, a.body)
			}
			for _, e := range page.Events {
				seen = append(seen, e.Data.Order.ExternalID)
			}
			cursor = "&cursor=" + page.NextCursor
		}
		if got := fmt.Sprint(seen); got != "[first last]" {
			t.Errorf("the key hears of %s", got)
		}
	})
}

func (w *world) reportFrom(t *testing.T, store, product, external string) {
	t.Helper()
	a := w.do(t, call{method: "POST", path: "/v1/orders/report", key: "busy", idem: external, body: fmt.Sprintf(
		`{"external_order_id":%q,"store_id":%q,"fulfillment_type":"pickup","items":[{"product_id":%q,"quantity":1,"price":1}]}`, external, store, product)})
	if a.status != 201 {
		t.Fatalf("%d %s", a.status, a.body)
	}
}
