package api

import (
	"net/http"

	"purveyor/internal/api/wire"
	"purveyor/internal/commerce"
	"purveyor/internal/jsonin"
	"purveyor/internal/service"
	"purveyor/internal/web"

	"github.com/go-json-experiment/json/jsontext"
)

// upsertIn is the product of an upsert request (SPEC, Products).
type upsertIn struct {
	ID            *string       `json:"id"`
	StoreID       *string       `json:"store_id"`
	CategoryID    *string       `json:"category_id"`
	Name          *string       `json:"name"`
	Description   *string       `json:"description"`
	FeaturedImage *string       `json:"featured_image"`
	Images        *imagesIn     `json:"images"`
	Active        *bool         `json:"active"`
	Hot           *bool         `json:"hot"`
	Price         *jsonin.Major `json:"price"`
	Quantity      *jsonin.Int   `json:"available_quantity"`
	SKU           *string       `json:"sku"`
	SoldCount     *jsonin.Int   `json:"sold_count"`
	SoldAmount    *jsonin.Major `json:"sold_amount"`
	CreatedOn     *jsonin.Int   `json:"created_on"`
	Expected      *jsonin.Int   `json:"expected_quantity,omitzero"` // left out where absent, so that fingerprints stay those of older programs

	path string // of the product in the body, for errors
}

type imagesIn = jsonin.List[string, maxImages]

type maxImages struct{}

func (maxImages) Most() int { return jsonin.MaxImages }

// upsertProduct makes or updates one product.
func (a *API) upsertProduct(r *request) (reply, error) {
	q := web.QueryOf(r.Request)
	upsert := upsertByID
	switch q.Text("match") {
	case "", matchID:
	case matchSKU:
		upsert = upsertBySKU
	default:
		q.Fail("invalid_query", "match", "must be id or sku")
	}
	if err := q.Err(); err != nil {
		return reply{}, err
	}
	return upsert(a, r)
}

// The ways to find the product of an upsert.
const (
	matchID  = "id" // the default
	matchSKU = "sku"
)

var (
	upsertByID  = keyed[upsertIn](largeBody, (*service.Service).UpsertProduct, encodeUpserted)
	upsertBySKU = keyed[upsertBySKUIn](largeBody, (*service.Service).UpsertProduct, encodeUpserted)
)

func encodeUpserted(_ *request, p commerce.Item) (int, []byte) {
	b := wire.AppendString(append(make([]byte, 0, 1024), `{"ok":true,"product_id":`...), p.ID)
	return http.StatusOK, append(wire.AppendUpserted(append(b, `,"product":`...), p), '}')
}

// upsertBySKUIn has another fingerprint than the same body without match.
type upsertBySKUIn struct {
	Product upsertIn `json:"by_sku"`
}

func (in *upsertBySKUIn) decode(data []byte) error { return in.Product.decode(data) }

func (in upsertBySKUIn) call(*request) (service.UpsertProduct, error) { return in.Product.bySKU() }

// decode reads a body that is the product itself, or an object that contains the product.
func (in *upsertIn) decode(data []byte) error {
	var wrapped struct {
		Product jsontext.Value `json:"product"`
	}
	if err := jsonin.Decode(data, &wrapped); err != nil {
		return err
	}
	if wrapped.Product == nil || wrapped.Product.Kind() == 'n' {
		return jsonin.Decode(data, (*plainUpsertIn)(in))
	}
	var nested struct {
		Product plainUpsertIn `json:"product"`
	}
	err := jsonin.Decode(data, &nested)
	*in = upsertIn(nested.Product)
	in.path = "product."
	return err
}

// plainUpsertIn is upsertIn without its decode method, so that it is decoded like any
// other struct.
type plainUpsertIn upsertIn

func (in upsertIn) call(*request) (service.UpsertProduct, error) {
	c := check{jsonin.Check{Prefix: in.path}}
	cmd := service.UpsertProduct{
		Create:  in.ID == nil,
		StoreID: c.ID("store_id", in.StoreID), CategoryID: c.ID("category_id", in.CategoryID), Name: c.Required("name", in.Name, jsonin.MaxName),
		Description: in.Description, FeaturedImage: in.FeaturedImage, Images: (*[]string)(in.Images),
		Active: in.Active, Hot: in.Hot, SKU: in.SKU,
		PriceCents: c.major("price", in.Price, commerce.MaxCents), Quantity: c.OptBetween("available_quantity", in.Quantity, 0, commerce.MaxStock),
		SoldCount: c.OptBetween("sold_count", in.SoldCount, 0, commerce.MaxStock), SoldCents: c.major("sold_amount", in.SoldAmount, commerce.MaxTotal),
		CreatedOn: (*commerce.Millis)(c.OptBetween("created_on", in.CreatedOn, 0, maxMillis)),
	}
	if in.ID != nil {
		cmd.ID = c.ID("id", in.ID)
	}
	if cmd.Expected = c.OptBetween("expected_quantity", in.Expected, 0, commerce.MaxStock); in.Expected != nil && in.Quantity == nil {
		c.Fail("expected_quantity", "needs available_quantity")
	}
	c.Optional("description", in.Description, jsonin.MaxText)
	c.Optional("featured_image", in.FeaturedImage, jsonin.MaxURL)
	c.Optional("sku", in.SKU, jsonin.MaxID)
	c.Images("images", (*[]string)(in.Images))
	return cmd, c.Err
}

// bySKU reads a product that is found by its SKU.
func (in upsertIn) bySKU() (service.UpsertProduct, error) {
	cmd, err := in.call(nil)
	c := check{jsonin.Check{Prefix: in.path, Err: err}}
	if in.ID != nil {
		c.Fail("id", "must be absent when products are matched by sku")
	}
	c.Required("sku", in.SKU, jsonin.MaxID)
	cmd.Create, cmd.BySKU = false, service.BySKU()
	return cmd, c.Err
}

// maxMillis is the end of the year 9999.
const maxMillis = 253_402_300_799_999

func (c *check) major(field string, v *jsonin.Major, most commerce.Cents) *commerce.Cents {
	if v == nil {
		return nil
	}
	cents := commerce.Cents(*v)
	if cents < 0 || cents > most {
		c.Fail(field, "must be from 0 to %s", commerce.FormatMajor(most))
	}
	return &cents
}
