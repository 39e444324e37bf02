package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"purveyor/bench/internal/load"
	"purveyor/internal/commerce"
	"purveyor/internal/commit"
	"purveyor/internal/effect"
	"purveyor/internal/env"
	"purveyor/internal/inbound"
	"purveyor/internal/outside/sandbox"
	"purveyor/internal/storage"
)

// pay makes orders, and measures the notices that say that they are paid. after
// is when all that follows from them was done, counted from the last answer.
func (p *payments) pay(c *load.Contender, s *load.Service) (m load.Measurement, after time.Duration, err error) {
	var made load.Checkouts
	shoppers := p.shoppers(c)
	shoppers.Most = int64(p.paid)
	if opened := load.RunOut(s.Addr, shoppers.Callers(load.Callers, &made), s.CPU); opened.Errors > 0 {
		return m, 0, fmt.Errorf("orders to be paid: %s", opened.FirstError)
	}
	engine, err := load.OpenEngine(c.Data.URL)
	if err != nil {
		return m, 0, err
	}
	defer func() { err = errors.Join(err, engine.Close()) }()
	requests, err := signed(p.Ctx, engine, made.List)
	if err != nil {
		return m, 0, err
	}
	warm := len(requests) / 4
	if first := load.RunOut(s.Addr, load.Posters(requests[:warm]), s.CPU); first.Errors > 0 {
		return m, 0, errors.New(first.FirstError)
	}
	m = load.RunOut(s.Addr, load.Posters(requests[warm:]), s.CPU)
	answered := time.Now()
	if err := p.done(c, engine.Reader()); err != nil {
		return m, 0, err
	}
	after = time.Since(answered)
	return m, after, p.checkPaid(c, s, made.List)
}

// signed are the requests that tell of payments, as the sandbox makes them.
func signed(ctx context.Context, engine storage.Engine, orders []load.Checkout) ([][]byte, error) {
	committer := commit.New(engine, commit.Options{})
	defer committer.Close()
	signer := sandbox.NewSigner(env.Env{}, effect.NewObjects(env.Env{}, engine, committer, nil))
	requests := make([][]byte, len(orders))
	for i, o := range orders {
		body := fmt.Appendf(nil, `{"id":"evt_%s","kind":"paid","order_id":%q,"session_id":%q,"payment_id":"pi_%s","amount_cents":%d}`,
			o.SessionID, o.OrderID, o.SessionID, o.SessionID, o.TotalCents)
		signature, err := signer.Sign(ctx, time.Now(), body)
		if err != nil {
			return nil, err
		}
		requests[i] = load.AppendRequest(nil, inbound.PaymentsPath(load.Sandbox), body, sandbox.SignatureHeader, signature)
	}
	return requests, nil
}

// done waits until nothing is left to be told to the stores.
func (p *payments) done(c *load.Contender, reader storage.Reader) error {
	for _, shop := range c.Data.Shops {
		for {
			waiting, err := reader.Jobs(p.Ctx, storage.JobFilter{State: commerce.JobWaiting, Owner: shop.ID, Limit: 1})
			if err != nil {
				return err
			}
			if len(waiting) == 0 {
				break
			}
			time.Sleep(10 * time.Millisecond)
		}
	}
	return nil
}

// checkPaid reads every order.
func (p *payments) checkPaid(c *load.Contender, s *load.Service, orders []load.Checkout) error {
	ids := make([]string, len(orders))
	for i, o := range orders {
		ids[i] = o.OrderID
	}
	return load.Each(s.Addr, c.Data.TestKey, load.OrderPaths(ids), func(i int, body []byte) error {
		if !load.HasStatus(body, commerce.Paid) {
			return fmt.Errorf("the order was paid, but is %.300s", body)
		}
		return nil
	})
}
