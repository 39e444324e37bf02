package load

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"slices"

	"purveyor/internal/commerce"
)

// Size says how much is in a database.
type Size struct {
	Stores, Products, Orders int
	Events                   int  // webhooks on record as delivered
	Parked                   int  // webhooks that wait for a dead endpoint
	Spread                   bool // the stores stand all over the country, not in one town
}

// Good is one product as a partner knows it.
type Good struct {
	Index int // over all stores
	ID    string
	Price int64
}

// Shop is a store with its products.
type Shop struct {
	ID    string
	At    commerce.Point
	Goods []Good
}

// town is where stores stand that are in one.
var town = commerce.Point{Lat: 37.77, Lng: -122.42}

// metro is where many people live, and so many stores are.
type metro struct {
	commerce.Point
	millions float64
}

var metros = []metro{
	{commerce.Point{Lat: 40.71, Lng: -74.01}, 19.5}, {commerce.Point{Lat: 34.05, Lng: -118.24}, 12.9}, {commerce.Point{Lat: 41.88, Lng: -87.63}, 9.4},
	{commerce.Point{Lat: 32.78, Lng: -96.80}, 7.9}, {commerce.Point{Lat: 29.76, Lng: -95.37}, 7.3}, {commerce.Point{Lat: 38.91, Lng: -77.04}, 6.4},
	{commerce.Point{Lat: 39.95, Lng: -75.17}, 6.2}, {commerce.Point{Lat: 33.75, Lng: -84.39}, 6.2}, {commerce.Point{Lat: 33.45, Lng: -112.07}, 5.0},
	{commerce.Point{Lat: 42.36, Lng: -71.06}, 4.9}, {commerce.Point{Lat: 37.77, Lng: -122.42}, 4.6}, {commerce.Point{Lat: 47.61, Lng: -122.33}, 4.0},
	{commerce.Point{Lat: 39.74, Lng: -104.99}, 3.0}, {commerce.Point{Lat: 30.27, Lng: -97.74}, 2.4}, {commerce.Point{Lat: 40.76, Lng: -111.89}, 1.3},
}

// spread is where another store stands: four of five around cities, the denser
// the nearer, the others anywhere.
func spread(rng *rand.Rand) commerce.Point {
	total := 0.0
	for _, m := range metros {
		total += m.millions
	}
	if rng.Float64() >= 0.8 {
		return commerce.Point{Lat: 25 + 23*rng.Float64(), Lng: -124 + 56*rng.Float64()}
	}
	left := rng.Float64() * total
	m := metros[slices.IndexFunc(metros, func(m metro) bool { left -= m.millions; return left <= 0 })]
	degrees := 0.15 * math.Cbrt(m.millions)
	return commerce.Point{Lat: m.Lat + degrees*rng.NormFloat64(), Lng: m.Lng + degrees*rng.NormFloat64()}
}

// startStock is so much that no run sells out.
const startStock = commerce.MaxStock

// ShopsOf names what the catalog of this size holds. It is the same in every
// process and on every day.
func ShopsOf(s Size) []Shop {
	rng := rand.New(rand.NewPCG(1, uint64(s.Products)))
	shops := make([]Shop, s.Stores)
	for i := range shops {
		shops[i].ID, shops[i].At = fmt.Sprintf("store-%04d", i+1), town
		if s.Spread {
			shops[i].At = spread(rng)
		}
	}
	const made = 1_750_000_000_000 // the stamp inside the ids; any will do
	for i := range s.Products {
		var e commerce.Entropy
		binary.BigEndian.PutUint64(e[:], rng.Uint64())
		at := &shops[i%s.Stores]
		at.Goods = append(at.Goods, Good{i, commerce.NewID(commerce.PrefixProduct, made+int64(i), e), 99 + rng.Int64N(9900)})
	}
	return shops
}

type fileProduct struct {
	ID            string   `json:"id"`
	Name          string   `json:"name"`
	Description   string   `json:"description"`
	StoreID       string   `json:"store_id"`
	CategoryID    string   `json:"category_id"`
	Price         int64    `json:"price"`
	SKU           string   `json:"sku"`
	Quantity      int64    `json:"available_quantity"`
	FeaturedImage string   `json:"featured_image"`
	Images        []string `json:"images"`
}

const categories = 24

// WriteCatalog writes the file for `purveyor import`. A product is about 450
// bytes in its read shape.
func WriteCatalog(path string, shops []Shop) error {
	var file struct {
		Categories []map[string]string `json:"categories"`
		Stores     []map[string]any    `json:"stores"`
		Products   []fileProduct       `json:"products"`
	}
	for i := range categories {
		file.Categories = append(file.Categories, map[string]string{"id": fmt.Sprintf("category-%02d", i), "name": fmt.Sprintf("Category %d", i)})
	}
	for i, s := range shops {
		file.Stores = append(file.Stores, map[string]any{"id": s.ID, "name": "Corner Market " + s.ID, "address": fmt.Sprintf("%d Market Street", i+1),
			"city": "San Francisco", "state": "CA", "zip_code": "94103", "lat": s.At.Lat, "lng": s.At.Lng,
			"service_delivery_enabled": true, "service_delivery_radius_miles": 10, "email": s.ID + "@example.com", "phone": fmt.Sprintf("+1415555%04d", i)})
		for _, g := range s.Goods {
			image := "https://images.example.com/" + g.ID
			file.Products = append(file.Products, fileProduct{
				ID: g.ID, Name: fmt.Sprintf("Roasted Almonds, lightly salted, No. %d", g.Index), StoreID: s.ID,
				Description: "Whole California almonds, dry roasted in small batches, with sea salt.",
				CategoryID:  fmt.Sprintf("category-%02d", g.Index%categories), Price: g.Price, SKU: fmt.Sprintf("ALM-%07d", g.Index),
				Quantity: startStock, FeaturedImage: image + "/a.jpg", Images: []string{image + "/b.jpg"},
			})
		}
	}
	data, err := json.Marshal(file)
	if err != nil {
		return err
	}
	return os.WriteFile(path, data, 0o600)
}

// basket is what one order wants: two products of one store.
type basket struct {
	shop *Shop
	a, b *Good
}

// draw picks a basket; hot is always the same one.
func draw(shops []Shop, hot bool, rng *rand.Rand) basket {
	if hot {
		s := &shops[0]
		return basket{s, &s.Goods[0], &s.Goods[1]}
	}
	s := &shops[rng.IntN(len(shops))]
	i := rng.IntN(len(s.Goods))
	j := rng.IntN(len(s.Goods) - 1)
	if j >= i {
		j++ // two products, not one twice
	}
	return basket{s, &s.Goods[i], &s.Goods[j]}
}

// How many an order takes of its two products.
const (
	takesOfA = 1
	takesOfB = 2
)
