package schema

import (
	"fmt"
	"reflect"
	"slices"
	"testing"

	"purveyor/internal/commerce"
)

// bound takes down what is bound.
type bound []string

func (b *bound) put(v any) Binder { *b = append(*b, fmt.Sprint(v)); return b }

func (b *bound) Text(v string) Binder    { return b.put(v) }
func (b *bound) Int(v int64) Binder      { return b.put(v) }
func (b *bound) Bool(v bool) Binder      { return b.put(v) }
func (b *bound) Blob(v []byte) Binder    { return b.put(v) }
func (b *bound) JSON(v []byte) Binder    { return b.put(v) }
func (b *bound) Float(v *float64) Binder { return b.put(v) }

// TestHotColumnsAreAllThatDiffers: whatever field of stock changes, a
// change of which OnlyHotChanged is true differs in no other column, and the hot
// columns are bound as in a whole row.
func TestHotColumnsAreAllThatDiffers(t *testing.T) {
	all, hot := Split(Stock.Mutable), Split(Stock.HotColumns)
	confined := 0
	for i := range reflect.TypeFor[commerce.Stock]().NumField() {
		var v, was commerce.Stock
		switch field := reflect.ValueOf(&v).Elem().Field(i); field.Kind() {
		case reflect.String:
			field.SetString("x")
		case reflect.Bool:
			field.SetBool(true)
		default:
			field.SetInt(7)
		}
		var now, before, part bound
		Stock.BindMutable(&now, &v)
		Stock.BindMutable(&before, &was)
		Stock.BindHot(&part, &v)
		for c, name := range all {
			at := slices.Index(hot, name)
			if at >= 0 && part[at] != now[c] {
				t.Errorf("%s is bound as %s, in the whole row as %s", name, part[at], now[c])
			}
			if at < 0 && now[c] != before[c] && Stock.OnlyHotChanged(&v, &was) {
				t.Errorf("%s differs in a change that is said to be of %s alone", name, Stock.HotColumns)
			}
		}
		if Stock.OnlyHotChanged(&v, &was) {
			confined++
		}
	}
	if confined < len(hot) {
		t.Errorf("%d changes are confined to %d columns", confined, len(hot))
	}
}
