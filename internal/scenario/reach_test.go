package scenario

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"testing"

	"purveyor/internal/commerce"
	"purveyor/internal/outside/geocode"
)

// reachCases are places north of sto_town, which delivers up to 5 miles. The atlas
// knows them by their postal codes.
var reachCases = []struct {
	miles  float64
	place  geocode.Place
	beyond bool
	placed bool // the answer has a distance
}{
	{4.99, geocode.Place{Precision: geocode.Rooftop}, false, true},
	{5.01, geocode.Place{Precision: geocode.Rooftop}, true, true},
	{4.99, geocode.Place{Precision: geocode.Range}, false, true},
	{5.01, geocode.Place{Precision: geocode.Range}, true, true},
	{5.99, geocode.Place{Precision: geocode.Street}, false, true},
	{6.01, geocode.Place{Precision: geocode.Street}, true, true},
	{7.49, geocode.Place{Precision: geocode.ZIP, AreaMiles: 2.5}, false, true},
	{7.51, geocode.Place{Precision: geocode.ZIP, AreaMiles: 2.5}, true, true},
	{8.99, geocode.Place{Precision: geocode.City, AreaMiles: 4}, false, true},
	{9.01, geocode.Place{Precision: geocode.City, AreaMiles: 4}, true, true},
	{14.99, geocode.Place{Precision: geocode.ZIP}, false, true}, // an online geocoder gives no size
	{15.01, geocode.Place{Precision: geocode.ZIP}, true, true},
	{25, geocode.Place{Precision: geocode.Area}, false, false},
}

func reachCode(i int) string {
	return fmt.Sprint(reachCases[i].place.Precision, " ", reachCases[i].miles)
}

func init() {
	for i, c := range reachCases {
		c.place.Point = commerce.Point{Lat: 42.65 + c.miles/69.0934, Lng: -73.75}
		atlas[reachCode(i)] = c.place
	}
}

// Preflight, quote and checkout use one rule for what is in reach. Nearby compares
// with the radius alone.
func TestReach(t *testing.T) {
	onEveryEngine(t, func(t *testing.T, w *world) {
		w.importCatalog(t, "town")
		for i, c := range reachCases {
			code := reachCode(i)
			address := fmt.Sprintf(`{"name":"Ann","address":{"line1":"20 Oak St","city":"Albany","state":"NY","postal_code":"%s","country":"US"}}`, code)
			cart := `{"store_id":"sto_town","items":[{"product_id":"prd_town","quantity":1}],"fulfillment_type":"delivery","delivery_address":` + address
			post := func(path, body string, out any) *answer {
				a := w.do(t, call{method: "POST", path: path, key: "busy-test", idem: code, body: body})
				if err := json.Unmarshal(a.body, out); err != nil {
					t.Fatal(err)
				}
				return a
			}

			var flight struct {
				Reasons []string `json:"reasons"`
				Store   struct {
					Miles *float64 `json:"distance_miles"`
				} `json:"store"`
			}
			post("/v1/checkout/preflight", cart+`}`, &flight)
			if beyond := slices.Contains(flight.Reasons, "out_of_radius"); beyond != c.beyond || (flight.Store.Miles != nil) != c.placed {
				t.Errorf("%s: preflight says %v, at %v", code, flight.Reasons, flight.Store.Miles)
			}

			var quote struct {
				Code  string   `json:"code"`
				Miles *float64 `json:"distance_miles"`
			}
			a := post("/v1/delivery/quote", `{"store_id":"sto_town","delivery_address":`+address+`}`, &quote)
			refused := a.status == http.StatusBadRequest && quote.Code == "out_of_radius"
			if refused != c.beyond || !refused && (a.status != http.StatusOK || (quote.Miles != nil) != c.placed) {
				t.Errorf("%s: quote answers %d %s", code, a.status, a.body)
			}

			before := len(w.payments(t))
			var checkout struct {
				Code string `json:"code"`
			}
			a = post("/v1/checkout/session", cart+`,"success_url":"https://e.example/s","cancel_url":"https://e.example/c"}`, &checkout)
			made := len(w.payments(t)) - before
			refused = a.status == http.StatusBadRequest && checkout.Code == "out_of_radius" && made == 0
			if refused != c.beyond || !refused && (a.status != http.StatusCreated || made != 1) {
				t.Errorf("%s: checkout answers %d %s, and makes %d orders", code, a.status, a.body, made)
			}

			near := w.nearby(t, "busy-test", `{"delivery_address":{"postal_code":"`+code+`"},"max_distance_miles":100}`)
			if found := slices.Contains(near, "sto_town"); found != (c.miles <= 5) {
				t.Errorf("%s: nearby finds %v", code, near)
			}
		}
	})
}

// A checkout does not depend on the geocoder: if the geocoder fails, or returns an
// invalid place, the courier decides.
func TestCheckoutWithoutGeocoder(t *testing.T) {
	onEveryEngine(t, func(t *testing.T, w *world) {
		w.importCatalog(t, "town")
		for _, line := range []string{noAnswer, nonsense} {
			a := w.do(t, call{method: "POST", path: "/v1/checkout/session", key: "busy-test", idem: line, body: `{"store_id":"sto_town",
				"items":[{"product_id":"prd_town","quantity":1}],"fulfillment_type":"delivery","success_url":"https://e.example/s","cancel_url":"https://e.example/c",
				"delivery_address":{"name":"Ann","address":{"line1":"` + line + `","city":"Albany","state":"NY","postal_code":"-","country":"US"}}}`})
			if a.status != http.StatusCreated {
				t.Errorf("%s: %d %s", line, a.status, a.body)
			}
		}
	})
}
