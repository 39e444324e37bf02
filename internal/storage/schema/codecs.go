package schema

import (
	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"purveyor/internal/commerce"
)

// This file has the JSON texts that some columns hold. They are storage's own: what
// partners read is made by package api. All databases ever written hold these
// forms, so a field may be added to them and none renamed.

// line is an item of an order; orders.lines is a list of them.
type line struct {
	ProductID          string          `json:"product_id"`
	Quantity           int64           `json:"quantity"`
	PriceCents         commerce.Cents  `json:"price"`
	OriginalPriceCents *commerce.Cents `json:"original_price,omitzero"` // the catalog's price where it differed
}

// recipient is orders.address.
type recipient struct {
	Name    string `json:"name"`
	Email   string `json:"email,omitzero"`
	Phone   string `json:"phone,omitzero"`
	Address place  `json:"address"`
}

type place struct {
	Line1      string `json:"line1"`
	Line2      string `json:"line2,omitzero"`
	City       string `json:"city"`
	State      string `json:"state"`
	PostalCode string `json:"postal_code"`
	Country    string `json:"country"`
}

// title is how a line is called on the payment page; payments.titles is a list of them.
type title struct {
	Name     string `json:"name"`
	ImageURL string `json:"image,omitzero"`
}

// refundLine is an item of refunds.lines.
type refundLine struct {
	ProductID string         `json:"product_id"`
	Quantity  int64          `json:"quantity"`
	TaxCents  commerce.Cents `json:"tax"`
}

// lineRefund is an item of orders.line_refunds.
type lineRefund struct {
	ProductID string         `json:"product_id"`
	Quantity  int64          `json:"quantity"`
	TaxCents  commerce.Cents `json:"tax"`
	Restock   int64          `json:"restock,omitzero"`
	Returned  int64          `json:"returned,omitzero"`
}

func encodeLines(lines []commerce.OrderLine) []byte {
	return encode(each(lines, func(l commerce.OrderLine) line { return line(l) }))
}

func decodeLines(s Scanner) []commerce.OrderLine {
	return each(decode[[]line](s, "lines"), func(l line) commerce.OrderLine { return commerce.OrderLine(l) })
}

// encodeAddress gives NULL for no address.
func encodeAddress(a *commerce.DeliveryAddress) []byte {
	if a == nil {
		return nil
	}
	return encode(recipient{a.Name, a.Email, a.Phone, place(a.Address)})
}

func decodeAddress(s Scanner) *commerce.DeliveryAddress {
	stored := decode[*recipient](s, "address")
	if stored == nil {
		return nil
	}
	return &commerce.DeliveryAddress{Name: stored.Name, Email: stored.Email, Phone: stored.Phone, Address: commerce.Address(stored.Address)}
}

// encodeMetadata gives NULL for no metadata.
func encodeMetadata(m commerce.Metadata) []byte {
	if m == nil {
		return nil
	}
	return encode(m)
}

func decodeMetadata(s Scanner) commerce.Metadata { return decode[commerce.Metadata](s, "metadata") }

// encodeRefundLines gives NULL for a refund by amount.
func encodeRefundLines(lines []commerce.RefundLine) []byte {
	if lines == nil {
		return nil
	}
	return encode(each(lines, func(l commerce.RefundLine) refundLine { return refundLine(l) }))
}

func decodeRefundLines(s Scanner) []commerce.RefundLine {
	return each(decode[[]refundLine](s, "lines"), func(l refundLine) commerce.RefundLine { return commerce.RefundLine(l) })
}

// encodeLineRefunds gives NULL for an order without refunds by line.
func encodeLineRefunds(list commerce.LineRefunds) []byte {
	if list == nil {
		return nil
	}
	return encode(each(list, func(r commerce.LineRefund) lineRefund { return lineRefund(r) }))
}

func decodeLineRefunds(s Scanner) commerce.LineRefunds {
	return each(decode[[]lineRefund](s, "refunds by line"), func(r lineRefund) commerce.LineRefund { return commerce.LineRefund(r) })
}

func encodeTitles(titles []commerce.LineTitle) []byte {
	return encode(each(titles, func(t commerce.LineTitle) title { return title(t) }))
}

func decodeTitles(s Scanner) []commerce.LineTitle {
	return each(decode[[]title](s, "titles"), func(t title) commerce.LineTitle { return commerce.LineTitle(t) })
}

// each converts the elements of a list; nil stays nil.
func each[A, B any](list []A, convert func(A) B) []B {
	if list == nil {
		return nil
	}
	converted := make([]B, len(list))
	for i, v := range list {
		converted[i] = convert(v)
	}
	return converted
}

// asStored writes text that is no UTF-8 with U+FFFD. Decoders of requests let no such
// text in.
var asStored = json.JoinOptions(jsontext.AllowInvalidUTF8(true), jsontext.AllowDuplicateNames(true), json.Deterministic(true))

// encode is the JSON text of a form of this file, which always encodes.
func encode(v any) []byte {
	text, err := json.Marshal(v, asStored)
	if err != nil {
		panic(err)
	}
	return text
}

// decode reads a column of JSON. NULL and an empty list give the zero value. The error of a
// text that is not a V calls the column by the name in what.
func decode[V any](s Scanner, what string) (v V) {
	if text := s.JSON(); text != nil && string(text) != "[]" {
		v = decodeText[V](s, text, what)
	}
	return v
}

func decodeText[V any](s Scanner, text []byte, what string) (v V) {
	if err := json.Unmarshal(text, &v); err != nil {
		unreadable(s, what, err)
	}
	return v
}
