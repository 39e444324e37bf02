package simulation

import (
	"fmt"
	"slices"
	"time"

	"purveyor/internal/testkit/fixture"

	"github.com/go-json-experiment/json/jsontext"
)

// productRead is a product as lists show it (SPEC, Product).
type productRead struct {
	ID        string `json:"id"`
	Name      string `json:"name"`
	StoreID   string `json:"store_id"`
	Category  string `json:"category_id"`
	Price     int64  `json:"price"`
	Active    bool   `json:"active"`
	Available int64  `json:"available_quantity"`
	UpdatedOn int64  `json:"updated_on"`
}

// shown is a product as it was read last.
type shown struct {
	updated int64
	text    string
	learned time.Time
}

func (x *asked) judgeProducts() {
	var b struct {
		Count    int
		Products []jsontext.Value
	}
	if !x.read(&b) {
		return
	}
	x.want("count", b.Count, len(b.Products))
	last, lastID := int64(0), ""
	for _, raw := range b.Products {
		v := x.judgeProductOf(raw)
		if v.UpdatedOn < last || v.UpdatedOn == last && v.ID <= lastID {
			x.wrong("product %s comes after %s", v.ID, lastID)
		}
		last, lastID = v.UpdatedOn, v.ID
	}
}

func (x *asked) judgeProduct() {
	var b struct{ Product jsontext.Value }
	if x.read(&b) {
		x.judgeProductOf(b.Product)
	}
}

func (x *asked) judgeProductOf(raw jsontext.Value) (v productRead) {
	var store, n int
	if err := decode(raw, &v); err != nil || x.stock[v.ID] == nil {
		x.wrong("a product cannot be read, or is unknown: %v", err)
		return v
	}
	_, _ = fmt.Sscanf(v.ID, "prd_%d_%d", &store, &n)
	want := productRead{v.ID, fmt.Sprint("Rye ", n), storeID(store - 1), fixture.CategoryID, int64(price), true, v.Available, v.UpdatedOn}
	if v != want {
		x.wrong("a product was to be %s", told(want))
	}
	if seen := x.stock[v.ID]; !seen.has(v.Available) {
		x.wrong("%s has between %d and %d pieces", v.ID, seen.low, seen.high)
	}
	before := x.p.w.shown[v.ID]
	switch text := string(raw); {
	case v.UpdatedOn < before.updated && before.learned.Before(x.began):
		x.wrong("updated_on of %s was %d before", v.ID, before.updated)
	case v.UpdatedOn == before.updated && before.text != text:
		x.wrong("updated_on is the same as that of %s", before.text)
	case v.UpdatedOn > before.updated:
		x.p.w.shown[v.ID] = shown{v.UpdatedOn, text, x.p.w.env.Now()}
	}
	return v
}

// availabilityItem is one line of the answer (SPEC, Products).
type availabilityItem struct {
	ProductID string `json:"product_id"`
	Found     bool   `json:"found"`
	StoreID   string `json:"store_id"`
	Wrong     bool   `json:"wrong_store"`
	Available bool   `json:"available"`
	Active    bool   `json:"active"`
	Requested int64  `json:"requested_quantity"`
	Quantity  int64  `json:"available_quantity"`
}

// cart is what was asked for.
type cart struct {
	StoreID     string `json:"store_id"`
	Fulfillment string `json:"fulfillment_type"`
	Items       []struct {
		ProductID string `json:"product_id"`
		Quantity  int64  `json:"quantity"`
	} `json:"items"`
}

type availability struct {
	All   bool               `json:"all_available"`
	Items []availabilityItem `json:"items"`
}

func (x *asked) judgeAvailability() {
	var b availability
	if x.read(&b) {
		x.judgeLines(b)
	}
}

// judgeLines judges the availability of each line of a cart.
func (x *asked) judgeLines(b availability) {
	var c cart
	if err := decode([]byte(x.body), &c); err != nil || len(b.Items) != len(c.Items) {
		x.wrong("it has %d lines: %v", len(b.Items), err)
		return
	}
	all := true
	for i, got := range b.Items {
		asked := c.Items[i]
		want := availabilityItem{asked.ProductID, true, c.StoreID, false, got.Quantity >= asked.Quantity, true, asked.Quantity, got.Quantity}
		if seen := x.stock[asked.ProductID]; got != want || seen == nil || !seen.has(got.Quantity) {
			x.wrong("the line was to be %s, with a stock of %s", told(want), told(seen))
		}
		all = all && got.Available
	}
	x.want("all_available", b.All, all)
}

func (x *asked) judgeAdjustments() {
	var sent, got struct {
		Adjusted    int
		Adjustments []struct {
			ProductID string `json:"product_id"`
			Previous  int64  `json:"previous_quantity"`
			Next      int64  `json:"next_quantity"`
			Delta     int64  `json:"delta"`
		}
	}
	if err := decode([]byte(x.body), &sent); err != nil || !x.read(&got) || len(sent.Adjustments) != len(got.Adjustments) {
		x.wrong("it has the wrong lines: %v", err)
		return
	}
	x.want("adjusted", got.Adjusted, len(sent.Adjustments))
	next := map[string]int64{}
	for i, a := range got.Adjustments {
		asked, seen := sent.Adjustments[i], x.stock[a.ProductID]
		last, again := next[a.ProductID]
		if a.ProductID != asked.ProductID || a.Delta != asked.Delta || a.Next != a.Previous+a.Delta || a.Next < 0 || again && a.Previous != last || !seen.has(a.Previous) && !again {
			x.wrong("line %d is wrong; stock was %s", i, told(seen))
		}
		next[a.ProductID] = a.Next
	}
}

