package commerce

import "slices"

// Store is a shop of the merchant.
type Store struct {
	ID string
	// No is the short number that the ids of the store's orders carry. It is
	// given when the store is created and never changes.
	No              int64
	Name            string
	Slug            string
	Address         string
	City            string
	State           string
	ZipCode         string
	Active          bool
	Open            bool // informational: it refuses nothing
	PickupEnabled   bool
	DeliveryEnabled bool
	Lat, Lng        *float64 // degrees
	RadiusMiles     *float64 // how far the store delivers; nil: no limit of its own
	Email           string
	Phone           string
	TaxRateBps      int64 // basis points
	// ChargesQuote says that a customer pays the courier's live quote if the partner names
	// no delivery fee.
	ChargesQuote bool
	TimeZone     string // IANA name, in which the back office shows times
	LateMinutes  int64  // from paid on, until the board marks an order as late: 1 to 240
	// HoldMinutes is how long a checkout holds its goods for the customer, until the
	// order is paid: 5 to 60; 0: it holds none.
	HoldMinutes int64
	UpdatedOn   Millis
}

// The time zone and the minutes of a store unless said otherwise, and the bounds of minutes.
const (
	DefaultTimeZone    = "UTC"
	DefaultLateMinutes = 15
	MaxLateMinutes     = 240
	MinHoldMinutes     = 5
	MaxHoldMinutes     = 60
)

// Category groups products over all stores.
type Category struct {
	ID     string
	Name   string
	Active bool
}

// SourcePartner marks a product or an order that came from a partner.
const SourcePartner = "partner"

// SourceService marks an order that staff made in the back office.
const SourceService = "service"

// Product holds the catalog's facts about a product. What a sale reads is in the product's
// Stock row.
type Product struct {
	StoreID       string // never changes
	ID            string
	Description   string
	SKU           string
	Hot           bool
	FeaturedImage string
	Images        []string
	Source        string // SourcePartner, or empty for the merchant's own
	CreatedOn     Millis
	FactsOn       Millis // of the last change of Item.Facts; 0: before this was recorded
}

// MaxImages is the largest sum of the lengths of a product's image URLs, in bytes.
const MaxImages = 16 << 10

// CheckImages refuses new image URLs that are too long together (400). The stored ones of
// the product are accepted, however long they are.
func (p Product) CheckImages(images []string) error {
	total := 0
	for _, url := range images {
		total += len(url)
	}
	if total > MaxImages && !slices.Equal(images, p.Images) {
		return Invalid("images", "images hold %d bytes of URLs, at most %d are allowed", total, MaxImages)
	}
	return nil
}

// Stock is the narrow row of a product. It holds what a sale reads and changes, and what
// lists filter by. A sale touches no other row of the product.
type Stock struct {
	StoreID    string
	ProductID  string
	Name       string
	PriceCents Cents
	CategoryID string // empty: none
	Active     bool
	Quantity   int64  // what may be sold, never below zero; it changes by stock moves alone
	Held       int64  // beside Quantity, for unpaid checkouts and paid orders; it changes by stock moves alone
	Moves      int64  // counts the product's stock moves; the next one has this number + 1
	MovedOn    Millis // time of the newest stock move, which finds that move
	SoldCount  int64  // live orders only
	SoldCents  Cents  // live orders only
	UpdatedOn  Millis // moves with every change of the product or its stock
}

// Item is a product with its stock, as partners see it.
type Item struct {
	Product
	Stock Stock
}

// ProductKey finds a product and its stock.
type ProductKey struct{ StoreID, ProductID string }

// Key of the row.
func (p Product) Key() ProductKey { return ProductKey{p.StoreID, p.ID} }

// Key of the row.
func (s Stock) Key() ProductKey { return ProductKey{s.StoreID, s.ProductID} }

// Version of the item.
func (p Item) Version() ProductVersion { return ProductVersion{p.Product.Key(), p.Stock.UpdatedOn} }

// ProductVersion names one version of a product. Every change of the product or its stock
// moves UpdatedOn.
type ProductVersion struct {
	ProductKey
	UpdatedOn Millis
}
