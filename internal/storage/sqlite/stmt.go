package sqlite

import (
	"github.com/go-json-experiment/json"
	"zombiezen.com/go/sqlite"
)

// binder binds the parameters of a statement one after another.
type binder struct {
	stmt *sqlite.Stmt
	n    int
}

func (b *binder) next() int { b.n++; return b.n }

func (b *binder) text(v string) *binder { b.stmt.BindText(b.next(), v); return b }
func (b *binder) int(v int64) *binder   { b.stmt.BindInt64(b.next(), v); return b }
func (b *binder) bool(v bool) *binder   { b.stmt.BindBool(b.next(), v); return b }
func (b *binder) blob(v []byte) *binder { b.stmt.BindBytes(b.next(), v); return b }

// json binds bytes that hold JSON as text; nil is NULL.
func (b *binder) json(v []byte) *binder {
	if v == nil {
		b.stmt.BindNull(b.next())
		return b
	}
	return b.text(string(v))
}

// strings binds a list as a JSON array.
func (b *binder) strings(v []string) *binder {
	if len(v) == 0 {
		return b.text("[]")
	}
	data, err := json.Marshal(v)
	if err != nil {
		panic(err) // a []string always encodes
	}
	return b.text(string(data))
}

func (b *binder) float(v *float64) *binder {
	if v == nil {
		b.stmt.BindNull(b.next())
		return b
	}
	b.stmt.BindFloat(b.next(), *v)
	return b
}

// scanner reads the columns of a row one after another.
type scanner struct {
	stmt *sqlite.Stmt
	n    int
	err  error // the first value that was not what it should be
}

func (s *scanner) next() int { s.n++; return s.n - 1 }

func (s *scanner) text() string { return s.stmt.ColumnText(s.next()) }
func (s *scanner) int() int64   { return s.stmt.ColumnInt64(s.next()) }
func (s *scanner) bool() bool   { return s.stmt.ColumnBool(s.next()) }

func (s *scanner) blob() []byte {
	i := s.next()
	v := make([]byte, s.stmt.ColumnLen(i))
	s.stmt.ColumnBytes(i, v)
	return v
}

// json reads text as bytes; NULL is nil.
func (s *scanner) json() []byte {
	i := s.next()
	if s.stmt.ColumnIsNull(i) {
		return nil
	}
	return []byte(s.stmt.ColumnText(i))
}

func (s *scanner) strings() (v []string) {
	if data := s.text(); data != "[]" {
		s.fail(json.Unmarshal([]byte(data), &v))
	}
	return v
}

func (s *scanner) float() *float64 {
	i := s.next()
	if s.stmt.ColumnIsNull(i) {
		return nil
	}
	v := s.stmt.ColumnFloat(i)
	return &v
}

func (s *scanner) fail(err error) {
	if s.err == nil {
		s.err = err
	}
}

// observe sees every statement that is sent; tests set it.
var observe func(sql string)

// connection is a connection of the driver with the statements that it has prepared. They are
// kept here and not by the driver, which clears all bindings whenever a
// statement is used again: SQLite then takes a plan that looked at a binding
// for outdated and prepares the statement anew, up to a third of a read's cost.
// Every use binds every parameter, so nothing needs clearing.
type connection struct {
	*sqlite.Conn
	prepared map[string]*sqlite.Stmt
	// storeIDs has one copy of each store id that lists have met here, because
	// there are few stores and many rows.
	storeIDs map[string]string
}

// storeID reads a store id without an allocation, if it was met before.
func (c *connection) storeID(s *scanner) string {
	var buf [64]byte
	i := s.next()
	if n := s.stmt.ColumnLen(i); n <= len(buf) {
		s.stmt.ColumnBytes(i, buf[:n])
		if id, met := c.storeIDs[string(buf[:n])]; met {
			return id
		}
	}
	id := s.stmt.ColumnText(i)
	const most = 10_000
	if len(c.storeIDs) < most {
		c.storeIDs[id] = id
	}
	return id
}

func (c *connection) prepare(sql string) (*sqlite.Stmt, error) {
	if stmt, ok := c.prepared[sql]; ok {
		return stmt, nil
	}
	stmt, err := c.Prepare(sql)
	if err == nil {
		c.prepared[sql] = stmt
	}
	return stmt, err
}

// query runs a prepared statement and calls row for each of its rows.
func query(c *connection, sql string, bind func(*binder), row func(*scanner)) error {
	if observe != nil {
		observe(sql)
	}
	stmt, err := c.prepare(sql)
	if err != nil {
		return err
	}
	defer stmt.Reset()
	bind(&binder{stmt: stmt})
	s := scanner{stmt: stmt}
	for s.err == nil {
		more, err := stmt.Step()
		if err != nil || !more {
			return err
		}
		s.n = 0
		row(&s)
	}
	return s.err
}

func exec(c *connection, sql string, bind func(*binder)) error {
	return query(c, sql, bind, func(*scanner) {})
}

func noArgs(*binder) {}
