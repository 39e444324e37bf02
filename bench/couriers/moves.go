package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"purveyor/bench/internal/load"
	"purveyor/internal/commerce"
	"purveyor/internal/storage"
	"purveyor/internal/storage/schema"
)

// moves are the steps of the sandbox's couriers, as they are seen from outside
// of the service: a step that is done puts its job off by the time between two
// steps, so that the job tells when it was done, and how late.
type moves struct {
	engine storage.Engine
	step   time.Duration
	most   int       // couriers
	begin  time.Time // of the first step
	due    map[commerce.JobKey]int64
	seen   []move
}

// move is one step.
type move struct{ done, late int64 } // Unix ms, ms

// watchMoves makes all couriers begin soon, evenly over the time of one step,
// while no service runs.
func watchMoves(ctx context.Context, database string, step time.Duration, most int) (*moves, error) {
	engine, err := load.OpenEngine(database)
	if err != nil {
		return nil, err
	}
	const start = 2 * time.Second // of a service
	m := &moves{engine, step, most, time.Now().Add(start), map[commerce.JobKey]int64{}, nil}
	if err := m.spread(ctx); err != nil {
		return nil, errors.Join(err, m.close())
	}
	return m, nil
}

func (m *moves) close() error { return m.engine.Close() }

func (m *moves) spread(ctx context.Context) error {
	list, err := m.jobs(ctx)
	if err != nil {
		return err
	}
	if len(list) != m.most {
		return fmt.Errorf("%d couriers are to move, not %d", len(list), m.most)
	}
	needs := commerce.Needs{}
	for _, job := range list {
		needs.Jobs = append(needs.Jobs, job.Key())
	}
	tx, err := m.engine.Load(ctx, needs)
	if err != nil {
		return err
	}
	defer tx.Discard()
	for i := range list {
		at := m.begin.Add(m.step * time.Duration(i) / time.Duration(len(list))).UnixMilli()
		list[i].RunAt, m.due[list[i].Key()] = at, at
	}
	schema.Apply(tx.Rows(), &commerce.Changes{Jobs: list})
	return tx.Save(ctx)
}

// jobs are the steps that are to be done.
func (m *moves) jobs(ctx context.Context) (list []commerce.Job, err error) {
	found, err := m.engine.Reader().Jobs(ctx, storage.JobFilter{State: commerce.JobWaiting, Owner: "sandbox", Limit: 2 * m.most})
	for _, job := range found {
		if job.Kind == commerce.JobSandboxStep {
			list = append(list, job)
		}
	}
	return list, err
}

// watch notes the steps until the last of them is done, which is the only one of
// each courier that it does not see. It looks several times in the time of a
// step, so that it misses no other.
func (m *moves) watch(ctx context.Context) error {
	for {
		list, err := m.jobs(ctx)
		if err != nil || len(list) == 0 {
			return err
		}
		for _, job := range list {
			if was, known := m.due[job.Key()]; known && job.RunAt != was {
				done := job.RunAt - m.step.Milliseconds()
				m.seen = append(m.seen, move{done, done - was})
				m.due[job.Key()] = job.RunAt
			}
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(m.step / 4):
		}
	}
}

// window is some time, and what the service's processor used in it.
type window struct {
	from, until time.Time
	used        time.Duration
}

func during(s *load.Service, f func()) window {
	w := window{from: time.Now(), used: -s.CPU()}
	f()
	w.until = time.Now()
	w.used += s.CPU()
	return w
}

// in are the steps of some time: how many a second, and how late.
func (m *moves) in(w window) load.Measurement {
	var t load.Tally
	for _, move := range m.seen {
		if move.done >= w.from.UnixMilli() && move.done < w.until.UnixMilli() {
			t.Took(time.Duration(move.late) * time.Millisecond)
		}
	}
	return t.Measurement(w.until.Sub(w.from), w.used)
}
