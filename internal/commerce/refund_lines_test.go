package commerce

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// basket is an order of three products, of which one stands on two lines.
func basket(tax Cents) Order {
	lines := []OrderLine{{ProductID: "a", Quantity: 1, PriceCents: 333}, {ProductID: "b", Quantity: 2, PriceCents: 100}, {ProductID: "a", Quantity: 1, PriceCents: 300},
		{ProductID: "free", Quantity: 3}}
	return Order{Lines: lines, SubtotalCents: SumLines(lines), TaxCents: tax, TotalCents: SumLines(lines) + tax + 599, DeliveryFeeCents: 599}
}

// TestPriceRefund: refunds one after the other, each as PRODUCT*PIECES, and what they are worth.
func TestPriceRefund(t *testing.T) {
	for _, c := range []struct {
		name    string
		tax     Cents
		refunds string
		want    string
	}{
		{"a piece and its share of the tax", 100, "b*1", "112"},           // 12.004...
		{"half a cent is rounded up", 25, "b*2", "206"},                   // 6.002...
		{"the first pieces come first", 0, "a*1 a*1", "333 300"},          // of two lines
		{"one product on two lines", 100, "a*2", "709"},                   // 75.99...
		{"each line is rounded", 3, "b*1 b*1 a*1 a*1", "100 100 334 302"}, // 0.36, 0.36, 1.2, and the rest of 2
		{"the last line takes the rest", 3, "b*1,b*1,a*2,free*3", "836"},
		{"a free piece is last", 3, "b*2 a*2 free*2 free*1", "201 635 lines invalid_amount lines invalid_amount"},
		{"the tax is used up", 1, "a*1 b*2 a*1", "333 200 301"},
		{"more than was sold", 0, "b*3", "lines[0].quantity invalid_amount"},
		{"more than is left", 0, "b*1 b*2", "100 lines[0].quantity invalid_amount"},
		{"more in two lines", 0, "a*1,b*1,b*2", "lines[2].quantity invalid_amount"},
		{"no pieces", 0, "b*0", "lines[0].quantity invalid_amount"},
		{"nothing below zero", 0, "b*-1", "lines[0].quantity invalid_amount"},
		{"another product", 0, "a*1,x*1", "lines[1].product_id invalid_body"},
	} {
		o := basket(c.tax)
		var got []string
		for refund := range strings.FieldsSeq(c.refunds) {
			var lines []RefundLine
			for part := range strings.SplitSeq(refund, ",") {
				name, n, _ := strings.Cut(part, "*")
				l := RefundLine{ProductID: name}
				fmt.Sscan(n, &l.Quantity)
				lines = append(lines, l)
			}
			priced, amount, err := o.PriceRefund(lines)
			if refusal, ok := errors.AsType[*Error](err); ok {
				got = append(got, refusal.Field, refusal.Code)
				continue
			}
			o.LineRefunds = o.LineRefunds.Add(priced)
			got = append(got, fmt.Sprint(int64(amount)))
		}
		if strings.Join(got, " ") != c.want {
			t.Errorf("%s: %s, want %s", c.name, strings.Join(got, " "), c.want)
		}
	}
}

// TestTaxOfLargeAmounts: the product of a tax and a price may exceed an int64.
func TestTaxOfLargeAmounts(t *testing.T) {
	o := Order{Lines: []OrderLine{{ProductID: "a", Quantity: 800, PriceCents: MaxCents}}, SubtotalCents: 800 * MaxCents, TaxCents: 80 * MaxCents}
	if _, amount, err := o.PriceRefund([]RefundLine{{ProductID: "a", Quantity: 400}}); err != nil || amount != 440*MaxCents {
		t.Errorf("%d, %v", amount, err)
	}
}

// TestLinesAddUp: refunds by line, made, failed and repeated, are never worth more than the
// goods and their tax, and all together are worth exactly that.
func TestLinesAddUp(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		o := Order{TaxCents: Cents(rapid.Int64Range(0, 500).Draw(t, "tax"))}
		for i := range rapid.IntRange(1, 5).Draw(t, "lines") {
			o.Lines = append(o.Lines, OrderLine{ProductID: string(rune('a' + i%3)), Quantity: rapid.Int64Range(1, 4).Draw(t, "pieces"),
				PriceCents: Cents(100 * (1 + i%3))}) // the same for each line of a product
		}
		o.SubtotalCents = SumLines(o.Lines)
		type made struct {
			lines  []RefundLine
			amount Cents
		}
		var refunds []made
		var sum Cents
		refund := func(productID string, pieces int64) {
			before := slices.Clone(o.LineRefunds)
			lines, amount, err := o.PriceRefund([]RefundLine{{ProductID: productID, Quantity: pieces}})
			if !slices.Equal(before, o.LineRefunds) {
				t.Fatal("pricing changes the order")
			}
			if left := o.piecesOf(productID) - o.LineRefunds.Of(productID).Quantity; (err == nil) != (pieces <= left) {
				t.Fatalf("%d of %d pieces: %v", pieces, left, err)
			}
			if err == nil {
				o.LineRefunds, sum = o.LineRefunds.Add(lines), sum+amount
				refunds = append(refunds, made{lines, amount})
			}
		}
		for range rapid.IntRange(0, 30).Draw(t, "steps") {
			if len(refunds) > 0 && rapid.IntRange(0, 2).Draw(t, "fails at 0") == 0 {
				i := rapid.IntRange(0, len(refunds)-1).Draw(t, "which")
				o.LineRefunds, sum = o.LineRefunds.Remove(refunds[i].lines, false), sum-refunds[i].amount
				refunds = slices.Delete(refunds, i, i+1)
			} else {
				refund(rapid.SampledFrom(o.Lines).Draw(t, "line").ProductID, rapid.Int64Range(1, 5).Draw(t, "pieces"))
			}
			if sum < 0 || sum > o.SubtotalCents+o.TaxCents {
				t.Fatalf("%d of %d cents are refunded", sum, o.SubtotalCents+o.TaxCents)
			}
		}
		for _, d := range Demands(o.Lines) {
			if left := d.Quantity - o.LineRefunds.Of(d.ProductID).Quantity; left > 0 {
				refund(d.ProductID, left)
			}
		}
		if sum != o.SubtotalCents+o.TaxCents {
			t.Fatalf("all lines are refunded with %d of %d cents", sum, o.SubtotalCents+o.TaxCents)
		}
	})
}
