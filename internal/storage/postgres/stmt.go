package postgres

import (
	"bytes"
	"cmp"
	"context"
	"encoding/binary"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"purveyor/internal/storage/schema"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgtype"
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

// kind is the type of a column.
type kind uint8

const (
	text kind = iota
	bigint
	boolean
	bytea
	double
)

var kinds = [...]struct {
	sql       string
	oid, list uint32 // of the type, and of arrays of it
}{
	text:    {"text", pgtype.TextOID, pgtype.TextArrayOID},
	bigint:  {"bigint", pgtype.Int8OID, pgtype.Int8ArrayOID},
	boolean: {"boolean", pgtype.BoolOID, pgtype.BoolArrayOID},
	bytea:   {"bytea", pgtype.ByteaOID, pgtype.ByteaArrayOID},
	double:  {"double precision", pgtype.Float8OID, pgtype.Float8ArrayOID},
}

// value is the value of one column of one row. It is encoded here, because a batch has
// thousands and pgx would look for a way to encode each of them.
type value struct {
	kind kind
	null bool
	room uint32 // the capacity that the first value of a statement reserves; 0 for the others
	bits uint64 // of a number or a boolean
	text string // or the bytes of a bytea
}

// compareValues orders values of one column, which are not NULL.
func compareValues(a, b value) int {
	return cmp.Or(cmp.Compare(a.bits, b.bits), cmp.Compare(a.text, b.text))
}

func sameValue(a, b value) bool { return compareValues(a, b) == 0 }

// appendTo appends the binary form.
func (v *value) appendTo(buf []byte) []byte {
	switch v.kind {
	case text, bytea:
		return append(buf, v.text...)
	case boolean:
		return append(buf, byte(v.bits))
	default:
		return binary.BigEndian.AppendUint64(buf, v.bits)
	}
}

func (v *value) encode(as kind, buf []byte) ([]byte, error) {
	if v.null {
		return nil, nil
	}
	return v.appendTo(buf), v.check(as)
}

func (v *value) reserves() int { return int(v.room) }

func (v *value) check(as kind) error {
	if v.kind != as {
		return fmt.Errorf("postgres: %s is bound where %s is wanted", kinds[v.kind].sql, kinds[as].sql)
	}
	return nil
}

// values are rows, as they were bound, one after another.
type values []value

func (v *values) put(x value) schema.Binder { *v = append(*v, x); return v }

// Text implements schema.Binder, as do the others.
func (v *values) Text(x string) schema.Binder { return v.put(value{kind: text, text: x}) }

// Int binds a bigint.
func (v *values) Int(x int64) schema.Binder { return v.put(value{kind: bigint, bits: uint64(x)}) }

// Bool binds a boolean.
func (v *values) Bool(x bool) schema.Binder {
	if x {
		return v.put(value{kind: boolean, bits: 1})
	}
	return v.put(value{kind: boolean})
}

// Blob binds a bytea, which is never NULL.
func (v *values) Blob(x []byte) schema.Binder { return v.put(value{kind: bytea, text: string(x)}) }

// JSON binds text: the bytes are kept as they are.
func (v *values) JSON(x []byte) schema.Binder {
	return v.put(value{kind: text, null: x == nil, text: string(x)})
}

// Float binds a double precision.
func (v *values) Float(x *float64) schema.Binder {
	if x == nil {
		return v.put(value{kind: double, null: true})
	}
	return v.put(value{kind: double, bits: math.Float64bits(*x)})
}

// makeRoom has the first value make room for all.
func (v values) makeRoom() {
	for i := range v {
		v[0].room += uint32(len(v[i].text)) + 12 // a number with its length
	}
}

// args are the values as arguments of a statement, before others.
func (v values) args(others ...any) []any {
	v.makeRoom()
	args := make([]any, len(v), len(v)+len(others))
	for i := range v {
		args[i] = &v[i]
	}
	return append(args, others...)
}

// arrays returns the columns of rows with width values each, as arguments of a statement.
func (v values) arrays(width int) []any {
	v.makeRoom()
	list, args := make([]array, width), make([]any, width)
	for i := range list {
		list[i] = array{values: v[i:], step: width}
		args[i] = &list[i]
	}
	return args
}

// unnest is the FROM item that turns the arrays into rows like this one.
func (v values) unnest() string {
	list := make([]string, len(v))
	for i := range v {
		list[i] = "$" + strconv.Itoa(i+1) + "::" + kinds[v[i].kind].sql + "[]"
	}
	return "unnest(" + strings.Join(list, ", ") + ")"
}

// array is a column of rows: the first value, and each that stands step further.
type array struct {
	values values
	step   int
}

// eachOnce is the array with each of its values once.
func (a array) eachOnce() *array {
	var list values
	for i := 0; i < len(a.values); i += a.step {
		list = append(list, a.values[i])
	}
	slices.SortFunc(list, compareValues)
	return &array{values: slices.CompactFunc(list, sameValue), step: 1}
}

func (a *array) reserves() int {
	if len(a.values) == 0 {
		return 0
	}
	return a.values[0].reserves()
}

// encode appends the binary form of an array: dimensions, whether there is a
// NULL, element type; length and first index of the one dimension; then each
// element after its length, which is -1 for NULL.
func (a *array) encode(as kind, buf []byte) ([]byte, error) {
	head := len(buf)
	for _, n := range [...]uint32{1, 0, kinds[as].oid, 0, 1} {
		buf = binary.BigEndian.AppendUint32(buf, n)
	}
	n := uint32(0)
	for i := 0; i < len(a.values); i += a.step {
		v := &a.values[i]
		if err := v.check(as); err != nil {
			return nil, err
		}
		n++
		at := len(buf)
		buf = binary.BigEndian.AppendUint32(buf, math.MaxUint32)
		if v.null {
			buf[head+7] = 1
			continue
		}
		buf = v.appendTo(buf)
		binary.BigEndian.PutUint32(buf[at:], uint32(len(buf)-at-4))
	}
	binary.BigEndian.PutUint32(buf[head+12:], n)
	return buf, nil
}

// codec is pgx's codec of a type, but for arguments of ours, which encode themselves.
type codec[T argument] struct {
	pgtype.Codec
	kind kind
	kept *kept
}

type argument interface {
	encode(as kind, buf []byte) ([]byte, error)
	reserves() int // the bytes of the statement that it begins
}

// PlanEncode implements pgtype.Codec. Text is the same in both formats; of all
// other types the binary one is preferred.
func (c codec[T]) PlanEncode(m *pgtype.Map, oid uint32, format int16, v any) pgtype.EncodePlan {
	if _, own := v.(T); own && format == c.PreferredFormat() {
		return c
	}
	return c.Codec.PlanEncode(m, oid, format, v)
}

// Encode implements pgtype.EncodePlan.
func (c codec[T]) Encode(v any, buf []byte) ([]byte, error) {
	own := v.(T)
	return own.encode(c.kind, c.kept.grow(buf, own.reserves()))
}

// teach has a connection take values and arrays as arguments.
func teach(m *pgtype.Map) {
	var statement kept // pgx has sent one when it begins the next
	for k, of := range kinds {
		one, _ := m.TypeForOID(of.oid) // pgx knows them all
		list, _ := m.TypeForOID(of.list)
		m.RegisterType(&pgtype.Type{Name: one.Name, OID: one.OID, Codec: codec[*value]{one.Codec, kind(k), &statement}})
		m.RegisterType(&pgtype.Type{Name: list.Name, OID: list.OID, Codec: codec[*array]{list.Codec, kind(k), &statement}})
	}
}
