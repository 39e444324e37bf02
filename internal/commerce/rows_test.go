package commerce

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
)

func panics(f func()) (did bool) {
	defer func() { did = recover() != nil }()
	f()
	return false
}

// TestTable: for each way in which a command asks for a row, what it may do with the row,
// and what the engine is told.
func TestTable(t *testing.T) {
	type table = Table[string, int]
	require := func(lock bool) func(*table) { return func(t *table) { t.Require([]string{"k"}, lock) } }
	stored := func(lock bool) func(*table) { return func(t *table) { t.Require([]string{"k"}, lock); t.Fill(0, 7) } }
	unseen := func(t *table) { t.LeaveUnseen([]string{"k"}) }
	for _, c := range []struct {
		name string
		ask  func(*table)
		do   string // of: get, put (8), more (9), remove
		want string // what get says, then each change as VALUE<WAS; "bug" if it panics
	}{
		{"not asked for", func(t *table) { t.Require([]string{"other"}, true) }, "get", "bug"},
		{"not asked for", func(t *table) { t.Require([]string{"other"}, true) }, "put", "bug"},
		{"not asked for", func(t *table) { t.Require([]string{"other"}, true) }, "remove", "bug"},
		{"missing", require(false), "get", "0 false "}, {"missing", require(false), "put get", "8 true 8<nil"}, {"missing", require(true), "put", "8<nil"},
		{"missing", require(true), "put more", "9<nil"}, {"missing", require(true), "put remove get", "0 false nil<nil"}, {"missing", require(true), "remove", ""},
		{"stored", stored(false), "get", "7 true "}, {"stored", stored(false), "put", "bug"},
		{"stored", stored(true), "put get", "8 true 8<7"}, {"stored", stored(true), "put more get", "9 true 9<7"}, {"stored", stored(true), "remove get", "0 false nil<7"},
		{"stored", stored(true), "remove remove", "nil<7"}, {"stored", stored(true), "remove put", "8<7"},
		{"new", func(t *table) { t.Expect([]string{"k"}) }, "get put", "0 false 8<nil"},
		{"unseen", unseen, "get", "bug"}, {"unseen", unseen, "put", "bug"}, {"unseen", unseen, "remove", "nil<0"}, {"unseen", unseen, "remove remove", "nil<0"},
		{"unseen, and asked for by another command", func(t *table) { unseen(t); require(true)(t); t.Fill(0, 7) }, "get remove", "7 true nil<7"},
		{"asked for, and unseen by another command", func(t *table) { stored(true)(t); unseen(t) }, "get put", "7 true 8<7"},
		{"expected, and asked for by another command", func(t *table) { t.Expect([]string{"k"}); require(true)(t); t.Fill(0, 7) }, "get", "7 true "},
		{"locked, and then only looked at", func(t *table) { require(true)(t); require(false)(t); t.Fill(0, 7) }, "put", "8<7"},
		{"looked at, and then locked", func(t *table) { require(false)(t); require(true)(t); t.Fill(0, 7) }, "put", "8<7"},
	} {
		var rows table
		got := ""
		c.ask(&rows)
		if panics(func() {
			for _, step := range strings.Fields(c.do) {
				switch step {
				case "get":
					v, known := rows.Get("k")
					got = fmt.Sprint(v, known, " ")
				case "put":
					rows.Put("k", 8)
				case "more":
					rows.Put("k", 9)
				case "remove":
					rows.Remove("k")
				}
			}
			for i := range rows.Changed() {
				_, v, was := rows.Change(i)
				got += pointed(v) + "<" + pointed(was)
			}
		}) {
			got = "bug"
		}
		if got != c.want {
			t.Errorf("%s: %s: %q, want %q", c.name, c.do, got, c.want)
		}
	}
}

func pointed(v *int) string {
	if v == nil {
		return "nil"
	}
	return fmt.Sprint(*v)
}

// TestTableOrder: each row is asked for once and changed once, in the order of the first time.
func TestTableOrder(t *testing.T) {
	var rows Table[string, int]
	rows.Require([]string{"b", "a"}, true)
	rows.Require([]string{"a", "c"}, false)
	var asked []string
	for i := range rows.Asked() {
		k, locked := rows.AskedKey(i)
		asked = append(asked, fmt.Sprint(k, locked))
	}
	if want := []string{"btrue", "atrue", "cfalse"}; !slices.Equal(asked, want) {
		t.Errorf("asked for %v, want %v", asked, want)
	}
	for _, k := range []string{"c", "b", "c", "a"} {
		rows.Put(k, 1)
	}
	var changed []string
	for i := range rows.Changed() {
		k, _, _ := rows.Change(i)
		changed = append(changed, k)
	}
	if want := []string{"c", "b", "a"}; !slices.Equal(changed, want) {
		t.Errorf("changed %v, want %v", changed, want)
	}
}

// TestEmptyChanges: changes with anything in them are not empty.
func TestEmptyChanges(t *testing.T) {
	if !(Changes{}).Empty() {
		t.Error("nothing is something")
	}
	for i := range reflect.TypeFor[Changes]().NumField() {
		var none, one Changes
		name, f := reflect.TypeFor[Changes]().Field(i).Name, reflect.ValueOf(&one).Elem().Field(i)
		if f.Kind() != reflect.Slice {
			f.Set(reflect.ValueOf(NeedStoreNo).Convert(f.Type()))
		} else {
			reflect.ValueOf(&none).Elem().Field(i).Set(reflect.MakeSlice(f.Type(), 0, 1))
			f.Set(reflect.MakeSlice(f.Type(), 1, 1))
		}
		if one.Empty() || !none.Empty() {
			t.Errorf("%s: with one %v, with none %v", name, one.Empty(), none.Empty())
		}
	}
}

