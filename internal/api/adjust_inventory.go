package api

import (
	"net/http"

	"purveyor/internal/api/wire"
	"purveyor/internal/commerce"
	"purveyor/internal/jsonin"
	"purveyor/internal/service"
)

type adjustIn struct {
	Adjustments jsonin.List[adjustmentIn, maxAdjustments] `json:"adjustments"`
}

type adjustmentIn struct {
	ProductID         *string     `json:"product_id"`
	Delta             *jsonin.Int `json:"delta"`
	Reason            *string     `json:"reason"`
	ExternalReference *string     `json:"external_reference"`
	Expected          *jsonin.Int `json:"expected_quantity,omitzero"` // left out where absent, so that fingerprints stay those of older programs
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
var adjustInventory = keyed[adjustIn](needsKey|largeBody, (*service.Service).AdjustInventory, func(_ *request, done []service.Adjusted) (int, []byte) {
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

func (in adjustIn) call(*request) ([]service.Adjustment, error) {
	var c check
	c.NotEmpty("adjustments", len(in.Adjustments))
	lines := make([]service.Adjustment, len(in.Adjustments))
	c.Each("adjustments", len(lines), func(i int) {
		line := in.Adjustments[i]
		lines[i].Product.ProductID = c.ID("product_id", line.ProductID)
		lines[i].Delta = c.Between("delta", line.Delta, -commerce.MaxStock, commerce.MaxStock)
		lines[i].Expected = c.OptBetween("expected_quantity", line.Expected, 0, commerce.MaxStock)
		lines[i].Reason = c.Optional("reason", line.Reason, jsonin.MaxName)
		lines[i].ExternalReference = c.Optional("external_reference", line.ExternalReference, jsonin.MaxID)
	})
	return lines, c.Err
}
