package simulation

import (
	"fmt"
	"net/http"
	"strings"
	"time"

	"purveyor/internal/commerce"
)

// restock has the partner adjust the stock of two products now and then. What is added is
// known from the answers alone.
func (p *partner) restock() {
	for n := 1; p.w.goesOn(2*time.Minute, 20*time.Minute); n++ {
		store, deltas := p.w.lot(stores), map[string]int64{}
		var lines []string
		item := p.w.lot(products)
		for range 2 {
			id, delta := productID(store, item), int64(p.w.lot(30)-5)
			if p.w.lot(4) > 0 { // else both lines are about one product
				item = p.w.lot(products)
			}
			deltas[id] += delta
			lines = append(lines, fmt.Sprintf(`{"product_id": %q, "delta": %d, "reason": "count"}`, id, delta))
		}
		r := request{mode: commerce.Live, method: http.MethodPost, path: "/v1/inventory/adjustments", key: fmt.Sprint("restock ", n),
			body: fmt.Sprintf(`{"adjustments": [%s]}`, strings.Join(lines, ", "))}
		for id, delta := range deltas {
			p.w.shelves[id].move(min(delta, 0), max(delta, 0))
		}
		status, answer := p.keyed(r)
		for id, delta := range deltas {
			if status == http.StatusOK {
				p.w.added[id] += delta
				p.w.shelves[id].move(max(delta, 0), min(delta, 0))
			} else {
				p.w.shelves[id].move(-min(delta, 0), -max(delta, 0))
			}
		}
		switch status {
		case http.StatusOK:
		case http.StatusConflict: // less would be left than nothing
			if !strings.Contains(answer, "insufficient_stock") {
				p.w.broke("%s: an adjustment was answered %d %s", p.id, status, answer)
			}
		default:
			p.w.broke("%s: an adjustment was answered %d %s", p.id, status, answer)
		}
	}
}