// TestMovesExplainQuantities: no quantity, and nothing that is held, changes without the move
// that explains it.
func TestMovesExplainQuantities(t *testing.T) {
	a := Stock{StoreID: "s", ProductID: "a", Quantity: 5, Held: 2, Moves: 3, MovedOn: 10}
	b := Stock{StoreID: "s", ProductID: "b", Quantity: 9, Moves: 1, MovedOn: 11}
	for _, c := range []struct {
		name  string
		spoil func(c *Changes)
		bug   bool
	}{
		{"right", func(*Changes) {}, false},
		{"the row of another product is saved as it is", func(c *Changes) { c.Stock = []Stock{b, c.Stock[0]} }, false},
		{"two moves", func(c *Changes) {
			more := c.Stock[0]
			more.Quantity -= 1
			next, move := more.MovedFrom(c.Stock[0], MoveSold, 12)
			c.Stock[0], c.StockMoves = next, append(c.StockMoves, move)
		}, false},
		{"a repair may skip numbers", func(c *Changes) { c.Stock[0].Moves, c.StockMoves[0].Seq, c.StockMoves[0].Kind = 9, 9, MoveRepaired }, false},
		{"a repair does not go back", func(c *Changes) { c.Stock[0].Moves, c.StockMoves[0].Seq, c.StockMoves[0].Kind = 3, 3, MoveRepaired }, true},
		{"another move skips none", func(c *Changes) { c.Stock[0].Moves, c.StockMoves[0].Seq = 9, 9 }, true},
		{"an old number", func(c *Changes) { c.Stock[0].Moves, c.StockMoves[0].Seq = 3, 3 }, true},
		{"another quantity after", func(c *Changes) { c.StockMoves[0].QuantityAfter++ }, true},
		{"another delta", func(c *Changes) { c.StockMoves[0].Delta++ }, true},
		{"another sum of what is held", func(c *Changes) { c.StockMoves[0].Held.After++ }, true},
		{"another change of what is held", func(c *Changes) { c.StockMoves[0].Held.Delta++ }, true},
		{"what is held is not told", func(c *Changes) { c.StockMoves[0].Held = nil }, true},
		{"another move before", func(c *Changes) { c.StockMoves[0].PreviousAt-- }, true},
		{"the row has another quantity", func(c *Changes) { c.Stock[0].Quantity++ }, true},
		{"the row holds more", func(c *Changes) { c.Stock[0].Held++ }, true},
		{"the row counts another move", func(c *Changes) { c.Stock[0].Moves++ }, true},
		{"the row was moved at another time", func(c *Changes) { c.Stock[0].MovedOn++ }, true},
		{"no move", func(c *Changes) { c.StockMoves = nil }, true},
		{"no row", func(c *Changes) { c.Stock = nil }, true},
		{"one move too many", func(c *Changes) { c.StockMoves = append(c.StockMoves, StockMove{StoreID: "s", ProductID: "b", Seq: 2}) }, true},
	} {
		var rows Rows
		for i, s := range []Stock{a, b} {
			rows.Stock.Require([]ProductKey{s.Key()}, true)
			rows.Stock.Fill(i, s)
		}
		held := a
		held.Quantity, held.Held = 3, 4
		next, move := held.MovedFrom(a, MoveHeld, 12)
		changes := Changes{Stock: []Stock{next}, StockMoves: []StockMove{move}}
		c.spoil(&changes)
		if got := panics(func() { rows.Prepare(&changes) }); got != c.bug {
			t.Errorf("%s: a bug: %v, want %v", c.name, got, c.bug)
		}
	}
}

// TestMovedFrom: a move tells of what is held if that changed, and if a check begins from it.
func TestMovedFrom(t *testing.T) {
	s := Stock{Quantity: 5, Held: 2, Moves: 3, MovedOn: 10}
	for _, c := range []struct {
		kind MoveKind
		held int64
		want *HeldChange
	}{{MoveSold, 2, nil}, {MoveHeld, 3, &HeldChange{1, 3}}, {MoveRepaired, 2, &HeldChange{0, 2}}} {
		now := s
		now.Held = c.held
		_, m := now.MovedFrom(s, c.kind, 12)
		if m.Kind != c.kind || !reflect.DeepEqual(m.Held, c.want) || m.Beside() != (c.want != nil) {
			t.Errorf("%s: %+v, beside: %v", c.kind, m.Held, m.Beside())
		}
		if m.Note = new(StockNote); !m.Beside() {
			t.Errorf("%s: a note does not fit into the row", c.kind)
		}
	}
}

// TestPrepare: a new store moves the number of the next one, if the command has asked for it, and the
// store of a new product is known to the commands behind it.
func TestPrepare(t *testing.T) {
	for _, c := range []struct{ next, no, want int64 }{{0, 5, 0}, {1, 1, 2}, {7, 6, 7}, {7, 7, 8}, {7, 9, 10}} {
		rows := &Rows{NextStoreNo: c.next}
		if rows.Prepare(&Changes{Stores: []Store{{ID: "s", No: c.no}}}); rows.NextStoreNo != c.want {
			t.Errorf("a store %d, and the next was %d: %d, want %d", c.no, c.next, rows.NextStoreNo, c.want)
		}
	}
	rows := &Rows{}
	rows.Products.Require([]ProductKey{{"s", "a"}}, true)
	rows.ProductStores.Require([]string{"a"}, true)
	rows.Prepare(&Changes{Products: []Product{{StoreID: "s", ID: "a"}}})
	if home, known := rows.ProductStores.Get("a"); !known || home != (ProductStore{"a", "s"}) {
		t.Errorf("%+v, %v", home, known)
	}
}
