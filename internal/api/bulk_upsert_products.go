package api

import (
	"errors"
	"net/http"
	"strings"

	"purveyor/internal/api/wire"
	"purveyor/internal/commerce"
	"purveyor/internal/jsonin"
	"purveyor/internal/service"

	"github.com/go-json-experiment/json/jsontext"
)

type bulkUpsertIn struct {
	Products jsonin.List[bulkItemIn, maxBulk] `json:"products"`
	Match    *string                          `json:"match"`
}

type maxBulk struct{}

func (maxBulk) Most() int { return 200 }

// bulkItemIn is the body of an upsert. One that cannot be read is refused alone, if it is
// JSON.
type bulkItemIn struct {
	Product upsertIn        `json:"product"`
	Refused *commerce.Error `json:"refused,omitzero"`
}

// UnmarshalJSONFrom implements json.UnmarshalerFrom.
func (in *bulkItemIn) UnmarshalJSONFrom(d *jsontext.Decoder) error {
	value, err := d.ReadValue()
	if err == nil {
		errors.As(in.Product.decode(value), &in.Refused)
	}
	return err
}

// bulkUpsertProducts makes or updates products. Each succeeds or fails alone.
var bulkUpsertProducts = keyed[bulkUpsertIn](bulkBody, (*service.Service).BulkUpsertProducts, func(r *request, done []service.Upserted) (int, []byte) {
	out := bulkUpsertOut{OK: true, Count: len(done), Results: make([]upsertedOut, len(done)), TraceID: r.traceID}
	for i, d := range done {
		of := &out.Results[i]
		*of = upsertedOut{Index: i, OK: d.Refused == nil, ProductID: d.ProductID}
		switch {
		case d.Refused != nil:
			out.Failed++
			of.refuse(d.Refused)
			continue
		case d.Created:
			out.Created++
		default:
			out.Updated++
		}
		of.Created, of.UpdatedOn = &d.Created, d.UpdatedOn
	}
	return http.StatusOK, wire.Encode(out)
})

type bulkUpsertOut struct {
	OK      bool          `json:"ok"`
	Count   int           `json:"count"`
	Created int           `json:"created"`
	Updated int           `json:"updated"`
	Failed  int           `json:"failed"`
	Results []upsertedOut `json:"results"`
	TraceID string        `json:"trace_id"`
}

// upsertedOut is the outcome of one item. A refused one has Error, Code and what belongs to
// the code, the others have Created and UpdatedOn.
type upsertedOut struct {
	Index     int             `json:"index"`
	OK        bool            `json:"ok"`
	ProductID string          `json:"product_id,omitzero"`
	Created   *bool           `json:"created,omitzero"`
	UpdatedOn commerce.Millis `json:"updated_on,omitzero"`
	Error     string          `json:"error,omitzero"`
	Code      string          `json:"code,omitzero"`
	Field     string          `json:"field,omitzero"`
	Expected  *int64          `json:"expected_quantity,omitzero"`
	Available *int64          `json:"available_quantity,omitzero"`
}

func (out *upsertedOut) refuse(e *commerce.Error) {
	out.Error, out.Code, out.Field = e.Message, e.Code, e.Field
	if e.Stale != nil {
		out.ProductID, out.Expected, out.Available = e.Stale.ProductID, &e.Stale.Expected, &e.Stale.Available
	}
}

func (in bulkUpsertIn) call(*request) ([]service.BulkItem, error) {
	var c check
	match := matchID
	if in.Match != nil {
		match = *in.Match
	}
	if match != matchID && match != matchSKU {
		c.Fail("match", "must be id or sku")
	}
	c.NotEmpty("products", len(in.Products))
	items := make([]service.BulkItem, len(in.Products))
	for i := range in.Products {
		items[i] = in.Products[i].item(i, match)
	}
	return items, c.Err
}

// item reads the item at an index of the list.
func (in bulkItemIn) item(i int, match string) (out service.BulkItem) {
	if in.Refused != nil {
		out.Refused = inList(i, in.Refused)
		return out
	}
	var err error
	in.Product.path = commerce.Index("products", i, "") + "." + in.Product.path
	if match == matchSKU {
		out.UpsertProduct, err = in.Product.bySKU()
	} else {
		out.UpsertProduct, err = in.Product.call(nil)
	}
	errors.As(err, &out.Refused)
	return out
}

// inList returns the refusal of an item for the list that it stands in.
func inList(i int, e *commerce.Error) *commerce.Error {
	if e.Field == "body" {
		at := commerce.Index("products", i, "")
		return commerce.Invalid(at, "%s", at+strings.TrimPrefix(e.Message, "the body"))
	}
	at := commerce.Index("products", i, e.Field)
	return commerce.Invalid(at, "%s", at+strings.TrimPrefix(e.Message, e.Field))
}
