package main

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"math/rand/v2"

	"purveyor/internal/commerce"
	"purveyor/internal/storage/storagetest"
)

// size says how much is in a database.
type size struct {
	Stores, Products, Orders int
	Events                   int  // webhooks on record as delivered
	Parked                   int  // webhooks that wait for a dead endpoint
	Receivers                int  // partners that get webhooks
	Spread                   bool // the stores are all over the country, not in one town
	History                  bool // the orders are those of a month, added in bulk
}

func (s size) String() string {
	return fmt.Sprintf("%s stores, %s products, %s orders", thousands(s.Stores), thousands(s.Products), thousands(s.Orders))
}

func plural(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

func thousands(n int) string {
	text := fmt.Sprint(n)
	for i := len(text) - 3; i > 0; i -= 3 {
		text = text[:i] + "," + text[i:]
	}
	return text
}

// good is one product as a partner knows it.
type good struct {
	Index int // over all stores
	ID    string
	Price int64
}

// shop is a store with its products.
type shop struct {
	ID       string
	No       int64 // in the ids of its orders; 0: not known
	Lat, Lng float64
	Goods    []good
}

// shopsOf is the catalog of this size. It is the same in every process and on
// every day.
func shopsOf(s size) []shop {
	rng := rand.New(rand.NewPCG(1, uint64(s.Products)))
	shops := make([]shop, s.Stores)
	for i := range shops {
		shops[i] = shop{ID: fmt.Sprintf("store-%04d", i+1), Lat: 37.77, Lng: -122.42}
	}
	if s.Spread {
		for i, at := range storagetest.Spread(s.Stores, rng) {
			shops[i].Lat, shops[i].Lng = *at.Lat, *at.Lng
		}
	}
	const made = 1_750_000_000_000 // the stamp inside the ids; any will do
	for i := range s.Products {
		var e commerce.Entropy
		binary.BigEndian.PutUint64(e[:], rng.Uint64())
		at := &shops[i%s.Stores]
		at.Goods = append(at.Goods, good{i, commerce.NewID(commerce.PrefixProduct, commerce.Millis(made)+commerce.Millis(int64(i)), e), 99 + rng.Int64N(9900)})
	}
	return shops
}

// allGoods is the products of all these shops.
func allGoods(shops []shop) (list []good) {
	for _, s := range shops {
		list = append(list, s.Goods...)
	}
	return list
}

// catalogOf is the file for `purveyor import`. A product is about 450 bytes in its
// read shape. Stock is so large that no run sells out.
func catalogOf(shops []shop) []byte {
	type object = map[string]any
	const categories = 24
	var file struct {
		Categories []object `json:"categories"`
		Stores     []object `json:"stores"`
		Products   []object `json:"products"`
	}
	for i := range categories {
		file.Categories = append(file.Categories, object{"id": fmt.Sprintf("category-%02d", i), "name": fmt.Sprintf("Category %d", i)})
	}
	for i, s := range shops {
		file.Stores = append(file.Stores, object{"id": s.ID, "name": "Corner Market " + s.ID, "address": fmt.Sprintf("%d Market Street", i+1),
			"city": "San Francisco", "state": "CA", "zip_code": "94103", "lat": s.Lat, "lng": s.Lng, "service_delivery_enabled": true,
			"service_delivery_radius_miles": 10, "email": s.ID + "@example.com", "phone": fmt.Sprintf("+1415555%04d", i)})
		for _, g := range s.Goods {
			image := "https://images.example.com/" + g.ID
			file.Products = append(file.Products, object{"id": g.ID, "name": fmt.Sprintf("Roasted Almonds, lightly salted, No. %d", g.Index),
				"store_id": s.ID, "description": "Whole California almonds, dry roasted in small batches, with sea salt.",
				"category_id": fmt.Sprintf("category-%02d", g.Index%categories), "price": g.Price, "sku": fmt.Sprintf("ALM-%07d", g.Index),
				"available_quantity": commerce.MaxStock, "featured_image": image + "/a.jpg", "images": []string{image + "/b.jpg"}})
		}
	}
	return must(json.Marshal(file))
}

// basket is the content of one order: one of product a, two of product b.
type basket struct {
	shop *shop
	a, b *good
}

// draw picks a basket at random; a hot one is always the same.
func draw(shops []shop, hot bool, rng *rand.Rand) basket {
	if hot {
		return basket{&shops[0], &shops[0].Goods[0], &shops[0].Goods[1]}
	}
	s := &shops[rng.IntN(len(shops))]
	i, j := rng.IntN(len(s.Goods)), rng.IntN(len(s.Goods)-1)
	if j >= i {
		j++ // two products, not one twice
	}
	return basket{s, &s.Goods[i], &s.Goods[j]}
}
