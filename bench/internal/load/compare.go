package load

import (
	"fmt"
	"os"
	"slices"
	"time"
)

// Series is one thing that is measured again and again.
type Series struct {
	Name   string
	Run    func() (Measurement, error)
	Rounds []Measurement
}

// Alternate runs all series in turn, round by round, so that whatever else
// the machine does meets them alike.
func Alternate(p Pace, list ...*Series) error {
	for range p.Rounds {
		for _, s := range list {
			m, err := s.Run()
			if err != nil {
				return fmt.Errorf("%s: %w", s.Name, err)
			}
			fmt.Fprintf(os.Stderr, "  %-44s %9.0f/s  p50 %v  p99 %v\n", s.Name, m.Rate, round(m.P50), round(m.P99))
			if m.Errors > 0 {
				fmt.Fprintf(os.Stderr, "    %d errors, first: %s\n", m.Errors, m.FirstError)
			}
			s.Rounds = append(s.Rounds, m)
		}
	}
	return nil
}

func round(d time.Duration) time.Duration { return d.Round(max(d/1000, time.Microsecond)) }

// median of what f takes from each round.
func (s *Series) median(f func(Measurement) float64) float64 {
	values := make([]float64, len(s.Rounds))
	for i, m := range s.Rounds {
		values[i] = f(m)
	}
	return MedianOf(values)
}

// MedianOf is the middle one, or the mean of the two in the middle.
func MedianOf(values []float64) float64 {
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

func (s *Series) rate() float64 { return s.median(rateOf) }

// P99 is within what 99 of 100 were done, as the median of the rounds.
func (s *Series) P99() time.Duration {
	return time.Duration(s.median(func(m Measurement) float64 { return float64(m.P99) }))
}

func rateOf(m Measurement) float64 { return m.Rate }

// promptness is more the less half of the requests take.
func promptness(m Measurement) float64 {
	if m.P50 == 0 {
		return 0
	}
	return 1 / m.P50.Seconds()
}

func (s *Series) errors() (n int) {
	for _, m := range s.Rounds {
		n += m.Errors
	}
	return n
}

// ratio compares figures round by round: the median, the least and the most.
func ratio(of, against *Series, figure func(Measurement) float64) (median, least, most float64) {
	values := make([]float64, len(of.Rounds))
	for i := range values {
		if base := figure(against.Rounds[i]); base > 0 {
			values[i] = figure(of.Rounds[i]) / base
		}
	}
	return MedianOf(values), slices.Min(values), slices.Max(values)
}
