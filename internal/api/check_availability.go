package api

import (
	"maps"
	"slices"

	"purveyor/internal/commerce"
	"purveyor/internal/storage"
	"purveyor/internal/wire"
)

type itemIn struct {
	ProductID *string   `json:"product_id"`
	Quantity  *wire.Int `json:"quantity"`
}

// availabilityOut is one item of the answer (SPEC, Products).
type availabilityOut struct {
	ProductID         string  `json:"product_id"`
	Found             bool    `json:"found"`
	StoreID           *string `json:"store_id"`
	WrongStore        *bool   `json:"wrong_store,omitempty"`
	Available         bool    `json:"available"`
	Active            *bool   `json:"active,omitempty"`
	RequestedQuantity int64   `json:"requested_quantity"`
	AvailableQuantity int64   `json:"available_quantity"`
}

type maxAvailabilityItems struct{}

func (maxAvailabilityItems) Most() int { return 200 }

// checkAvailability tells what could be sold right now. It reserves nothing.
func (a *API) checkAvailability(r *request) (reply, error) {
	var in struct {
		StoreID *string                                 `json:"store_id"`
		Items   wire.List[itemIn, maxAvailabilityItems] `json:"items"`
	}
	if err := r.decodeBody(&in); err != nil {
		return reply{}, err
	}
	var c check
	if in.StoreID != nil {
		c.ID("store_id", in.StoreID)
	}
	lines := c.items(in.Items)
	if c.Err != nil {
		return reply{}, c.Err
	}
	if in.StoreID != nil {
		if err := a.mayRead(r, *in.StoreID); err != nil {
			return reply{}, err
		}
	}
	items, all, err := a.availability(r, in.StoreID, lines)
	if err != nil {
		return reply{}, err
	}
	return ok(struct {
		OK           bool              `json:"ok"`
		StoreID      *string           `json:"store_id"`
		AllAvailable bool              `json:"all_available"`
		Items        []availabilityOut `json:"items"`
	}{true, in.StoreID, all, items})
}

// items are the lines of a cart: product and quantity.
func (c *check) items(in []itemIn) []commerce.OrderLine {
	c.NotEmpty("items", len(in))
	lines := make([]commerce.OrderLine, len(in))
	c.Each("items", len(in), func(i int) {
		lines[i] = commerce.OrderLine{ProductID: c.ID("product_id", in[i].ProductID),
			Quantity: c.Between("quantity", in[i].Quantity, 1, commerce.MaxQuantity)}
	})
	return lines
}

// availability answers each line. A product on several lines is available on
// each only if there is enough for all of them together.
func (a *API) availability(r *request, storeID *string, lines []commerce.OrderLine) ([]availabilityOut, bool, error) {
	wanted := make(map[string]int64, len(lines))
	ids := make([]string, 0, len(lines))
	for _, d := range commerce.Demands(lines) {
		wanted[d.ProductID] = d.Quantity
		ids = append(ids, d.ProductID)
	}
	stock, err := a.reader.Stock(r.Context(), ids)
	if err != nil {
		return nil, false, err
	}
	selling, err := a.selling(r, stock)
	if err != nil {
		return nil, false, err
	}
	items, all := make([]availabilityOut, len(lines)), true
	for i, l := range lines {
		out := availabilityOut{ProductID: l.ProductID, RequestedQuantity: l.Quantity}
		s, known := stock[l.ProductID]
		wrong := known && storeID != nil && s.StoreID != *storeID
		if storeID != nil {
			out.WrongStore = &wrong
		}
		if known && r.Partner.MayUse(s.StoreID) {
			out.Found, out.StoreID, out.Active, out.AvailableQuantity = true, &s.StoreID, &s.Active, s.Quantity
			out.Available = s.Active && selling[s.StoreID] && !wrong && wanted[l.ProductID] <= s.Quantity
		}
		items[i] = out
		all = all && out.Available
	}
	return items, all, nil
}

// selling are the active ones among the stores of these products.
func (a *API) selling(r *request, stock map[string]commerce.Stock) (map[string]bool, error) {
	stores := make(map[string]bool, 1)
	for _, s := range stock {
		stores[s.StoreID] = false
	}
	if len(stores) == 0 {
		return stores, nil
	}
	active, err := a.reader.Stores(r.Context(), storage.StoreFilter{Active: true, IDs: slices.Collect(maps.Keys(stores)), Limit: len(stores)})
	for _, s := range active {
		stores[s.ID] = true
	}
	return stores, err
}
