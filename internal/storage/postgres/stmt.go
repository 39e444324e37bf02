package postgres

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"math"
	"strconv"
	"strings"

	"purveyor/internal/storage/schema"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// observe sees every statement that is sent; tests set it.
var observe func(sql string)

func seen(sql string) string {
	if observe != nil {
		observe(sql)
	}
	return sql
}

type querier interface {
	Query(ctx context.Context, sql string, args ...any) (pgx.Rows, error)
}

type execer interface {
	Exec(ctx context.Context, sql string, args ...any) (pgconn.CommandTag, error)
}

func query(ctx context.Context, q querier, sql string, args ...any) (pgx.Rows, error) {
	return q.Query(ctx, seen(sql), args...)
}

func exec(ctx context.Context, e execer, sql string, args ...any) (pgconn.CommandTag, error) {
	return e.Exec(ctx, seen(sql), args...)
}

// columns collects the values of rows as one array for each column, which
// unnest turns into rows again.
type columns struct {
	arrays []any
	types  []string
	n      int // the next column of the row
}

func push[T any](c *columns, sqlType string, v T) schema.Binder {
	if c.n == len(c.arrays) {
		c.arrays, c.types = append(c.arrays, []T(nil)), append(c.types, sqlType)
	}
	c.arrays[c.n] = append(c.arrays[c.n].([]T), v)
	c.n++
	return c
}

func (c *columns) nextRow() { c.n = 0 }

// Text implements schema.Binder, as do the others.
func (c *columns) Text(v string) schema.Binder { return push(c, "text", v) }

// Int binds a bigint.
func (c *columns) Int(v int64) schema.Binder { return push(c, "bigint", v) }

// Bool binds a boolean.
func (c *columns) Bool(v bool) schema.Binder { return push(c, "boolean", v) }

// Blob binds a bytea, which is never NULL.
func (c *columns) Blob(v []byte) schema.Binder {
	if v == nil {
		v = []byte{}
	}
	return push(c, "bytea", v)
}

// JSON binds text: the bytes are kept as they are.
func (c *columns) JSON(v []byte) schema.Binder {
	if v == nil {
		return push[*string](c, "text", nil)
	}
	text := string(v)
	return push(c, "text", &text)
}

// Float binds a double precision.
func (c *columns) Float(v *float64) schema.Binder { return push(c, "double precision", v) }

// unnest is the FROM item that turns the arrays into rows.
func (c *columns) unnest() string {
	list := make([]string, len(c.types))
	for i, t := range c.types {
		list[i] = "$" + strconv.Itoa(i+1) + "::" + t + "[]"
	}
	return "unnest(" + strings.Join(list, ", ") + ")"
}

// scanner reads the columns of a row one after another.
type scanner struct {
	raw [][]byte
	n   int
	err error // the first value that was not what it should be
}

// next is the bytes of the next column; nil for NULL. Statements are prepared
// and all types are known, so numbers come in their binary form.
func (s *scanner) next() []byte { s.n++; return s.raw[s.n-1] }

// Text implements schema.Scanner, as do the others.
func (s *scanner) Text() string { return string(s.next()) }

// Int reads a bigint or an int; NULL is 0.
func (s *scanner) Int() int64 {
	switch b := s.next(); len(b) {
	case 0:
		return 0
	case 4:
		return int64(int32(binary.BigEndian.Uint32(b)))
	case 8:
		return int64(binary.BigEndian.Uint64(b))
	default:
		s.Fail(fmt.Errorf("%d bytes are no integer", len(b)))
		return 0
	}
}

// Bool reads a boolean.
func (s *scanner) Bool() bool { return s.next()[0] != 0 }

// Blob reads a bytea.
func (s *scanner) Blob() []byte { return append([]byte{}, s.next()...) }

// JSON reads text, or NULL.
func (s *scanner) JSON() []byte { return bytes.Clone(s.next()) }

// Float reads a double precision, or NULL.
func (s *scanner) Float() *float64 {
	b := s.next()
	if b == nil {
		return nil
	}
	v := math.Float64frombits(binary.BigEndian.Uint64(b))
	return &v
}

// Fail implements schema.Scanner.
func (s *scanner) Fail(err error) {
	if s.err == nil {
		s.err = err
	}
}

// each calls row for each row, and closes the rows.
func each(rows pgx.Rows, row func(*scanner)) error {
	defer rows.Close()
	s := scanner{}
	for s.err == nil && rows.Next() {
		s.raw, s.n = rows.RawValues(), 0
		row(&s)
	}
	if s.err != nil {
		return s.err
	}
	rows.Close()
	return rows.Err()
}

// values collects the values of rows as the arguments of one statement.
type values []any

func (v *values) put(x any) schema.Binder { *v = append(*v, x); return v }

// Text implements schema.Binder, as do the others.
func (v *values) Text(x string) schema.Binder { return v.put(x) }

// Int binds a bigint.
func (v *values) Int(x int64) schema.Binder { return v.put(x) }

// Bool binds a boolean.
func (v *values) Bool(x bool) schema.Binder { return v.put(x) }

// Blob binds a bytea, which is never NULL.
func (v *values) Blob(x []byte) schema.Binder { return v.put(append([]byte{}, x...)) }

// JSON binds text, or NULL.
func (v *values) JSON(x []byte) schema.Binder {
	if x == nil {
		return v.put(nil)
	}
	return v.put(string(x))
}

// Float binds a double precision, or NULL.
func (v *values) Float(x *float64) schema.Binder { return v.put(x) }
