package simulation

import (
	"fmt"
	"net/http"
	"strings"
)

// look is what a customer sees before an order. The model judges the answers.
func (s *story) look() {
	if s.w.lot(4) > 0 {
		return
	}
	cart := fmt.Sprintf(`"store_id": %q, "items": [{"product_id": %q, "quantity": %d}]`, storeID(s.store), productID(s.store, s.item), s.pieces)
	where := `"fulfillment_type": "pickup"`
	if s.delivery {
		where = `"fulfillment_type": "delivery", ` + near
	}
	var status int
	var answer string
	switch s.w.lot(8) {
	case 0:
		status, answer = s.get("/v1/stores")
	case 1:
		status, answer = s.get("/v1/categories")
	case 2:
		status, answer = s.get("/v1/stores/" + storeID(s.store) + "/categories")
	case 3:
		status, answer = s.post("/v1/stores/nearby", `{"delivery_address": "20 Oak St, Albany, NY 12208"}`)
	case 4:
		status, answer = s.post("/v1/delivery/quote", fmt.Sprintf(`{"store_id": %q, %s}`, storeID(s.store), near))
	case 5:
		status, answer = s.post("/v1/checkout/preflight", "{"+cart+", "+where+"}")
	case 6:
		status, answer = s.get("/v1/products/" + productID(s.store, s.item))
	default:
		status, answer = s.post("/v1/products/availability", "{"+cart+"}")
	}
	if status != http.StatusOK {
		s.broke("a look was answered %d %s", status, answer)
	}
}

const near = `"delivery_address": {"name": "Ann Lee", "phone": "+15185550111", "address": {"line1": "20 Oak St", ` + inReach + `, "state": "NY", "country": "US"}}`

// track looks at the order in one of the ways that there are, now and then.
func (s *story) track() {
	if s.id == "" || s.w.lot(3) > 0 {
		return
	}
	path := "/v1/orders/" + s.id
	switch n := s.w.lot(5); {
	case n == 0:
		path += "/tracking"
	case n == 1:
		path += "/driver-location"
	case n == 2:
		path += "/timeline?limit=500"
	case n == 3 && !s.paidHere:
		path = "/v1/orders/by-external/" + strings.ReplaceAll(s.name, " ", "%20")
	}
	if status, answer := s.get(path); status != http.StatusOK {
		s.broke("GET %s was answered %d %s", path, status, answer)
	}
}
