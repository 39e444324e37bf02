package schema

import (
	"reflect"
	"slices"
	"strings"
	"testing"

	"purveyor/internal/commerce"
)

// TestEveryFieldHasATable: no field of Needs, Rows or Changes is without a table
// that loads and saves it. A field that no descriptor names would drop writes
// without an error.
func TestEveryFieldHasATable(t *testing.T) {
	for of, functions := range map[any][]string{
		&commerce.Needs{}:   {"Needs", "Created", "Locked", "Ended"},
		&commerce.Rows{}:    {"Rows"},
		&commerce.Changes{}: {"Changes", "Deleted"},
	} {
		var named []uintptr
		for _, d := range All {
			for _, name := range functions {
				if f := reflect.ValueOf(d).Elem().FieldByName(name); f.IsValid() && !f.IsNil() {
					named = append(named, f.Call([]reflect.Value{reflect.ValueOf(of)})[0].Pointer())
				}
			}
		}
		fields := reflect.ValueOf(of).Elem()
		for i := range fields.NumField() {
			switch name := fields.Type().Field(i).Name; name {
			case "Lock", "NextStoreNo", "Appended": // no rows of a table
			default:
				if !slices.Contains(named, fields.Field(i).Addr().Pointer()) {
					t.Errorf("no table of schema.All names %T.%s", of, name)
				}
			}
		}
	}
}

// TestShapes: every table is spread by a column of its key, or stands on each node,
// and binds as many columns as it names.
func TestShapes(t *testing.T) {
	var met []string
	for _, d := range All {
		s := d.Shape()
		if slices.Contains(met, s.Name) && d != Described(&NewJobs) {
			t.Errorf("%s is listed twice", s.Name)
		}
		met = append(met, s.Name)
		if s.Shard != Everywhere && !slices.Contains(Split(s.Key), s.Shard) {
			t.Errorf("%s is spread by %q, which is no column of its key", s.Name, s.Shard)
		}
		for _, column := range Split(s.Columns()) {
			if secret := strings.Contains(column, "secret") || strings.Contains(column, "token") || strings.Contains(column, "password"); secret && !slices.Contains(Split(Join(s.Secret, s.Hidden)), column) ||
				!secret && slices.Contains(Split(s.Secret), column) {
				t.Errorf("%s.%s: its name says whether it is a secret, and Secret and Hidden say the opposite", s.Name, column)
			}
		}
		for part, columns := range map[Part]string{Whole: s.Columns(), Mutable: s.Mutable, Hot: s.Hot} {
			if _, keyed := d.(Keyed); (!keyed || columns == "") && part != Whole {
				continue
			}
			var b bound
			if d.BindZero(&b, part); len(b) != len(Split(columns)) {
				t.Errorf("%s binds %d values to %s", s.Name, len(b), columns)
			}
		}
	}
}

// TestAppliedIsChanged: whatever a command changes, there is something to save.
func TestAppliedIsChanged(t *testing.T) {
	fields := reflect.TypeFor[commerce.Changes]()
	for i := range fields.NumField() {
		name := fields.Field(i).Name
		if name == "Released" || name == "DoneJobs" || name == "EndedSessions" || name == "StockMoves" || strings.HasPrefix(name, "Gone") {
			continue // nothing is there to be deleted, and moves come with their stock
		}
		var c commerce.Changes
		reflect.ValueOf(&c).Elem().Field(i).Set(reflect.MakeSlice(fields.Field(i).Type, 1, 1))
		var rows commerce.Rows
		needs := commerce.Needs{Lock: true}
		needed := reflect.ValueOf(&needs).Elem()
		for k := range needed.NumField() {
			if f := needed.Field(k); f.Kind() == reflect.Slice {
				f.Set(reflect.MakeSlice(f.Type(), 1, 1)) // of the empty key
			}
		}
		Require(&rows, &needs)
		if Changed(&rows) {
			t.Fatal("nothing was applied")
		}
		Apply(&rows, &c)
		if !Changed(&rows) {
			t.Errorf("%s: nothing is to be saved", name)
		}
	}
}
