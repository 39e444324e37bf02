package main

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"

	"purveyor/internal/commerce"
)

// size says how much is in a database.
type size struct {
	Stores, Products, Orders int
}

// good is one product as a partner knows it.
type good struct {
	index int // over all stores
	id    string
	price int64
}

// shop is a store with its products.
type shop struct {
	id    string
	goods []good
}

// startStock is so much that no run sells out.
const startStock = commerce.MaxStock

// shopsOf names what the catalog of this size holds. It is the same in every
// process and on every day.
func shopsOf(s size) []shop {
	rng := rand.New(rand.NewPCG(1, uint64(s.Products)))
	shops := make([]shop, s.Stores)
	for i := range shops {
		shops[i].id = fmt.Sprintf("store-%04d", i+1)
	}
	const made = 1_750_000_000_000 // the stamp inside the ids; any will do
	for i := range s.Products {
		var e commerce.Entropy
		binary.BigEndian.PutUint64(e[:], rng.Uint64())
		at := &shops[i%s.Stores]
		at.goods = append(at.goods, good{i, commerce.NewID(commerce.PrefixProduct, made+int64(i), e), 99 + rng.Int64N(9900)})
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

// writeCatalog writes the file for `purveyor import`. A product is about 450
// bytes in its read shape.
func writeCatalog(path string, shops []shop) error {
	var file struct {
		Categories []map[string]string `json:"categories"`
		Stores     []map[string]any    `json:"stores"`
		Products   []fileProduct       `json:"products"`
	}
	for i := range categories {
		file.Categories = append(file.Categories, map[string]string{"id": fmt.Sprintf("category-%02d", i), "name": fmt.Sprintf("Category %d", i)})
	}
	for i, s := range shops {
		file.Stores = append(file.Stores, map[string]any{"id": s.id, "name": "Corner Market " + s.id, "address": fmt.Sprintf("%d Market Street", i+1),
			"city": "San Francisco", "state": "CA", "zip_code": "94103", "lat": 37.77, "lng": -122.42})
		for _, g := range s.goods {
			image := "https://images.example.com/" + g.id
			file.Products = append(file.Products, fileProduct{
				ID: g.id, Name: fmt.Sprintf("Roasted Almonds, lightly salted, No. %d", g.index), StoreID: s.id,
				Description: "Whole California almonds, dry roasted in small batches, with sea salt.",
				CategoryID:  fmt.Sprintf("category-%02d", g.index%categories), Price: g.price, SKU: fmt.Sprintf("ALM-%07d", g.index),
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
	shop *shop
	a, b *good
}

// draw picks a basket; hot is always the same one.
func draw(shops []shop, hot bool, rng *rand.Rand) basket {
	if hot {
		s := &shops[0]
		return basket{s, &s.goods[0], &s.goods[1]}
	}
	s := &shops[rng.IntN(len(shops))]
	i := rng.IntN(len(s.goods))
	j := rng.IntN(len(s.goods) - 1)
	if j >= i {
		j++ // two products, not one twice
	}
	return basket{s, &s.goods[i], &s.goods[j]}
}

// How many an order takes of its two products.
const (
	takesOfA = 1
	takesOfB = 2
)
