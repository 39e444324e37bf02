package main

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"

	"github.com/valyala/fasthttp"
)

const (
	bulkSize    = 200   // products of a call
	targetBulks = 10    // calls per second: 2,000 products
	bulkCallers = 4     // a partner's importers
	knownSKUs   = "ALM" // as catalogOf names them
)

// bulkUpserts sends products to the catalog as a partner's nightly run does: found by SKU, with new
// prices and stock. In one case they exist, and in the other each is new.
func bulkUpserts(s *stage) {
	s.compete(test{title: fmt.Sprintf("upserts of %d products, found by SKU", bulkSize), perSecond: targetBulks, run: func(c *contender) measurement {
		return c.bulks(func(rng *rand.Rand) []byte {
			at := &c.data.shops[rng.IntN(len(c.data.shops))]
			return upsertsOf(at, func(i int) string {
				return fmt.Sprintf("%s-%07d", knownSKUs, at.Goods[i%len(at.Goods)].Index)
			}, rng)
		})
	}})
	s.compete(test{title: fmt.Sprintf("upserts of %d products, new SKUs", bulkSize), perSecond: targetBulks, run: func(c *contender) measurement {
		return c.bulks(func(rng *rand.Rand) []byte {
			call := token(rng)
			return upsertsOf(&c.data.shops[rng.IntN(len(c.data.shops))], func(i int) string { return fmt.Sprintf("%s-%d", call, i) }, rng)
		})
	}})
}

// bulks sends calls of which no product may fail, each with a key of its own.
func (c *contender) bulks(body func(*rand.Rand) []byte) measurement {
	return c.load(func() []caller {
		return drawers(hasText(`"failed":0`), func(r *fasthttp.Request, rng *rand.Rand) {
			post{"/v1/products/bulk-upsert", body(rng), []string{"X-Api-Key", c.key(), "Idempotency-Key", token(rng)}}.set(r)
		})[:min(bulkCallers, connections)]
	})
}

// upsertsOf is the body of a call. A product has what one of catalogOf has.
func upsertsOf(at *shop, sku func(i int) string, rng *rand.Rand) []byte {
	products := make([]map[string]any, bulkSize)
	for i := range products {
		image := "https://images.example.com/" + sku(i)
		products[i] = map[string]any{"store_id": at.ID, "category_id": "category-01", "sku": sku(i), "name": "Roasted Almonds, lightly salted, " + sku(i),
			"description": "Whole California almonds, dry roasted in small batches, with sea salt.", "price": float64(99+rng.IntN(9900)) / 100,
			"available_quantity": rng.IntN(1000), "featured_image": image + "/a.jpg", "images": []string{image + "/b.jpg"}}
	}
	return must(json.Marshal(map[string]any{"match": "sku", "products": products}))
}
