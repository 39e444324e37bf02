package api

import (
	"purveyor/internal/commerce"
	"purveyor/internal/jsonin"
	"purveyor/internal/service"
)

type itemIn struct {
	ProductID *string     `json:"product_id"`
	Quantity  *jsonin.Int `json:"quantity"`
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

type availabilityIn struct {
	StoreID *string                                   `json:"store_id"`
	Items   jsonin.List[itemIn, maxAvailabilityItems] `json:"items"`
}

// checkAvailability reports which lines could be sold right now. It reserves nothing.
func (a *API) checkAvailability(r *request) (reply, error) {
	in, lines, err := readInput[availabilityIn](r, 0)
	if err != nil {
		return reply{}, err
	}
	items, all, err := a.service.CheckAvailability(r.Context(), r.caller(), in.StoreID, lines)
	if err != nil {
		return reply{}, err
	}
	return ok(struct {
		OK           bool              `json:"ok"`
		StoreID      *string           `json:"store_id"`
		AllAvailable bool              `json:"all_available"`
		Items        []availabilityOut `json:"items"`
	}{true, in.StoreID, all, availabilityOf(items, in.StoreID != nil)})
}

func (in availabilityIn) call(*request) ([]commerce.OrderLine, error) {
	var c check
	if in.StoreID != nil {
		c.ID("store_id", in.StoreID)
	}
	return c.items(in.Items), c.Err
}

// availabilityOf encodes the items. If the request named a store (ofStore), each item
// shows whether it belongs to another store.
func availabilityOf(items []service.Available, ofStore bool) []availabilityOut {
	list := make([]availabilityOut, len(items))
	for i := range items {
		it := &items[i]
		out := availabilityOut{ProductID: it.Line.ProductID, RequestedQuantity: it.Line.Quantity, Found: it.Found, Available: it.Available}
		if ofStore {
			out.WrongStore = &it.WrongStore
		}
		if it.Found {
			out.StoreID, out.Active, out.AvailableQuantity = &it.Stock.StoreID, &it.Stock.Active, it.Stock.Quantity
		}
		list[i] = out
	}
	return list
}

// items returns the lines of a cart: product and quantity.
func (c *check) items(in []itemIn) []commerce.OrderLine {
	c.NotEmpty("items", len(in))
	lines := make([]commerce.OrderLine, len(in))
	c.Each("items", len(in), func(i int) {
		lines[i] = commerce.OrderLine{ProductID: c.ID("product_id", in[i].ProductID),
			Quantity: c.Between("quantity", in[i].Quantity, 1, commerce.MaxQuantity)}
	})
	return lines
}
