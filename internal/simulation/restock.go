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

// hurry has a partner call more often than it may. Of the calls that lie within one minute,
// whatever the clock of a process, no more than its limit are let through.
func (w *world) hurry() {
	for w.goesOn(time.Hour, 3*time.Hour) {
		through := map[time.Time]int{}
		for range 5 * hastyLimit {
			began := w.env.Now()
			status, answer := w.hasty.try(request{mode: commerce.Live, method: http.MethodGet, path: "/v1/health"})
			minute := began.Truncate(time.Minute)
			inside := began.Sub(minute) > time.Second && w.env.Now().Before(minute.Add(59*time.Second))
			if w.skewed > 0 { // minutes are not the same for all processes
				clear(through)
			} else if status == http.StatusOK && inside {
				if through[minute]++; through[minute] > hastyLimit {
					w.broke("%d calls of %s in a minute were let through: %s", through[minute], w.hasty.id, answer)
				}
			}
			w.sleep(w.between(0, 2*time.Second))
		}
	}
}
