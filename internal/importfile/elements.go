package importfile

import (
	"github.com/go-json-experiment/json/jsontext"

	"purveyor/internal/command"
	"purveyor/internal/commerce"
	"purveyor/internal/jsonin"
)

func (p *parser) category(value jsontext.Value) (string, error) {
	var in struct {
		ID     string `json:"id"`
		Name   string `json:"name"`
		Active *bool  `json:"active"`
	}
	if err := jsonin.Decode(value, &in); err != nil {
		return "", err
	}
	var c jsonin.Check
	c.ID("id", &in.ID)
	c.Required("name", &in.Name, jsonin.MaxName)
	p.file.Catalog.Categories = append(p.file.Catalog.Categories, command.ImportCategory(in))
	return in.ID, c.Err
}

func (p *parser) store(value jsontext.Value) (string, error) {
	var in struct {
		ID              string      `json:"id"`
		Name            string      `json:"name"`
		Slug            *string     `json:"slug"`
		Address         *string     `json:"address"`
		City            *string     `json:"city"`
		State           *string     `json:"state"`
		ZipCode         *string     `json:"zip_code"`
		Email           *string     `json:"email"`
		Phone           *string     `json:"phone"`
		Active          *bool       `json:"active"`
		Open            *bool       `json:"open"`
		PickupEnabled   *bool       `json:"pickup_enabled"`
		DeliveryEnabled *bool       `json:"service_delivery_enabled"`
		Lat             *float64    `json:"lat"`
		Lng             *float64    `json:"lng"`
		RadiusMiles     *float64    `json:"service_delivery_radius_miles"`
		TaxRateBps      *jsonin.Int `json:"tax_rate_bps"`
		ChargesQuote    *bool       `json:"charge_live_quote"`
	}
	if err := jsonin.Decode(value, &in); err != nil {
		return "", err
	}
	var c jsonin.Check
	c.ID("id", &in.ID)
	c.Required("name", &in.Name, jsonin.MaxName)
	c.Optional("slug", in.Slug, jsonin.MaxName)
	c.Optional("address", in.Address, jsonin.MaxName)
	c.Optional("city", in.City, jsonin.MaxName)
	c.Optional("state", in.State, jsonin.MaxName)
	c.Optional("zip_code", in.ZipCode, jsonin.MaxName)
	c.Optional("email", in.Email, jsonin.MaxName)
	c.Optional("phone", in.Phone, jsonin.MaxName)
	if (in.Lat == nil) != (in.Lng == nil) {
		c.Fail("lat", "must come together with lng")
	}
	within(&c, "lat", in.Lat, -90, 90)
	within(&c, "lng", in.Lng, -180, 180)
	within(&c, "service_delivery_radius_miles", in.RadiusMiles, 0, 1000)
	tax := c.OptBetween("tax_rate_bps", in.TaxRateBps, 0, 10_000)
	p.file.Catalog.Stores = append(p.file.Catalog.Stores, command.ImportStore{
		ID: in.ID, Name: in.Name, Slug: in.Slug, Address: in.Address, City: in.City, State: in.State, ZipCode: in.ZipCode,
		Email: in.Email, Phone: in.Phone, Active: in.Active, Open: in.Open, PickupEnabled: in.PickupEnabled,
		DeliveryEnabled: in.DeliveryEnabled, Lat: in.Lat, Lng: in.Lng, RadiusMiles: in.RadiusMiles, TaxRateBps: tax, ChargesQuote: in.ChargesQuote,
	})
	return in.ID, c.Err
}

func within(c *jsonin.Check, field string, v *float64, least, most float64) {
	if v != nil && (*v < least || *v > most) {
		c.Fail(field, "must be from %g to %g", least, most)
	}
}

func (p *parser) product(value jsontext.Value) (string, error) {
	var in struct {
		ID            string      `json:"id"`
		Name          string      `json:"name"`
		StoreID       string      `json:"store_id"`
		CategoryID    *string     `json:"category_id"`
		Description   *string     `json:"description"`
		SKU           *string     `json:"sku"`
		FeaturedImage *string     `json:"featured_image"`
		Images        *[]string   `json:"images"`
		Price         *jsonin.Int `json:"price"`
		Active        *bool       `json:"active"`
		Quantity      *jsonin.Int `json:"available_quantity"`
	}
	if err := jsonin.Decode(value, &in); err != nil {
		return "", err
	}
	var c jsonin.Check
	c.ID("id", &in.ID)
	c.ID("store_id", &in.StoreID)
	c.Required("name", &in.Name, jsonin.MaxName)
	if in.CategoryID != nil {
		c.ID("category_id", in.CategoryID)
	}
	c.Optional("description", in.Description, jsonin.MaxText)
	c.Optional("sku", in.SKU, jsonin.MaxID)
	c.Optional("featured_image", in.FeaturedImage, jsonin.MaxURL)
	c.Images("images", in.Images)
	price := c.OptBetween("price", in.Price, 0, int64(commerce.MaxCents))
	quantity := c.OptBetween("available_quantity", in.Quantity, 0, commerce.MaxStock)
	p.file.Catalog.Products = append(p.file.Catalog.Products, command.ImportProduct{
		ID: in.ID, Name: in.Name, StoreID: in.StoreID, CategoryID: in.CategoryID, Description: in.Description, SKU: in.SKU,
		FeaturedImage: in.FeaturedImage, Images: in.Images, PriceCents: (*commerce.Cents)(price), Active: in.Active, Quantity: quantity,
	})
	return in.ID, c.Err
}