// storeRead is a store as lists show it (SPEC, Store).
type storeRead struct {
	ID       string `json:"id"`
	Name     string `json:"name"`
	City     string `json:"city"`
	State    string `json:"state"`
	Zip      string `json:"zip_code"`
	Address  string `json:"address"`
	Active   bool   `json:"active"`
	Pickup   bool   `json:"pickup_enabled"`
	Delivery bool   `json:"service_delivery_enabled"`
}

func theStores() (list []storeRead) {
	for n := range stores {
		list = append(list, storeRead{storeID(n), fmt.Sprint("Store ", n+1), "Albany", "NY", "12207", "1 Main St", true, true, true})
	}
	return list
}

func (x *asked) judgeStores() {
	var b struct {
		Count  int
		Stores []storeRead
	}
	if x.read(&b) {
		x.want("count", b.Count, stores)
		x.want("stores", b.Stores, theStores())
	}
}

func (x *asked) judgeCategories() {
	var b struct {
		Count      int
		Categories []struct {
			ID, Name string
			Active   bool
		}
	}
	if x.read(&b) {
		x.want("count", b.Count, 1)
		x.want("categories", b.Categories, []any{struct {
			ID, Name string
			Active   bool
		}{fixture.CategoryID, "Bread", true}})
	}
}

// judgeNearby: both stores are equally near.
func (x *asked) judgeNearby() {
	var b struct {
		Count  int
		Most   float64 `json:"max_distance_miles"`
		Stores []struct {
			ID       string  `json:"id"`
			Distance float64 `json:"distance_miles"`
			Within   bool    `json:"within_store_delivery_radius"`
		}
	}
	if !x.read(&b) {
		return
	}
	x.want("count", b.Count, stores)
	x.want("max_distance_miles", b.Most, 10)
	seen := map[string]bool{}
	for _, s := range b.Stores {
		seen[s.ID] = true
		if s.Distance != b.Stores[0].Distance || s.Distance > b.Most || !s.Within {
			x.wrong("the stores are at one place, and near")
		}
	}
	x.want("the number of stores", len(seen), stores)
}

// quoteRead is a quote (SPEC, Nearby stores and delivery quote).
type quoteRead struct {
	ID       string `json:"quote_id"`
	Fee      int64  `json:"fee_cents"`
	Currency string `json:"currency"`
	ETA      string `json:"dropoff_eta"`
	Seconds  int64  `json:"eta_seconds"`
	Duration int64  `json:"duration_seconds"`
	Pickup   int64  `json:"pickup_duration_seconds"`
	Expires  string `json:"expires"`
}

func (x *asked) judgeQuote() {
	var b quoteRead
	if x.read(&b) {
		x.judgeQuoteOf(b)
	}
}

func (x *asked) judgeQuoteOf(q quoteRead) {
	w := x.p.w
	eta, err1 := time.Parse(time.RFC3339Nano, q.ETA)
	expires, err2 := time.Parse(time.RFC3339Nano, q.Expires)
	most := drift*time.Millisecond + w.env.Since(x.began)
	off := eta.Sub(w.env.Now().Add(time.Duration(q.Seconds) * time.Second)).Abs()
	if q.ID == "" || q.Fee <= 0 || q.Currency != "USD" || err1 != nil || err2 != nil || q.Seconds <= 0 || q.Pickup > q.Duration || off > most || expires.Before(x.began.Add(-drift*time.Millisecond)) {
		x.wrong("it is no quote that can hold at %v", w.env.Now())
	}
	if w.fee == 0 {
		w.fee = q.Fee
	}
	x.want("fee_cents, which is the same for all,", q.Fee, w.fee)
}

// judgePreflight: a cart is eligible if nothing stands against it.
func (x *asked) judgePreflight() {
	var b struct {
		Eligible     bool
		Reasons      []string
		Fulfillment  string    `json:"fulfillment_type"`
		Store        storeRead `json:"store"`
		Availability availability
		Quote        *quoteRead
	}
	var c cart
	if err := decode([]byte(x.body), &c); err != nil || !x.read(&b) {
		x.wrong("it cannot be read: %v", err)
		return
	}
	x.judgeLines(b.Availability)
	var want []string
	if !b.Availability.All {
		want = append(want, "item_unavailable")
	}
	if c.Fulfillment == "delivery" && b.Quote == nil {
		want = append(want, "quote_unavailable")
	}
	slices.Sort(b.Reasons)
	x.want("reasons", b.Reasons, append([]string{}, want...))
	x.want("eligible", b.Eligible, len(want) == 0)
	x.want("fulfillment_type", b.Fulfillment, c.Fulfillment)
	x.want("the store", b.Store.ID, c.StoreID)
	switch {
	case b.Quote != nil && c.Fulfillment != "delivery":
		x.wrong("a pickup has no quote")
	case b.Quote != nil:
		x.judgeQuoteOf(*b.Quote)
	case x.p.w.Calm && c.Fulfillment == "delivery":
		x.wrong("a courier could be asked")
	}
}
