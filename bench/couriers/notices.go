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
	"purveyor/internal/outside/courier"
	"purveyor/internal/outside/sandbox"
	"purveyor/internal/storage"
)

// tell makes deliveries, and measures the notices that tell of their couriers.
func (c *couriers) tell(of *load.Contender, s *load.Service) (m load.Measurement, err error) {
	keys, err := c.deliver(of, s, c.tracked)
	if err != nil {
		return m, err
	}
	engine, err := load.OpenEngine(of.Data.URL)
	if err != nil {
		return m, err
	}
	defer func() { err = errors.Join(err, engine.Close()) }()
	warm := len(keys) / 4
	for _, part := range [][]commerce.OrderKey{keys[:warm], keys[warm:]} {
		told, err := noticesOf(c.Ctx, engine, s.Addr, part)
		if err != nil {
			return m, err
		}
		if m = load.RunOut(s.Addr, load.Posters(told), s.CPU); m.Errors > 0 {
			return m, errors.New(m.FirstError)
		}
	}
	return m, checkDelivered(of, s, keys)
}

// noticesOf are the requests that tell of deliveries, as the sandbox's couriers
// bring it about: the first of each delivery, then the second of each. They move
// here alone: the service's own stand still.
func noticesOf(ctx context.Context, engine storage.Engine, addr string, keys []commerce.OrderKey) ([][]byte, error) {
	committer := commit.New(engine, commit.Options{})
	defer committer.Close()
	objects := effect.NewObjects(env.Env{}, engine, committer, nil)
	mover, signer := courier.NewSandbox(env.Env{}, objects, "http://"+addr), sandbox.NewSigner(env.Env{}, objects)
	var steps [][][]byte
	for i, key := range keys {
		stored, err := engine.Reader().Delivery(ctx, key)
		if err != nil {
			return nil, err
		}
		object, err := objects.Object(ctx, stored.ProviderID)
		if err != nil {
			return nil, err
		}
		for next, n := true, 0; next; n++ {
			step, err := mover.Step(ctx, object)
			if err != nil || len(step.Callbacks) != 1 {
				return nil, fmt.Errorf("step %d of delivery %s tells %d notices: %w", n, object.ID, len(step.Callbacks), err)
			}
			body := step.Callbacks[0].Body
			signature, err := signer.Sign(ctx, time.Now(), body)
			if err != nil {
				return nil, err
			}
			if n == len(steps) {
				steps = append(steps, make([][]byte, len(keys)))
			}
			steps[n][i] = load.AppendRequest(nil, inbound.CouriersPath(load.Sandbox), body, sandbox.SignatureHeader, signature)
			object.Data, next = step.Data, step.Next > 0
		}
	}
	var list [][]byte
	for _, step := range steps {
		list = append(list, step...)
	}
	return list, nil
}
