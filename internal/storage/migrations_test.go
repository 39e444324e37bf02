package storage

import (
	"errors"
	"strings"
	"testing"
	"testing/fstest"
)

func TestMigrations(t *testing.T) {
	files := fstest.MapFS{"migrations/0002_more.sql": {Data: []byte("two")}, "migrations/0001_core.sql": {Data: []byte("one")}}
	list, err := Migrations(files)
	if err != nil || len(list) != 2 || list[0].Script != "one" || list[1].Number != 2 {
		t.Errorf("%v %v", list, err)
	}
	if got, want := list[0].Digest(), "7692c3ad3540bb803c020b3aee66cd8887123234ea0c6e7143c0add73ff431ed"; got != want { // printf one | sha256sum
		t.Errorf("digest %s, want %s", got, want)
	}
	for _, name := range []string{"migrations/0004_gap.sql", "migrations/0002_twice.sql"} {
		files := fstest.MapFS{"migrations/0001_core.sql": {}, "migrations/0002_more.sql": {}, name: {}}
		if list, err := Migrations(files); err == nil {
			t.Errorf("%s: %v", name, list)
		}
	}
}

func TestMigratedCheck(t *testing.T) {
	known := []Migration{{1, "0001", "one"}, {2, "0002", "two"}}
	one, two := known[0].Digest(), known[1].Digest()
	for _, c := range []struct {
		is   Migrated
		want error
	}{
		{Migrated{0, nil}, nil},
		{Migrated{1, nil}, nil},
		{Migrated{1, map[int]string{1: one}}, nil},
		{Migrated{2, map[int]string{1: one, 2: two}}, nil},
		{Migrated{3, map[int]string{1: one, 2: two, 3: two}}, ErrNewerDatabase},
		{Migrated{3, nil}, ErrNewerDatabase},
		{Migrated{2, nil}, ErrOtherSchema},
		{Migrated{1, map[int]string{}}, ErrOtherSchema},
		{Migrated{2, map[int]string{1: one}}, ErrOtherSchema},
		{Migrated{1, map[int]string{1: two}}, ErrOtherSchema},
		{Migrated{2, map[int]string{1: one, 2: one}}, ErrOtherSchema},
	} {
		if err := c.is.Check(known); !errors.Is(err, c.want) {
			t.Errorf("%+v: %v, want %v", c.is, err, c.want)
		}
	}
}

func TestShapeCompare(t *testing.T) {
	want := Shape{"table a": "", "column a.x": "INT", "column a.y": "TEXT", "index a_x": "a (x)"}
	for _, c := range []struct {
		is   Shape
		says string
	}{
		{Shape{"table a": "", "column a.x": "INT", "column a.y": "TEXT", "index a_x": "a (x)"}, ""},
		{Shape{}, "table a is missing"},
		{Shape{"table a": "", "column a.x": "INT", "index a_x": "a (x)"}, "column a.y is missing"},
		{Shape{"table a": "", "column a.x": "TEXT", "column a.y": "TEXT", "index a_x": "a (x)"}, "column a.x is (TEXT), not (INT)"},
		{Shape{"table a": "", "column a.x": "INT", "column a.y": "TEXT", "index a_x": "a (x)", "index a_y": ""}, "index a_y is not one"},
	} {
		err := c.is.Compare(want)
		if (err == nil) != (c.says == "") || (err != nil && !strings.Contains(err.Error(), c.says)) {
			t.Errorf("%v: %v, want %q", c.is, err, c.says)
		}
	}
}
