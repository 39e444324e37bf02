package shop

import "testing"

func TestSell(t *testing.T) {
	if sale, err := Sell(2, 1); err != nil || sale.Pieces != 1 {
		t.Error(sale, err)
	}
	if _, err := Sell(2, 3); err == nil {
		t.Error("more than there are")
	}
}
