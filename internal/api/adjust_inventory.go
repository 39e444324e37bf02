package api

import (
	"net/http"

	"purveyor/internal/command"
	"purveyor/internal/commerce"
	"purveyor/internal/wire"
)

type adjustIn struct {
	Adjustments wire.List[adjustmentIn, maxAdjustments] `json:"adjustments"`
}

type adjustmentIn struct {
	ProductID         *string   `json:"product_id"`
	Delta             *wire.Int `json:"delta"`
	Reason            *string   `json:"reason"`
	ExternalReference *string   `json:"external_reference"`
}

type maxAdjustments struct{}

func (maxAdjustments) Most() int { return 500 }

type adjustedOut struct {
	ProductID string `json:"product_id"`
	Previous  int64  `json:"previous_quantity"`
	Next      int64  `json:"next_quantity"`
	Delta     int64  `json:"delta"`
}

// adjustInventory applies all deltas, or none.
func (a *API) adjustInventory(r *request) (reply, error) {
	key, err := r.keyRequired()
	if err != nil {
		return reply{}, err
	}
	var in adjustIn
	if err := r.decodeBody(&in); err != nil {
		return reply{}, err
	}
	lines, err := in.lines()
	if err != nil {
		return reply{}, err
	}
	if err := a.findStores(r, lines); err != nil {
		return reply{}, err
	}
	cmd := command.AdjustInventory{Actor: r.actor(r.Mode), Lines: lines}
	return do(a, r, r.Mode, key, in, cmd, func(done []command.Adjusted) (int, []byte) {
		out := make([]adjustedOut, len(done))
		for i, d := range done {
			out[i] = adjustedOut(d)
		}
		return http.StatusOK, wire.Encode(struct {
			OK          bool          `json:"ok"`
			Adjusted    int           `json:"adjusted"`
			Adjustments []adjustedOut `json:"adjustments"`
		}{true, len(out), out})
	})
}

func (in adjustIn) lines() ([]command.AdjustmentLine, error) {
	var c check
	c.NotEmpty("adjustments", len(in.Adjustments))
	lines := make([]command.AdjustmentLine, len(in.Adjustments))
	c.Each("adjustments", len(lines), func(i int) {
		line := in.Adjustments[i]
		lines[i].Product.ProductID = c.ID("product_id", line.ProductID)
		lines[i].Delta = c.Between("delta", line.Delta, -commerce.MaxStock, commerce.MaxStock)
		lines[i].Reason = c.Optional("reason", line.Reason, wire.MaxName)
		lines[i].ExternalReference = c.Optional("external_reference", line.ExternalReference, wire.MaxID)
	})
	return lines, c.Err
}

// findStores fills in the store of each product, which never changes.
func (a *API) findStores(r *request, lines []command.AdjustmentLine) error {
	ids := make([]string, len(lines))
	for i, l := range lines {
		ids[i] = l.Product.ProductID
	}
	stock, err := a.reader.Stock(r.Context(), ids)
	if err != nil {
		return err
	}
	for i := range lines {
		s, ok := stock[lines[i].Product.ProductID]
		if !ok {
			e := commerce.NotFound("product")
			e.Message = "product " + lines[i].Product.ProductID + " not found"
			return e
		}
		lines[i].Product.StoreID = s.StoreID
	}
	return nil
}
