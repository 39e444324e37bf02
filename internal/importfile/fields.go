package importfile

import (
	"reflect"
	"strconv"
	"strings"

	"purveyor/internal/command"
	"purveyor/internal/commerce"
	"purveyor/internal/jsonin"
	"purveyor/internal/nearest"

	"github.com/go-json-experiment/json/jsontext"
)

// The types below are the fields of the file, for reading and for writing. Import.schema.json
// describes the same fields; a test compares the two. Of updated_on any value is accepted and
// ignored, because the read shapes of the API have it.

type categoryFields struct {
	ID        string         `json:"id"`
	Name      string         `json:"name"`
	Active    *bool          `json:"active,omitzero"`
	UpdatedOn jsontext.Value `json:"updated_on,omitzero"`
}

type storeFields struct {
	ID              string         `json:"id"`
	Name            string         `json:"name"`
	Slug            *string        `json:"slug,omitzero"`
	Address         *string        `json:"address,omitzero"`
	City            *string        `json:"city,omitzero"`
	State           *string        `json:"state,omitzero"`
	ZipCode         *string        `json:"zip_code,omitzero"`
	Email           *string        `json:"email,omitzero"`
	Phone           *string        `json:"phone,omitzero"`
	Active          *bool          `json:"active,omitzero"`
	Open            *bool          `json:"open,omitzero"`
	PickupEnabled   *bool          `json:"pickup_enabled,omitzero"`
	DeliveryEnabled *bool          `json:"service_delivery_enabled,omitzero"`
	Lat             *float64       `json:"lat,omitzero"`
	Lng             *float64       `json:"lng,omitzero"`
	RadiusMiles     *float64       `json:"service_delivery_radius_miles,omitzero"`
	TaxRateBps      *jsonin.Int    `json:"tax_rate_bps,omitzero"`
	ChargesQuote    *bool          `json:"charge_live_quote,omitzero"`
	TimeZone        *string        `json:"time_zone,omitzero"`
	LateMinutes     *jsonin.Int    `json:"late_minutes,omitzero"`
	HoldMinutes     *jsonin.Int    `json:"hold_minutes,omitzero"`
	UpdatedOn       jsontext.Value `json:"updated_on,omitzero"`
}

type productFields struct {
	ID            string         `json:"id"`
	Name          string         `json:"name"`
	StoreID       string         `json:"store_id"`
	CategoryID    *string        `json:"category_id,omitzero"`
	Description   *string        `json:"description,omitzero"`
	SKU           *string        `json:"sku,omitzero"`
	FeaturedImage *string        `json:"featured_image,omitzero"`
	Images        *[]string      `json:"images,omitzero"`
	Price         *cents         `json:"price,omitzero"`
	Active        *bool          `json:"active,omitzero"`
	Quantity      *jsonin.Int    `json:"available_quantity,omitzero"`
	UpdatedOn     jsontext.Value `json:"updated_on,omitzero"`
}

func (v *categoryFields) key() string { return v.ID }
func (v *storeFields) key() string    { return v.ID }
func (v *productFields) key() string  { return v.ID }

func (v *categoryFields) check(c *jsonin.Check) {
	c.ID("id", &v.ID)
	c.Required("name", &v.Name, jsonin.MaxName)
}

func (v *storeFields) check(c *jsonin.Check) { checkStore(c, v.command()) }

func (v *storeFields) command() command.ImportStore {
	return command.ImportStore{
		ID: v.ID, Name: v.Name, Slug: v.Slug, Address: v.Address, City: v.City, State: v.State, ZipCode: v.ZipCode,
		Email: v.Email, Phone: v.Phone, Active: v.Active, Open: v.Open, PickupEnabled: v.PickupEnabled,
		DeliveryEnabled: v.DeliveryEnabled, Lat: v.Lat, Lng: v.Lng, RadiusMiles: v.RadiusMiles, TaxRateBps: (*int64)(v.TaxRateBps),
		ChargesQuote: v.ChargesQuote, TimeZone: v.TimeZone, LateMinutes: (*int64)(v.LateMinutes), HoldMinutes: (*int64)(v.HoldMinutes),
	}
}

func (v *productFields) check(c *jsonin.Check) {
	c.ID("id", &v.ID)
	c.ID("store_id", &v.StoreID)
	c.Required("name", &v.Name, jsonin.MaxName)
	if v.CategoryID != nil && *v.CategoryID != "" {
		c.ID("category_id", v.CategoryID)
	}
	c.Optional("description", v.Description, jsonin.MaxText)
	c.Optional("sku", v.SKU, jsonin.MaxID)
	c.Optional("featured_image", v.FeaturedImage, jsonin.MaxURL)
	c.Images("images", v.Images)
	c.OptBetween("price", (*jsonin.Int)(v.Price), 0, int64(commerce.MaxCents))
	c.OptBetween("available_quantity", v.Quantity, 0, commerce.MaxStock)
}

func (v *productFields) command() command.ImportProduct {
	return command.ImportProduct{
		ID: v.ID, Name: v.Name, StoreID: v.StoreID, CategoryID: v.CategoryID, Description: v.Description, SKU: v.SKU,
		FeaturedImage: v.FeaturedImage, Images: v.Images, PriceCents: (*commerce.Cents)(v.Price), Active: v.Active, Quantity: (*int64)(v.Quantity),
	}
}

// cents is a price. A decimal point is refused, because a price that has one was meant in
// dollars, even if nothing but zeros follows.
type cents commerce.Cents

// UnmarshalJSONFrom implements json.UnmarshalerFrom.
func (v *cents) UnmarshalJSONFrom(d *jsontext.Decoder) error {
	value, err := d.ReadValue()
	if err != nil {
		return err
	}
	text := string(value)
	if n, err := strconv.ParseInt(text, 10, 64); err == nil {
		*v = cents(n)
		return nil
	}
	if value.Kind() == '0' {
		n, err := commerce.ParseScaled(text, 2)
		switch {
		case err == nil && n%100 != 0:
			return jsonin.Refusal("must be cents: %d", n)
		case err == nil:
			return jsonin.Refusal("must be cents without a decimal point: %s may mean %d or %d", text, n/100, n)
		}
	}
	return jsonin.Refusal("must be an integer, in cents")
}

// names are the names of the fields of a type.
func names(of reflect.Type) (list []string) {
	for i := range of.NumField() {
		name, _, _ := strings.Cut(of.Field(i).Tag.Get("json"), ",")
		list = append(list, name)
	}
	return list
}

// unknown says that a name is not a field, and which was probably meant.
func unknown(name string, known []string) string {
	near := nearest.Of(name, known)
	for _, k := range known {
		if near == "" && len(k) > 2 && (strings.Contains(k, name) && len(name) > 2 || strings.HasPrefix(name, k+"_")) {
			near = k
		}
	}
	if near != "" {
		return "did you mean " + near + "?"
	}
	return "is not a field; the fields are " + strings.Join(known, ", ")
}
