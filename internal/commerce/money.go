package commerce

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// Cents is an amount of US dollars in integer cents. Major units exist only
// at the edge of the product upsert.
type Cents int64

// Dollars is the amount for people: $1,234.50.
func (c Cents) Dollars() string {
	sign := ""
	if c < 0 {
		sign, c = "-", -c
	}
	whole := strconv.FormatInt(int64(c/100), 10)
	for i := len(whole) - 3; i > 0; i -= 3 {
		whole = whole[:i] + "," + whole[i:]
	}
	return fmt.Sprintf("%s$%s.%02d", sign, whole, c%100)
}

// Bounds that keep every sum far inside int64 and inside what JSON readers
// with 53-bit numbers hold exactly.
const (
	MaxCents    Cents = 9_999_999_999     // $99,999,999.99, one price or fee
	MaxTotal    Cents = 9_999_999_999_999 // one order
	MaxQuantity       = 1_000_000         // one order line
	MaxStock          = 1_000_000_000     // one product
)

var (
	errNotNumber = errors.New("must be a number")
	errTooFine   = errors.New("has too many decimal places")
	errTooLarge  = errors.New("is too large")
)

// ParseScaled parses the text of a JSON number exactly, never through a float, and returns it
// times 10^places: ParseScaled("12.5", 2) is 1250. Further decimal places are an error
// unless they are zeros, and so is a number that does not fit an int64. Exponents are legal
// JSON and are accepted (1e2 is 100).
func ParseScaled(text string, places int) (int64, error) {
	n, rest, err := scale(text, places)
	if err == nil && rest != "" {
		return 0, errTooFine
	}
	return n, err
}

// scale is ParseScaled rounded towards zero. rest are the numerals beyond the places, without
// trailing zeros.
func scale(text string, places int) (n int64, rest string, err error) {
	mantissa, exp, err := splitNumber(text)
	if err != nil {
		return 0, "", err
	}
	negative := strings.HasPrefix(mantissa, "-")
	mantissa = strings.TrimPrefix(mantissa, "-")
	whole, frac, _ := strings.Cut(mantissa, ".")
	if whole == "" || (strings.Contains(mantissa, ".") && frac == "") || strings.Trim(whole+frac, "0123456789") != "" {
		return 0, "", errNotNumber
	}
	numerals := strings.TrimLeft(whole+frac, "0")
	shift := exp - len(frac) + places
	if shift < 0 {
		numerals = strings.Repeat("0", max(0, -shift-len(numerals))) + numerals
		kept := len(numerals) + shift
		numerals, rest, shift = numerals[:kept], strings.TrimRight(numerals[kept:], "0"), 0
	}
	switch {
	case numerals == "":
		return 0, rest, nil
	case len(numerals)+shift > 18:
		return 0, "", errTooLarge
	}
	n, err = strconv.ParseInt(numerals+strings.Repeat("0", shift), 10, 64)
	if err != nil {
		return 0, "", errNotNumber
	}
	if negative {
		n = -n
	}
	return n, rest, nil
}

func splitNumber(text string) (mantissa string, exp int, err error) {
	const longest = 400 // digits; a longer literal is hostile, not a price
	if len(text) > longest {
		return "", 0, errTooLarge
	}
	i := strings.IndexAny(text, "eE")
	if i < 0 {
		return text, 0, nil
	}
	exp, err = strconv.Atoi(text[i+1:])
	switch {
	case errors.Is(err, strconv.ErrRange):
		return "", 0, errTooLarge
	case err != nil:
		return "", 0, errNotNumber
	}
	// Any exponent beyond these bounds gives the same result: zero, or too large.
	return text[:i], max(min(exp, 10*longest), -10*longest), nil
}

// FormatMajor writes cents in major units with the fewest digits: 1250 is
// "12.5", 1200 is "12".
func FormatMajor(c Cents) string { return string(AppendMajor(nil, c)) }

// AppendMajor appends FormatMajor(c) to b.
func AppendMajor(b []byte, c Cents) []byte {
	n := uint64(c)
	if c < 0 {
		b = append(b, '-')
		n = -n
	}
	b = strconv.AppendUint(b, n/100, 10)
	switch frac := n % 100; {
	case frac == 0:
		return b
	case frac%10 == 0:
		return append(b, '.', byte('0'+frac/10))
	default:
		return append(b, '.', byte('0'+frac/10), byte('0'+frac%10))
	}
}

// Rate is a tax rate as an exact decimal: a fraction times RateScale.
type Rate int64

// RateScale is the number of Rate units in 1 (that is, in 100 percent).
const RateScale = 1_000_000_000

// Of is the rate of an amount of at most MaxTotal, rounded half up to the cent.
func (r Rate) Of(amount Cents) Cents {
	whole, part := int64(amount)/RateScale, int64(amount)%RateScale
	return Cents(whole*int64(r) + (part*int64(r)+RateScale/2)/RateScale)
}

// ParseRate parses a tax rate as partners write it: a number below 0.25 is a fraction
// (0.0825), any other a percentage (8.25). Partners that compute rates in floats send noise
// (0.08875000000000001), so the rate is rounded to nine places.
func ParseRate(text string) (Rate, error) {
	n, rest, err := scale(text, 9)
	switch {
	case err != nil:
		return 0, err
	case strings.HasPrefix(text, "-") && (n != 0 || rest != ""):
		return 0, errors.New("must not be negative")
	case n > 100*RateScale || (n == 100*RateScale && rest != ""):
		return 0, errTooLarge
	case n >= RateScale/4:
		if n, rest, err = scale(text, 7); err != nil { // percent: two places less
			return 0, err
		}
	}
	if rest != "" && rest[0] >= '5' {
		n++
	}
	return Rate(n), nil
}
