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
		{Migrated{0, 0, nil}, nil},
		{Migrated{1, 1, nil}, nil},
		{Migrated{1, 1, map[int]string{1: one}}, nil},
		{Migrated{2, 2, map[int]string{1: one, 2: two}}, nil},
		{Migrated{2, 1, map[int]string{1: one, 2: two}}, nil},
		{Migrated{4, 2, map[int]string{1: one, 2: two, 3: two, 4: two}}, nil},
		{Migrated{4, 2, map[int]string{1: one, 2: one, 3: two, 4: two}}, ErrOtherSchema},
		{Migrated{4, 3, map[int]string{1: one, 2: two, 3: two, 4: two}}, ErrNewerDatabase},
		{Migrated{3, 3, map[int]string{1: one, 2: two, 3: two}}, ErrNewerDatabase},
		{Migrated{3, 3, nil}, ErrNewerDatabase},
		{Migrated{2, 2, nil}, ErrOtherSchema},
		{Migrated{1, 1, map[int]string{}}, ErrOtherSchema},
		{Migrated{2, 2, map[int]string{1: one}}, ErrOtherSchema},
		{Migrated{1, 1, map[int]string{1: two}}, ErrOtherSchema},
		{Migrated{2, 2, map[int]string{1: one, 2: one}}, ErrOtherSchema},
	} {
		if err := c.is.Check(known); !errors.Is(err, c.want) {
			t.Errorf("%+v: %v, want %v", c.is, err, c.want)
		}
	}
}

func TestMigratedNumbers(t *testing.T) {
	before := Migrated{Version: 31}
	if is := before.Numbers(map[string]int64{"stamp": 7}); is.Version != 31 || is.Oldest != 31 {
		t.Errorf("before 32: %+v", is)
	}
	if is := before.Numbers(map[string]int64{SchemaNumber: 40, OldestProgram: 35}); is.Version != 40 || is.Oldest != 35 {
		t.Errorf("from 32 on: %+v", is)
	}
}

func TestMigratedAdmit(t *testing.T) {
	known := []Migration{{1, "0001", "one"}, {2, "0002", "two"}}
	recorded := map[int]string{1: known[0].Digest()}
	newer := Migrated{3, 1, recorded}
	if err := newer.Admit(Access{Whole: true}, known); !errors.Is(err, ErrNewerDatabase) {
		t.Errorf("more than is known: %v", err)
	}
	for _, c := range []struct {
		is      Migrated
		pending int
		want    [4]error // for no access, Existing, Current, both
	}{
		{Migrated{0, 0, nil}, 2, [4]error{nil, ErrNoDatabase, nil, ErrNoDatabase}},
		{Migrated{1, 1, nil}, 1, [4]error{nil, nil, ErrOlderDatabase, ErrOlderDatabase}},
		{Migrated{1, 1, recorded}, 1, [4]error{nil, nil, ErrOlderDatabase, ErrOlderDatabase}},
		{Migrated{2, 1, recorded}, 0, [4]error{}},
		{Migrated{3, 1, recorded}, 0, [4]error{}},
	} {
		if got := len(c.is.Pending(known)); got != c.pending {
			t.Errorf("%+v: %d pending, want %d", c.is, got, c.pending)
		}
		for i, want := range c.want {
			a := Access{Existing: i&1 != 0, Current: i&2 != 0}
			if err := c.is.Admit(a, known); !errors.Is(err, want) {
				t.Errorf("%+v, %+v: %v, want %v", c.is, a, err, want)
			}
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
