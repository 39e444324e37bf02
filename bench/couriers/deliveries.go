package main

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"time"

	"purveyor/bench/internal/load"
	"purveyor/internal/commerce"
)

// still has the sandbox's couriers stay where they are.
var still = []string{"--sandbox-step", "1h"}

// deliveries are orders that the sandbox's couriers have taken.
type deliveries struct {
	left atomic.Int64 // to be reported

	mu   sync.Mutex
	keys []commerce.OrderKey
}

// deliver has so many orders reported that are to be delivered.
func (c *couriers) deliver(of *load.Contender, s *load.Service, n int) ([]commerce.OrderKey, error) {
	var made deliveries
	made.left.Store(int64(n))
	list := make([]load.Caller, load.Callers)
	for i := range list {
		list[i] = &customer{data: of.Data, made: &made, rng: load.NewRand()}
	}
	if m := load.RunOut(s.Addr, list, s.CPU); m.Errors > 0 {
		return nil, fmt.Errorf("orders to be delivered: %s", m.FirstError)
	}
	return made.keys, nil
}

// customer reports orders of one product, in test mode.
type customer struct {
	data *load.Dataset
	made *deliveries
	rng  *rand.Rand
	shop string
}

func (c *customer) Next() []byte {
	if c.made.left.Add(-1) < 0 {
		return nil
	}
	shop := c.data.Shops[c.rng.IntN(len(c.data.Shops))]
	good := shop.Goods[c.rng.IntN(len(shop.Goods))]
	id := fmt.Sprintf("D-%x-%x", time.Now().UnixNano(), c.rng.Uint64())
	c.shop = shop.ID
	return load.AppendRequest(nil, "/v1/orders/report", fmt.Appendf(nil,
		`{"external_order_id":%q,"store_id":%q,"fulfillment_type":"delivery","items":[{"product_id":%q,"quantity":1,"price":%d}],"delivery_address":%s}`,
		id, shop.ID, good.ID, good.Price, address(c.rng)), "X-Api-Key", c.data.TestKey, "Idempotency-Key", id)
}

func (c *customer) Answered(status int, body []byte) error {
	_, rest, _ := bytes.Cut(body, []byte(`"order_id":"`))
	id, _, found := bytes.Cut(rest, []byte{'"'})
	if status != 201 || !found || !bytes.Contains(body, []byte(`"created":true`)) {
		return fmt.Errorf("status %d: %.300s", status, body)
	}
	c.made.mu.Lock()
	defer c.made.mu.Unlock()
	c.made.keys = append(c.made.keys, commerce.OrderKey{StoreID: c.shop, OrderID: string(id)})
	return nil
}

// checkDelivered reads every order and its timeline: each step on the way must
// be there, and no change of status twice.
func checkDelivered(of *load.Contender, s *load.Service, keys []commerce.OrderKey) error {
	ids, timelines := make([]string, len(keys)), make([]string, len(keys))
	for i, k := range keys {
		ids[i] = k.OrderID
		timelines[i] = "/v1/orders/" + k.OrderID + "/timeline"
	}
	err := load.Each(s.Addr, of.Data.TestKey, load.OrderPaths(ids), func(i int, body []byte) error {
		if !load.HasStatus(body, commerce.Delivered) {
			return fmt.Errorf("the order was delivered, but is %.300s", body)
		}
		return nil
	})
	return errors.Join(err, load.Each(s.Addr, of.Data.TestKey, timelines, func(i int, body []byte) error {
		for _, kind := range []commerce.TimelineKind{commerce.TimelineDeliveryCreated, commerce.TimelineCourierAssigned, commerce.TimelineOutForDelivery, commerce.TimelineDelivered} {
			if n := bytes.Count(body, fmt.Appendf(nil, `"event":%q`, kind)); n != 1 {
				return fmt.Errorf("%s: %d times %s: %s", ids[i], n, kind, body)
			}
		}
		return nil
	}))
}
