package load

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"

	"purveyor/internal/commerce"
)

// Size says how much is in a database.
type Size struct {
	Stores, Products, Orders int
	Events                   int // webhooks on record as delivered
	Parked                   int // webhooks that wait for a dead endpoint
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
	Goods []Good
}

// startStock is so much that no run sells out.
const startStock = commerce.MaxStock

// ShopsOf names what the catalog of this size holds. It is the same in every
// process and on every day.
func ShopsOf(s Size) []Shop {
	rng := rand.New(rand.NewPCG(1, uint64(s.Products)))
	shops := make([]Shop, s.Stores)
	for i := range shops {
		shops[i].ID = fmt.Sprintf("store-%04d", i+1)
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
			"city": "San Francisco", "state": "CA", "zip_code": "94103", "lat": 37.77, "lng": -122.42,
			"email": s.ID + "@example.com", "phone": fmt.Sprintf("+1415555%04d", i)})
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
