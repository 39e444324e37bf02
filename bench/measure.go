package main

import (
	"fmt"
	"os"
	"slices"
	"time"
)

// measurement is the result of one run.
type measurement struct {
	Rate       float64 // requests per second
	P50, P99   time.Duration
	Errors     int
	FirstError string
	ServerCPU  time.Duration // per request; 0 if unknown
}

// pace says how long one run is and how many rounds there are.
type pace struct {
	Warm, Measured time.Duration
	Rounds         int
}

// newPace is so many rounds. Each has an uncounted warm-up of a third of its length.
func newPace(seconds float64, rounds int) pace {
	measured := time.Duration(seconds * float64(time.Second))
	return pace{Warm: min(measured/3, time.Second), Measured: measured, Rounds: max(rounds, 1)}
}

// tally is what one caller counted.
type tally struct {
	latencies []time.Duration
	errors    int
	first     error
}

// done counts a request that lies between two times.
func (t *tally) done(began, ended, from, until time.Time) {
	if began.After(from) && ended.Before(until) {
		t.latencies = append(t.latencies, ended.Sub(began))
	}
}

func (t *tally) fail(err error) {
	t.errors++
	if t.first == nil {
		t.first = err
	}
}

func (t *tally) add(o *tally) {
	t.latencies = append(t.latencies, o.latencies...)
	t.errors += o.errors
	if t.first == nil {
		t.first = o.first
	}
}

// measurement summarizes a tally over the time that was measured and the
// processor time that the server used meanwhile.
func (t *tally) measurement(measured, used time.Duration) measurement {
	m := measurement{Errors: t.errors}
	if t.first != nil {
		m.FirstError = t.first.Error()
	}
	n := len(t.latencies)
	if n == 0 { // a ratio to nothing would look like a figure
		m.Errors++
		m.FirstError += " nothing was answered in time"
		return m
	}
	slices.Sort(t.latencies)
	m.Rate, m.P50, m.P99 = float64(n)/measured.Seconds(), t.latencies[n/2], t.latencies[n*99/100]
	m.ServerCPU = used / time.Duration(n)
	return m
}

// side is one of the things that are measured in turns.
type side struct {
	name   string
	run    func() measurement
	rounds []measurement
}

// alternate runs all sides in turn, round by round, so that changes in the
// machine's speed meet them alike.
func alternate(p pace, list ...*side) {
	for i := range p.Rounds {
		turns := slices.Clone(list)
		if i%2 == 1 { // what a side leaves behind meets others the next time
			slices.Reverse(turns)
		}
		for _, s := range turns {
			m := s.run()
			fmt.Fprintf(os.Stderr, "  %-60s %9.0f/s  p50 %v  p99 %v\n", s.name, m.Rate, round(m.P50), round(m.P99))
			if m.Errors > 0 {
				fmt.Fprintf(os.Stderr, "    %d errors, first: %s\n", m.Errors, m.FirstError)
			}
			s.rounds = append(s.rounds, m)
		}
	}
}

func round(d time.Duration) time.Duration { return d.Round(max(d/1000, time.Microsecond)) }

// figure takes one number out of a measurement.
type figure func(measurement) float64

func rateOf(m measurement) float64 { return m.Rate }
func p50Of(m measurement) float64  { return float64(m.P50) }
func p99Of(m measurement) float64  { return float64(m.P99) }
func cpuOf(m measurement) float64  { return float64(m.ServerCPU) }

// promptness is the inverse of the median time.
func promptness(m measurement) float64 { return 1 / max(m.P50.Seconds(), 1e-9) }

// median of a figure over the rounds.
func (s *side) median(of figure) float64 {
	values := make([]float64, len(s.rounds))
	for i, m := range s.rounds {
		values[i] = of(m)
	}
	return medianOf(values)
}

// medianOf is the middle value, or the mean of the two in the middle.
func medianOf(values []float64) float64 {
	sorted := slices.Sorted(slices.Values(values))
	n := len(sorted)
	if n == 0 {
		return 0
	}
	return (sorted[(n-1)/2] + sorted[n/2]) / 2
}

// ratio compares a figure of two sides round by round.
func ratio(of, against *side, by figure) (median, least, most float64) {
	values := make([]float64, len(of.rounds))
	for i := range values {
		if base := by(against.rounds[i]); base > 0 {
			values[i] = by(of.rounds[i]) / base
		}
	}
	return medianOf(values), slices.Min(values), slices.Max(values)
}
