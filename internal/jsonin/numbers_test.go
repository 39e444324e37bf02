package jsonin

import (
	"math/big"
	"strings"
	"testing"

	"purveyor/internal/commerce"
)

var numberSeeds = []string{"0", "-0", "0.0", "1", "-1", "5.0", "5e0", "1e2", "1E+2", "19.99", "0.1", "0.10", "1.005", "0.001", "1e-2", "1e-3", "12.50e1",
	"0.30000000000000004", "99999999.99", "9223372036854775807", "9223372036854775808", "999999999999999999", "1000000000000000000",
	"1e30", "1e999999999", "1e-999999999", "0e999999999", "0.000000000000000000000e50", "100e-2", "0.25", "0.2499999999", "8.25", "100", "100.1", "0.0825",
	"0.0000000001", "123456789012345678e-16", "-0.01", "1.50000000000000000000", "0.00000000000000000000000000000000001e35"}

// decoded reads one number as a request would.
func decoded[T any](text string) (*T, error) {
	var v struct {
		N *T `json:"n"`
	}
	err := Decode([]byte(`{"n":`+text+`}`), &v)
	return v.N, err
}

// isNumber tells JSON numbers that a big.Rat can hold from others.
func isNumber(text string) (*big.Rat, bool) {
	if text == "" || len(text) > 300 || strings.Trim(text, "0123456789+-.eE") != "" {
		return nil, false
	}
	if i := strings.IndexAny(text, "eE"); i >= 0 && len(text)-i > 5 {
		return nil, false // a Rat of 10^99999 takes long
	}
	if _, err := decoded[any](text); err != nil {
		return nil, false
	}
	return new(big.Rat).SetString(text)
}

// largest is 18 digits: what is read exactly.
var largest = big.NewRat(999_999_999_999_999_999, 1)

// checkScaled compares with exact arithmetic: accepted means equal, and
// refused means that it is too fine or too large.
func checkScaled(t *testing.T, text string, places int64, got int64, err error) {
	t.Helper()
	exact, ok := isNumber(text)
	if !ok {
		return
	}
	exact.Mul(exact, new(big.Rat).SetInt(new(big.Int).Exp(big.NewInt(10), big.NewInt(places), nil)))
	fits := exact.IsInt() && new(big.Rat).Abs(exact).Cmp(largest) <= 0
	switch {
	case err == nil && exact.Cmp(new(big.Rat).SetInt64(got)) != 0:
		t.Errorf("%s is read as %d, exactly it is %s", text, got, exact.RatString())
	case (err == nil) != fits:
		t.Errorf("%s: fits %t, error %v", text, fits, err)
	}
}

func FuzzMajor(f *testing.F) {
	for _, seed := range numberSeeds {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if strings.ContainsAny(text, ",}{\"") {
			return // more than one number
		}
		cents, err := decoded[Major](text)
		if err == nil && cents != nil {
			checkScaled(t, text, 2, int64(*cents), nil)
		} else if err != nil {
			checkScaled(t, text, 2, 0, err)
		}
		whole, err := decoded[Int](text)
		if err == nil && whole != nil {
			checkScaled(t, text, 0, int64(*whole), nil)
		} else if err != nil {
			checkScaled(t, text, 0, 0, err)
		}
	})
}

// rateOf is the rule of BEHAVIOUR.md in exact arithmetic: below 0.25 a
// fraction, else percent; rounded to nine decimal places of the fraction.
func rateOf(exact *big.Rat) (units int64, ok bool) {
	if exact.Sign() < 0 || exact.Cmp(big.NewRat(100, 1)) > 0 {
		return 0, false
	}
	nano := new(big.Rat).Mul(exact, big.NewRat(commerce.RateScale, 1))
	if exact.Cmp(big.NewRat(1, 4)) >= 0 {
		nano.Quo(nano, big.NewRat(100, 1))
	}
	nano.Add(nano, big.NewRat(1, 2)) // half up
	return new(big.Int).Quo(nano.Num(), nano.Denom()).Int64(), true
}

func FuzzRate(f *testing.F) {
	for _, seed := range numberSeeds {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		exact, ok := isNumber(text)
		if !ok {
			return
		}
		want, fits := rateOf(exact)
		got, err := decoded[Rate](text)
		if (err == nil) != fits {
			t.Fatalf("%s: fits %t, error %v", text, fits, err)
		}
		if err == nil && int64(*got) != want {
			t.Errorf("%s is read as %d, exactly it is %d", text, *got, want)
		}
	})
}

// A rate of an amount is rounded half up, exactly.
func FuzzRateOf(f *testing.F) {
	f.Add(int64(82_500_000), int64(450))
	f.Add(int64(100_000_000), int64(105))
	f.Add(int64(commerce.RateScale), int64(commerce.MaxTotal))
	f.Fuzz(func(t *testing.T, rate, amount int64) {
		if rate < 0 || rate > commerce.RateScale || amount < 0 || amount > int64(commerce.MaxTotal) {
			return
		}
		exact := new(big.Int).Mul(big.NewInt(rate), big.NewInt(amount))
		exact.Add(exact, big.NewInt(commerce.RateScale/2)).Quo(exact, big.NewInt(commerce.RateScale))
		if got := commerce.Rate(rate).Of(commerce.Cents(amount)); int64(got) != exact.Int64() {
			t.Errorf("%d of %d is %d, want %s", rate, amount, got, exact)
		}
	})
}
