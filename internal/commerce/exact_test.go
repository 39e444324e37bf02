package commerce

import (
	"errors"
	"strings"
	"testing"
)

// TestNumbersAreRefused: the refusal says what is wrong with a number, and gives none.
func TestNumbersAreRefused(t *testing.T) {
	long := "0." + strings.Repeat("0", 398)
	for _, c := range []struct {
		text   string
		places int
		want   error
	}{
		{long, 2, nil}, {long + "0", 2, errTooLarge}, {"1e30", 2, errTooLarge}, {"1e99999999999999999999", 2, errTooLarge},
		{"123456789012345678", 0, nil}, {"123456789012345678.0", 0, nil}, {"1234567890123456789", 0, errTooLarge}, {"9999999999999999999", 0, errTooLarge}, {"1e17", 0, nil}, {"1e18", 0, errTooLarge},
		{"1ex", 2, errNotNumber}, {"", 2, errNotNumber}, {"1.234", 2, errTooFine}, {"123456789012345678.5", 0, errTooFine},
	} {
		n, err := ParseScaled(c.text, c.places)
		if !errors.Is(err, c.want) || err != nil && n != 0 {
			t.Errorf("%.30q: %d, %v, want %v", c.text, n, err, c.want)
		}
	}
	for text, fails := range map[string]bool{"-0": false, "-0.0": false, "-0.00000000000001": true, "-1e-9": true, "-1": true, "100": false, "100.0": false,
		"100.0000000001": true, "100.5": true, "x": true, "1e40": true} {
		if r, err := ParseRate(text); (err != nil) != fails || err != nil && r != 0 {
			t.Errorf("rate %q: %d, %v", text, r, err)
		}
	}
	for text, want := range map[string]Rate{"0.0000000005": 1, "0.00000000049": 0, "0.0825000005": 82_500_001, "8.25000000005": 82_500_000, "8.2500000500": 82_500_001} {
		if r, err := ParseRate(text); err != nil || r != want {
			t.Errorf("rate %q: %d, %v, want %d", text, r, err, want)
		}
	}
}

// TestMajorUnits: the fewest digits.
func TestMajorUnits(t *testing.T) {
	for cents, want := range map[Cents]string{0: "0", 1: "0.01", -1: "-0.01", 50: "0.5", 1250: "12.5", 1200: "12", 1205: "12.05", -1250: "-12.5"} {
		if got := FormatMajor(cents); got != want {
			t.Errorf("%d cents are %s, want %s", int64(cents), got, want)
		}
	}
}

// TestLargestTotals: an order may cost MaxTotal, and not a cent more.
func TestLargestTotals(t *testing.T) {
	cents := func(n Cents) *Cents { return &n }
	line := func(price Cents) []OrderLine { return []OrderLine{{"a", 1, price, nil}} }
	for _, c := range []struct {
		price Cents
		given GivenTotals
		fails bool
	}{
		{MaxTotal, GivenTotals{}, false}, {MaxTotal + 1, GivenTotals{Total: cents(5)}, true}, {5, GivenTotals{Subtotal: cents(MaxTotal + 1), Total: cents(5)}, true},
		{MaxTotal - 1, GivenTotals{DeliveryFee: 1}, false}, {MaxTotal, GivenTotals{DeliveryFee: 1}, true},
	} {
		if totals, _, err := ReportedTotals(line(c.price), c.given); (err != nil) != c.fails {
			t.Errorf("%+v: %+v, %v", c, totals, err)
		}
	}
	rate := Rate(RateScale / 10)
	if _, mismatch, _ := ReportedTotals(line(100), GivenTotals{Tax: cents(10), TaxRate: &rate}); mismatch != "" {
		t.Errorf("tax and rate agree, and: %s", mismatch)
	}
	for _, c := range []struct {
		price, fee Cents
		bps        int64
		want       Totals // zero: refused
	}{
		{1000, 399, 825, Totals{1000, 83, 399, 1482}}, {1, 0, 5000, Totals{1, 1, 0, 2}}, {1, 0, 4999, Totals{1, 0, 0, 1}}, {10_000, 0, 10_000, Totals{10_000, 10_000, 0, 20_000}},
		{0, 1, 825, Totals{0, 0, 1, 1}}, {1, 0, 0, Totals{1, 0, 0, 1}}, {0, 0, 825, Totals{}}, {MaxTotal, 0, 0, Totals{MaxTotal, 0, 0, MaxTotal}}, {MaxTotal - 1, 1, 0, Totals{MaxTotal - 1, 0, 1, MaxTotal}},
		{MaxTotal + 1, 0, 0, Totals{}}, {MaxTotal, 1, 0, Totals{}},
	} {
		got, err := CheckoutTotals(line(c.price), c.fee, c.bps)
		if refused := c.want == (Totals{}); (err != nil) != refused || !refused && got != c.want {
			t.Errorf("%+v: %+v, %v", c, got, err)
		}
	}
	if _, err := CheckoutTotals([]OrderLine{{"a", MaxQuantity, MaxCents, nil}}, -MaxQuantity*MaxCents, 0); err == nil {
		t.Error("a subtotal beyond MaxTotal passes because something is taken off")
	}
}

// TestLimitsOfStock: the largest stock may be reached, and not passed.
func TestLimitsOfStock(t *testing.T) {
	s := Stock{ProductID: "prd_1", Quantity: 5}
	if got, err := s.Adjust(MaxStock - 5); err != nil || got.Quantity != MaxStock {
		t.Errorf("%+v, %v", got, err)
	}
	if got, err := s.Adjust(MaxStock - 4); err == nil || got != s {
		t.Errorf("%+v, %v", got, err)
	}
	for pieces, fails := range map[int64]bool{-1: true, 0: false, MaxStock: false, MaxStock + 1: true} {
		if got, err := s.Count(pieces); (err != nil) != fails || err == nil && got.Quantity != pieces {
			t.Errorf("%d pieces were counted: %+v, %v", pieces, got, err)
		}
	}
	for _, expected := range []int64{4, 6} {
		if refusal, _ := errors.AsType[*Error](s.Expect(&expected)); refusal == nil || refusal.Code != "stale_quantity" || *refusal.Stale != (StaleQuantity{"prd_1", expected, 5}) {
			t.Errorf("%d expected: %+v", expected, refusal)
		}
	}
	if five := int64(5); s.Expect(&five) != nil || s.Expect(nil) != nil {
		t.Error("5 pieces are not what was expected")
	}
}

// TestImages: new URLs have a limit together, and stored ones are accepted however long they are.
func TestImages(t *testing.T) {
	url := func(n int) string { return strings.Repeat("x", n) }
	p := Product{Images: []string{url(MaxImages), "y"}}
	for _, c := range []struct {
		images []string
		fails  bool
	}{
		{nil, false}, {[]string{url(MaxImages)}, false}, {[]string{url(MaxImages + 1)}, true}, {[]string{url(MaxImages - 1), "z"}, false}, {[]string{url(MaxImages), "z"}, true},
		{p.Images, false}, {[]string{"y", url(MaxImages)}, true}, {[]string{"small"}, false},
	} {
		if err := p.CheckImages(c.images); (err != nil) != c.fails {
			t.Errorf("%d images: %v", len(c.images), err)
		}
	}
}
