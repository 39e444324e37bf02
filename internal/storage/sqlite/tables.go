package sqlite

import (
	"fmt"
	"strings"

	"purveyor/internal/commerce"
	"purveyor/internal/storage/schema"
)

// table is a table of the registry with its statements.
type table struct {
	schema.Keyed
	name                            string
	selectSQL, insertSQL, deleteSQL string
	updateSQL                       [3]string // by the part of the row that is written
}

// tables and logs are those of the registry, in its order.
var (
	tables = prepareTables()
	logs   = prepareLogs()
)

func prepareTables() (list []*table) {
	for _, k := range schema.Tables {
		s := k.Shape()
		where := schema.Each(s.Key, "{c} = ?", " AND ")
		t := &table{Keyed: k, name: s.Name,
			selectSQL: s.ByKeySQL(),
			insertSQL: insertInto(s.Name, s.Columns()),
			deleteSQL: "DELETE FROM " + s.Name + " WHERE " + where}
		for _, part := range []schema.Part{schema.Mutable, schema.Hot} {
			if columns := s.Written(part); columns != "" {
				t.updateSQL[part] = "UPDATE " + s.Name + " SET " + schema.Each(columns, "{c} = ?", ", ") + " WHERE " + where
			}
		}
		list = append(list, t)
	}
	return list
}

// log is a table of the registry whose rows are only ever appended.
type log struct {
	schema.Appended
	insertSQL string
}

func prepareLogs() (list []log) {
	for _, l := range schema.Logs {
		s := l.Shape()
		list = append(list, log{l, insertInto(s.Name, s.Columns())})
	}
	return list
}

func insertInto(name, columns string) string {
	return "INSERT INTO " + name + " (" + columns + ") VALUES (?" + strings.Repeat(", ?", strings.Count(columns, ",")) + ")"
}

// load reads the rows that commands asked for.
func (t *table) load(conn *connection, r *commerce.Rows) error {
	for i := range t.Asked(r) {
		err := query(conn, t.selectSQL, func(b schema.Binder) { t.BindAsked(b, r, i) }, func(s *scanner) { t.Fill(s, r, i) })
		if err != nil {
			return fmt.Errorf("load %s: %w", t.name, err)
		}
	}
	return nil
}

// save writes the rows that changed, and deletes.
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
			err = exec(conn, t.deleteSQL, func(b schema.Binder) { t.BindChangedKey(b, r, i) })
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
		t.BindChangedKey(b, r, i)
	})
}

// append writes the rows that were appended.
func (l log) append(conn *connection, r *commerce.Rows) error {
	for i := range l.Len(r) {
		if !l.Has(r, i) {
			continue
		}
		if err := exec(conn, l.insertSQL, func(b schema.Binder) { l.BindAppended(b, r, i) }); err != nil {
			return fmt.Errorf("%s: %w", l.insertSQL, err)
		}
	}
	return nil
}
