package sqlite

import (
	"fmt"
	"sync/atomic"

	"purveyor/internal/commerce"
	"purveyor/internal/storage/schema"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"zombiezen.com/go/sqlite"
)

// binder binds the parameters of a statement one after another.
type binder struct {
	stmt *sqlite.Stmt
	n    int
}

func (b *binder) next() int { b.n++; return b.n }

// Text implements schema.Binder, as do the others.
func (b *binder) Text(v string) schema.Binder { b.stmt.BindText(b.next(), v); return b }

// Int binds an integer.
func (b *binder) Int(v int64) schema.Binder { b.stmt.BindInt64(b.next(), v); return b }

// Bool binds 0 or 1.
func (b *binder) Bool(v bool) schema.Binder { b.stmt.BindBool(b.next(), v); return b }

// Blob binds bytes.
func (b *binder) Blob(v []byte) schema.Binder { b.stmt.BindBytes(b.next(), v); return b }

// JSON binds text.
func (b *binder) JSON(v []byte) schema.Binder {
	if v == nil {
		b.stmt.BindNull(b.next())
		return b
	}
	return b.Text(string(v))
}

// Float binds a number.
func (b *binder) Float(v *float64) schema.Binder {
	if v == nil {
		b.stmt.BindNull(b.next())
		return b
	}
	b.stmt.BindFloat(b.next(), *v)
	return b
}

// bind binds the arguments of a statement, a list of strings as JSON.
func bind(args ...any) func(schema.Binder) {
	return func(b schema.Binder) {
		for _, arg := range args {
			switch v := arg.(type) {
			case string:
				b.Text(v)
			case int:
				b.Int(int64(v))
			case int64:
				b.Int(v)
			case float64:
				b.Float(&v)
			case commerce.Millis:
				b.Int(int64(v))
			case bool:
				b.Bool(v)
			case []byte:
				b.Blob(v)
			case []string:
				list, _ := json.Marshal(v, jsontext.AllowInvalidUTF8(true)) // a text that is not UTF-8 is the only fault
				b.JSON(list)
			default:
				panic(fmt.Sprintf("a parameter of type %T", arg))
			}
		}
	}
}

// scanner reads the columns of a row one after another.
type scanner struct {
	stmt *sqlite.Stmt
	n    int
	err  error // of the first value that could not be read
}

func (s *scanner) next() int { s.n++; return s.n - 1 }

// Text implements schema.Scanner, as do the others.
func (s *scanner) Text() string { return s.stmt.ColumnText(s.next()) }

// Int reads an integer.
func (s *scanner) Int() int64 { return s.stmt.ColumnInt64(s.next()) }

// Bool reads 0 or 1.
func (s *scanner) Bool() bool { return s.stmt.ColumnBool(s.next()) }

// Blob reads bytes.
func (s *scanner) Blob() []byte {
	i := s.next()
	v := make([]byte, s.stmt.ColumnLen(i))
	s.stmt.ColumnBytes(i, v)
	return v
}

// JSON reads text.
func (s *scanner) JSON() []byte {
	i := s.next()
	if s.stmt.ColumnIsNull(i) {
		return nil
	}
	return []byte(s.stmt.ColumnText(i))
}

// Float reads a number.
func (s *scanner) Float() *float64 {
	i := s.next()
	if s.stmt.ColumnIsNull(i) {
		return nil
	}
	v := s.stmt.ColumnFloat(i)
	return &v
}

// Fail implements schema.Scanner.
func (s *scanner) Fail(err error) {
	if s.err == nil {
		s.err = err
	}
}

// observe sees every statement that is sent. Tests set it, while checkpoints run
// beside them.
var observe atomic.Pointer[func(sql string)]

// connection is a connection of the driver with its prepared statements. They are
// kept here and not by the driver, which clears all bindings whenever it reuses a
// statement: SQLite then considers a plan that looked at a binding outdated, and
// prepares the statement again, which takes up to a third of a read's time. Every use
// binds every parameter, so nothing needs clearing.
type connection struct {
	*sqlite.Conn
	prepared map[string]*sqlite.Stmt
	// The statement that was used last: a batch sends it again for row after row.
	last    *sqlite.Stmt
	lastSQL string
	// storeIDs has one copy of each store id that lists have met here, because
	// there are few stores and many rows.
	storeIDs map[string]string
	// stamp is the newest of the database while PRAGMA data_version is dataVersion.
	dataVersion, stamp int64
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
	if sql == c.lastSQL {
		return c.last, nil
	}
	stmt, ok := c.prepared[sql]
	if !ok {
		var err error
		if stmt, err = c.Prepare(sql); err != nil {
			return nil, err
		}
		c.prepared[sql] = stmt
	}
	c.last, c.lastSQL = stmt, sql
	return stmt, nil
}

// query runs a prepared statement and calls row for each of its rows.
func query(c *connection, sql string, bind func(schema.Binder), row func(*scanner)) error {
	if observe := observe.Load(); observe != nil {
		(*observe)(sql)
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

func exec(c *connection, sql string, bind func(schema.Binder)) error {
	return query(c, sql, bind, func(*scanner) {})
}

func noArgs(schema.Binder) {}
