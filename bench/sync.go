package main

import (
	"context"
	"fmt"
	"time"

	purveyor "purveyor/sdk/go"
)

// synced is how many changed products are pulled, if there are as many.
const synced = 10_000

// limitsSync times how long a partner takes to pull changed products with the SDK for Go.
func limitsSync(s *stage) {
	for _, c := range s.list {
		n := min(synced, c.data.Size.Products)
		client, err := purveyor.New("http://"+c.serve().addr, c.key(), purveyor.Options{})
		check(err)
		var times []float64
		for range s.starts {
			times = append(times, float64(pull(client, n).Microseconds())/1000)
		}
		s.report.limit(fmt.Sprintf("%s changed products pulled with the SDK for Go, median of %d, %s", thousands(n), s.starts, c.name), medianOf(times), 2000, "ms")
	}
}

// pull pulls some products, and returns how long it took.
func pull(client *purveyor.Client, n int) time.Duration {
	began, seen := time.Now(), map[string]bool{}
	for product, err := range client.Products.Sync(context.Background(), 0, purveyor.ListProductsQuery{}) {
		check(err)
		if seen[product.ID] = true; len(seen) == n {
			return time.Since(began)
		}
	}
	check(fmt.Errorf("there were %d of %d products", len(seen), n))
	return 0
}
