package main

import (
	"fmt"
	"os"
	"slices"
	"time"
)

// series is one thing that is measured again and again.
type series struct {
	name   string
	run    func() (measurement, error)
	rounds []measurement
}

// alternate runs all series in turn, round by round, so that whatever else
// the machine does meets them alike.
func alternate(p pace, list ...*series) error {
	for range p.rounds {
		for _, s := range list {
			m, err := s.run()
			if err != nil {
				return fmt.Errorf("%s: %w", s.name, err)
			}
			fmt.Fprintf(os.Stderr, "  %-44s %9.0f/s  p50 %v  p99 %v\n", s.name, m.Rate, round(m.P50), round(m.P99))
			if m.Errors > 0 {
				fmt.Fprintf(os.Stderr, "    %d errors, first: %s\n", m.Errors, m.FirstError)
			}
			s.rounds = append(s.rounds, m)
		}
	}
	return nil
}

func round(d time.Duration) time.Duration { return d.Round(max(d/1000, time.Microsecond)) }

// median of what f takes from each round.
func (s *series) median(f func(measurement) float64) float64 {
	values := make([]float64, len(s.rounds))
	for i, m := range s.rounds {
		values[i] = f(m)
	}
	return medianOf(values)
}

func medianOf(values []float64) float64 {
	sorted := slices.Sorted(slices.Values(values))
	n := len(sorted)
	switch {
	case n == 0:
		return 0
	case n%2 == 1:
		return sorted[n/2]
	}
	return (sorted[n/2-1] + sorted[n/2]) / 2
}

func (s *series) rate() float64 { return s.median(func(m measurement) float64 { return m.Rate }) }

func (s *series) errors() (n int) {
	for _, m := range s.rounds {
		n += m.Errors
	}
	return n
}

// ratio compares rates round by round: the median, the least and the most.
func ratio(of, against *series) (median, least, most float64) {
	values := make([]float64, len(of.rounds))
	for i := range values {
		if against.rounds[i].Rate > 0 {
			values[i] = of.rounds[i].Rate / against.rounds[i].Rate
		}
	}
	return medianOf(values), slices.Min(values), slices.Max(values)
}
