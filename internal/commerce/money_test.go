package commerce

import (
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestParseScaled(t *testing.T) {
	for _, c := range []struct {
		text   string
		places int
		want   int64
		fails  bool
	}{
		{"0", 2, 0, false}, {"-0", 2, 0, false}, {"19.99", 2, 1999, false}, {"1e2", 2, 10000, false}, {"1E+2", 2, 10000, false},
		{"0.30", 2, 30, false}, {"12.500", 2, 1250, false}, {"1.2e1", 0, 12, false}, {"1999e-2", 2, 1999, false}, {"-5", 0, -5, false},
		{"100e-2", 0, 1, false}, {"0e999999999", 2, 0, false}, {"0.000", 0, 0, false}, {"999999999999999999", 0, 999999999999999999, false},
		{"19.999", 2, 0, true}, {"1.5", 0, 0, true}, {"1e-3", 2, 0, true}, {"1e30", 2, 0, true}, {"1e999999999", 0, 0, true},
		{"9223372036854775808", 0, 0, true}, {"", 0, 0, true}, {"abc", 0, 0, true}, {"1.", 0, 0, true}, {".5", 2, 0, true},
		{"1e", 0, 0, true}, {"e5", 0, 0, true}, {"--1", 0, 0, true}, {"1-1", 0, 0, true}, {"0x10", 0, 0, true}, {"1e-999999999", 0, 0, true},
		{strings.Repeat("9", 1000), 0, 0, true}, {"0" + strings.Repeat("0", 1000), 0, 0, true},
	} {
		got, err := ParseScaled(c.text, c.places)
		if (err != nil) != c.fails || got != c.want {
			t.Errorf("ParseScaled(%.40q, %d) = %d, %v; want %d, fails = %v", c.text, c.places, got, err, c.want, c.fails)
		}
	}
}

func TestMajorRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		cents := rapid.Int64Range(-int64(MaxTotal), int64(MaxTotal)).Draw(t, "cents")
		text := FormatMajor(Cents(cents))
		if got, err := ParseScaled(text, 2); err != nil || got != cents {
			t.Fatalf("%d was written %q and read as %d, %v", cents, text, got, err)
		}
	})
}

func TestRate(t *testing.T) {
	for _, c := range []struct {
		text   string
		amount Cents
		want   Cents
		fails  bool
	}{
		{"0.0825", 1000, 83, false}, // 82.5 rounds half up
		{"8.25", 1000, 83, false},
		{"0.0825", 999, 82, false},
		{"0.2499", 10000, 2499, false},
		{"0.25", 10000, 25, false}, // a quarter of a percent
		{"1", 10000, 100, false},
		{"100", 10000, 10000, false},
		{"0", 10000, 0, false},
		{"0.08875000000000001", 100000, 8875, false},
		{"0.0887499999999999999", 100000, 8875, false},
		{"1e-12", 100000, 0, false},
		{"6e-10", MaxTotal, 10000, false}, // is 1e-9
		{"5e-11", MaxTotal, 0, false},
		{"0.0825", MaxTotal, 825000000000, false}, // 824,999,999,999.9175
		{"-1", 0, 0, true}, {"101", 0, 0, true}, {"x", 0, 0, true},
	} {
		rate, err := ParseRate(c.text)
		if (err != nil) != c.fails {
			t.Errorf("ParseRate(%q): %v", c.text, err)
			continue
		}
		if got := rate.Of(c.amount); err == nil && got != c.want {
			t.Errorf("%s of %d = %d, want %d", c.text, c.amount, got, c.want)
		}
	}
}

func TestReportedTotals(t *testing.T) {
	cents := func(n Cents) *Cents { return &n }
	rate := func(text string) *Rate {
		r, err := ParseRate(text)
		if err != nil {
			t.Fatal(err)
		}
		return &r
	}
	lines := []OrderLine{{"a", 2, 500, nil}, {"b", 1, 250, nil}} // 1250
	for _, c := range []struct {
		name     string
		given    GivenTotals
		want     Totals
		mismatch bool
	}{
		{"nothing given", GivenTotals{}, Totals{1250, 0, 0, 1250}, false},
		{"rate", GivenTotals{TaxRate: rate("8")}, Totals{1250, 100, 0, 1350}, false},
		{"fee", GivenTotals{DeliveryFee: 399}, Totals{1250, 0, 399, 1649}, false},
		{"all given and right", GivenTotals{Subtotal: cents(1250), Tax: cents(50), Total: cents(1300)}, Totals{1250, 50, 0, 1300}, false},
		{"subtotal differs and stands", GivenTotals{Subtotal: cents(1000)}, Totals{1000, 0, 0, 1000}, true},
		{"total differs and stands", GivenTotals{Total: cents(1)}, Totals{1250, 0, 0, 1}, true},
		{"tax differs from the rate and stands", GivenTotals{Tax: cents(1), TaxRate: rate("8")}, Totals{1250, 1, 0, 1251}, true},
	} {
		got, mismatch, err := ReportedTotals(lines, c.given)
		if err != nil || got != c.want || (mismatch != "") != c.mismatch {
			t.Errorf("%s: %+v, %q, %v; want %+v, mismatch = %v", c.name, got, mismatch, err, c.want, c.mismatch)
		}
	}
	huge := []OrderLine{{"a", MaxQuantity, MaxCents, nil}}
	if _, _, err := ReportedTotals(huge, GivenTotals{}); err == nil {
		t.Error("a total beyond MaxTotal was accepted")
	}
}

func TestDollars(t *testing.T) {
	for cents, want := range map[Cents]string{0: "$0.00", 5: "$0.05", 99_999: "$999.99", 100_000: "$1,000.00", -123_456_789: "-$1,234,567.89"} {
		if got := cents.Dollars(); got != want {
			t.Errorf("%d cents: %s, want %s", int64(cents), got, want)
		}
	}
}
