package postgres

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"math"

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

// query runs a statement and calls row for each of its rows.
func query(ctx context.Context, q querier, row func(*scanner), sql string, args ...any) error {
	return unobserved(ctx, q, row, seen(sql), args...)
}

// unobserved is query for statements about the catalog of the server. Tests do not check
// their plans, because the server owns these tables and their indexes.
func unobserved(ctx context.Context, q querier, row func(*scanner), sql string, args ...any) error {
	rows, err := q.Query(ctx, sql, args...)
	if err != nil {
		return err
	}
	return each(rows, row)
}

// queue adds a statement to a batch, which calls row for each of its rows.
func queue(q *pgx.Batch, row func(*scanner), sql string, args ...any) {
	q.Queue(seen(sql), args...).Query(func(rows pgx.Rows) error { return each(rows, row) })
}

func exec(ctx context.Context, e execer, sql string, args ...any) (pgconn.CommandTag, error) {
	return e.Exec(ctx, seen(sql), args...)
}

// scanner reads the columns of a row one after another.
type scanner struct {
	raw [][]byte
	n   int
	err error // of the first value that could not be read
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

// Bool reads a boolean; NULL is false.
func (s *scanner) Bool() bool { b := s.next(); return len(b) > 0 && b[0] != 0 }

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
