package sqlite

import (
	"fmt"
	"strings"

	"purveyor/internal/commerce"
	"purveyor/internal/storage/schema"
)

// table is a table of the registry with its statements.
type table struct {
	schema.Described
	keyed                           schema.Keyed // nil: a log
	name                            string
	selectSQL, insertSQL, deleteSQL string
	updateSQL                       [3]string // by the part of the row that is written
}

// tables are those of the registry, in its order.
var tables = prepareTables()

func prepareTables() (list []*table) {
	for _, d := range schema.All {
		s := d.Shape()
		where := schema.Each(s.Key, "{c} = ?", " AND ")
		t := &table{Described: d, name: s.Name,
			selectSQL: s.ByKeySQL(),
			insertSQL: insertInto(s.Name, s.Columns()),
			deleteSQL: "DELETE FROM " + s.Name + " WHERE " + where}
		t.keyed, _ = d.(schema.Keyed)
		for _, part := range []schema.Part{schema.Mutable, schema.Hot} {
			if columns := s.Written(part); columns != "" {
				t.updateSQL[part] = "UPDATE " + s.Name + " SET " + schema.Each(columns, "{c} = ?", ", ") + " WHERE " + where
			}
		}
		list = append(list, t)
	}
	return list
}

func insertInto(name, columns string) string {
	return "INSERT INTO " + name + " (" + columns + ") VALUES (?" + strings.Repeat(", ?", strings.Count(columns, ",")) + ")"
}

// load reads the rows that commands asked for.
func (t *table) load(conn *connection, r *commerce.Rows) error {
	if t.keyed == nil {
		return nil
	}
	for i := range t.keyed.Asked(r) {
		err := query(conn, t.selectSQL, func(b schema.Binder) { t.keyed.BindAsked(b, r, i) }, func(s *scanner) { t.keyed.Fill(s, r, i) })
		if err != nil {
			return fmt.Errorf("load %s: %w", t.name, err)
		}
	}
	return nil
}

// save writes the rows that changed or were added, and deletes.
func (t *table) save(conn *connection, r *commerce.Rows) error {
	for i := range t.Changed(r) {
		var err error
		switch t.Change(r, i) {
		case schema.Insert:
			err = exec(conn, t.insertSQL, func(b schema.Binder) { t.BindChanged(b, r, i, schema.Whole) })
		case schema.Update:
			err = t.update(conn, r, i, schema.Mutable)
		case schema.UpdateHot:
			err = t.update(conn, r, i, schema.Hot)
		case schema.Delete:
			err = exec(conn, t.deleteSQL, func(b schema.Binder) { t.keyed.BindChangedKey(b, r, i) })
		}
		if err != nil {
			return fmt.Errorf("save %s: %w", t.name, err)
		}
	}
	return nil
}

func (t *table) update(conn *connection, r *commerce.Rows, i int, part schema.Part) error {
	return exec(conn, t.updateSQL[part], func(b schema.Binder) {
		t.BindChanged(b, r, i, part)
		t.keyed.BindChangedKey(b, r, i)
	})
}
