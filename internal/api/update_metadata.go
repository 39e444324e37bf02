package api

import (
	"maps"
	"net/http"
	"slices"

	"purveyor/internal/api/wire"
	"purveyor/internal/commerce"
	"purveyor/internal/jsonin"
	"purveyor/internal/service"
)

type updateMetadataIn struct {
	Metadata metadataIn `json:"metadata"`
}

// metadataIn has twice the names that an order may have, because a change may remove as many as
// it adds.
type metadataIn = jsonin.Texts[maxMetadataIn]

type maxMetadataIn struct{}

func (maxMetadataIn) Most() int { return 100 }

// updateMetadata changes the metadata of an order.
var updateMetadata = keyed[updateMetadataIn](0, (*service.Service).UpdateMetadata, func(r *request, o commerce.Order) (int, []byte) {
	return http.StatusOK, wire.Encode(struct {
		OK        bool              `json:"ok"`
		OrderID   string            `json:"order_id"`
		Metadata  commerce.Metadata `json:"metadata"`
		UpdatedOn commerce.Millis   `json:"updated_on"`
		TraceID   string            `json:"trace_id"`
	}{true, o.ID, o.Metadata, o.UpdatedOn, r.traceID})
})

func (in updateMetadataIn) call(r *request) (service.UpdateMetadata, error) {
	var c check
	if in.Metadata == nil {
		c.Fail("metadata", "is missing")
	}
	if c.Err != nil {
		return service.UpdateMetadata{}, c.Err
	}
	order, err := r.order()
	return service.UpdateMetadata{Order: order, Changes: in.Metadata}, err
}

// metadata reads the metadata of a new order.
func (c *check) metadata(in metadataIn) commerce.Metadata {
	for _, name := range slices.Sorted(maps.Keys(in)) {
		if in[name] == nil {
			c.Fail("metadata."+name, "must be a string")
		}
	}
	m, err := commerce.Metadata(nil).With(in)
	if c.Err == nil {
		c.Err = err
	}
	return m
}
