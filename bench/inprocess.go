package main

import (
	"encoding/json"
	"errors"
	"os"
	"time"

	"purveyor/bench/internal/load"
)

// The baseline of the reports: the same engine without HTTP, in a process of
// its own, asked by as many goroutines as there are connections.

// direct runs reports without HTTP, on a database that nobody serves.
func (b *bench) direct(d *load.Dataset, batch int, hot bool) (m load.Measurement, err error) {
	args, err := json.Marshal(directRun{d.URL, d.PartnerID, d.Size, batch, hot, b.Pace.Warm, b.Pace.Measured})
	if err != nil {
		return m, err
	}
	out, err := load.Output(b.Ctx, b.Self, "direct", string(args))
	if err == nil {
		err = json.Unmarshal(out, &m)
	}
	return m, err
}

// directRun is the hidden command "direct": one run, its measurement as JSON.
type directRun struct {
	Database, PartnerID string
	Size                load.Size
	Batch               int // commands a transaction; 0 is the default
	Hot                 bool
	Warm, Measured      time.Duration
}

func (r directRun) run() (err error) {
	d, closing, err := load.OpenDirect(r.Database, r.PartnerID, load.ShopsOf(r.Size), r.Batch)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, closing()) }()
	m := load.ClosedLoop(load.Pace{Warm: r.Warm, Measured: r.Measured}, load.Callers, load.OwnCPU, func(_ int, t *load.Tally, from, until time.Time) {
		rng := load.NewRand()
		for began := time.Now(); began.Before(until); {
			_, err := d.Report(rng, r.Hot)
			ended := time.Now()
			if err != nil {
				t.Fail(err)
			} else {
				t.Done(began, ended, from, until)
			}
			began = ended
		}
	})
	return json.NewEncoder(os.Stdout).Encode(m)
}
