package commerce

import (
	"errors"
	"strings"
	"testing"
)

func TestDemandsSumLines(t *testing.T) {
	lines := []OrderLine{{"a", 2, 100, nil}, {"b", 1, 50, nil}, {"a", 3, 90, nil}}
	got := Demands(lines)
	want := []Demand{{"a", 5, 470}, {"b", 1, 50}}
	if len(got) != 2 || got[0] != want[0] || got[1] != want[1] {
		t.Errorf("Demands = %v, want %v", got, want)
	}
}

func TestDeductAndRestore(t *testing.T) {
	full := Stock{ProductID: "prd_1", Name: "Bread", Active: true, Quantity: 5}

	if _, err := full.Deduct(Demand{"prd_1", 6, 600}, Live); err == nil ||
		!strings.Contains(err.Error(), "Bread") || !strings.Contains(err.Error(), "requested 6, available 5") {
		t.Errorf("short stock: %v does not name the product and both quantities", err)
	}
	inactive := full
	inactive.Active = false
	var refusal *Error
	if _, err := inactive.Sell(Demand{"prd_1", 1, 100}, Live); !errors.As(err, &refusal) || refusal.Code != "product_inactive" {
		t.Errorf("inactive: %v", err)
	}
	if left, err := inactive.Deduct(Demand{"prd_1", 1, 100}, Live); err != nil || left.Quantity != 4 {
		t.Errorf("inactive, but paid for: %+v, %v", left, err)
	}
	for _, mode := range []Mode{Live, Test} {
		d := Demand{"prd_1", 5, 500}
		left, err := full.Deduct(d, mode)
		if err != nil || left.Quantity != 0 {
			t.Fatalf("%s: %+v, %v", mode, left, err)
		}
		if sold := left.SoldCount == 5 && left.SoldCents == 500; sold != (mode == Live) {
			t.Errorf("%s: sold %d for %d", mode, left.SoldCount, left.SoldCents)
		}
		if back := left.Restore(d, mode); back != full {
			t.Errorf("%s: restored to %+v", mode, back)
		}
	}
	reset := Stock{Quantity: 0, SoldCount: 1, SoldCents: 1}
	if back := reset.Restore(Demand{"prd_1", 5, 500}, Live); back.SoldCount != 0 || back.SoldCents != 0 {
		t.Errorf("sold figures fell below zero: %+v", back)
	}
}

// TestHold: held pieces may not be sold to others, and no figure of sales moves until they are
// sold. Released, they are as before.
func TestHold(t *testing.T) {
	full := Stock{ProductID: "prd_1", Name: "Bread", Active: true, Quantity: 5, SoldCount: 1, SoldCents: 9}
	held, err := full.Hold(Demand{"prd_1", 3, 300})
	if want := (Stock{ProductID: "prd_1", Name: "Bread", Active: true, Quantity: 2, Held: 3, SoldCount: 1, SoldCents: 9}); err != nil || held != want {
		t.Errorf("%+v, %v", held, err)
	}
	if _, err := held.Hold(Demand{"prd_1", 3, 300}); err == nil || !strings.Contains(err.Error(), "requested 3, available 2") {
		t.Errorf("held twice: %v", err)
	}
	if _, err := (Stock{Quantity: 5}).Hold(Demand{"prd_1", 3, 300}); err == nil {
		t.Error("a product that is switched off was held")
	}
	if back := held.Release(Demand{"prd_1", 3, 300}); back != full {
		t.Errorf("released: %+v", back)
	}
	for mode, want := range map[Mode]Stock{Live: {Quantity: 2, SoldCount: 4, SoldCents: 309}, Test: {Quantity: 2, SoldCount: 1, SoldCents: 9}} {
		want.ProductID, want.Name, want.Active = full.ProductID, full.Name, true
		if sold := held.SellHeld(Demand{"prd_1", 3, 300}, mode); sold != want {
			t.Errorf("%s: sold %+v", mode, sold)
		}
	}
	damaged := Stock{Quantity: 2, Held: 1}
	if back := damaged.Release(Demand{"prd_1", 3, 300}); back.Held != 0 || back.Quantity != 5 {
		t.Errorf("a damaged row: %+v", back)
	}
}

func TestAdjust(t *testing.T) {
	s := Stock{Quantity: 5}
	if got, err := s.Adjust(-5); err != nil || got.Quantity != 0 {
		t.Errorf("to zero: %+v, %v", got, err)
	}
	if _, err := s.Adjust(-6); err == nil || !strings.Contains(err.Error(), "requested 6, available 5") {
		t.Errorf("below zero: %v", err)
	}
	if _, err := s.Adjust(MaxStock); err == nil {
		t.Error("beyond the largest stock")
	}
}
