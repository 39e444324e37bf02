package main

import (
	"bytes"
	"fmt"
	"math/rand/v2"

	"purveyor/bench/internal/load"
)

// asker posts questions that are drawn at random.
type asker struct {
	requests [][]byte
	has      []byte // what is in a right answer
	rng      *rand.Rand
}

func askers(requests [][]byte, has []byte) []load.Caller {
	list := make([]load.Caller, load.Callers)
	for i := range list {
		list[i] = &asker{requests, has, load.NewRand()}
	}
	return list
}

func (a *asker) Next() []byte { return a.requests[a.rng.IntN(len(a.requests))] }

func (a *asker) Answered(status int, body []byte) error {
	if status != 200 || !bytes.Contains(body, a.has) {
		return fmt.Errorf("status %d: %.300s", status, body)
	}
	return nil
}

// zips are around the stores of the small database.
var zips = []string{"94102", "94103", "94105", "94107", "94108", "94109", "94110", "94114", "94115", "94117", "94118", "94121", "94122", "94131", "94133"}

// address is somebody's who lives there.
func address(rng *rand.Rand) string {
	return fmt.Sprintf(`{"name":"Robin Park","phone":"+14155550199","address":{"line1":"%d Market St","city":"San Francisco","state":"CA","postal_code":%q,"country":"US"}}`,
		1+rng.IntN(2000), zips[rng.IntN(len(zips))])
}

const questions = 5000 // different ones

// preflights ask whether two products can be delivered.
func (c *couriers) preflights(of *load.Contender) *load.Series {
	rng := load.NewRand()
	requests := make([][]byte, questions)
	for i := range requests {
		shop := of.Data.Shops[rng.IntN(len(of.Data.Shops))]
		first := rng.IntN(len(shop.Goods) - 1)
		requests[i] = load.AppendRequest(nil, "/v1/checkout/preflight", fmt.Appendf(nil,
			`{"store_id":%q,"fulfillment_type":"delivery","items":[{"product_id":%q,"quantity":1},{"product_id":%q,"quantity":2}],"delivery_address":%s}`,
			shop.ID, shop.Goods[first].ID, shop.Goods[first+1].ID, address(rng)), "X-Api-Key", of.Data.TestKey)
	}
	return c.asking("preflights for delivery", of, requests, `"eligible":true`)
}

// cities are searched for stores, by name.
var cities = []string{"New York, NY", "Los Angeles, CA", "Chicago, IL", "Houston, TX", "Atlanta, GA", "San Francisco, CA", "Denver, CO", "Austin, TX"}

// searches look for the stores around a city, as fast as they can and at an
// even pace.
func (c *couriers) searches(of *load.Contender) (fast, even *load.Series) {
	var requests [][]byte
	for _, city := range cities {
		requests = append(requests, load.AppendRequest(nil, "/v1/stores/nearby", fmt.Appendf(nil, `{"delivery_address":%q}`, city), "X-Api-Key", of.Data.Key))
	}
	const found = `"distance_miles":`
	even = c.Series("nearby stores at an even pace", of, func(s *load.Service) (load.Measurement, error) {
		return load.Run(s.Addr, c.Pace, load.Steadily(askers(requests, []byte(found)), evenSearches), s.CPU), nil
	})
	return c.asking("nearby stores", of, requests, found), even
}
