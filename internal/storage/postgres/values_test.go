package postgres

import (
	"bytes"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"purveyor/internal/commerce"
	"purveyor/internal/storage/schema"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgtype"
)

// TestEncoding compares what is sent with what pgx would send of Go's own values:
// the values of a column alone, and as an array.
func TestEncoding(t *testing.T) {
	texts := []string{"", "a", "it's \"{,}\" \\ NULL", "\x01\n\t\u00e9\u4e16\U0001f600\u2028", strings.Repeat("long ", 5000), "a"}
	jsons := [][]byte{nil, []byte("{}"), {}, []byte(`{"a": "\u00e9"}`), nil}
	zero, pi, inf, nan := 0.0, math.Pi, math.Inf(-1), math.NaN()
	encodes(t, text, texts, (*values).Text, texts)
	encodes(t, text, jsons, (*values).JSON, []any{nil, "{}", "", `{"a": "\u00e9"}`, nil})
	encodes(t, text, [][]byte{nil}, (*values).JSON, []any{nil})
	ints := []int64{0, 1, -1, math.MaxInt64, math.MinInt64, 1_800_000_000_000}
	encodes(t, bigint, ints, (*values).Int, ints)
	encodes(t, boolean, []bool{true, false}, (*values).Bool, []bool{true, false})
	encodes(t, bytea, [][]byte{nil, {}, {0, 255, '\\'}, []byte("text")}, (*values).Blob, [][]byte{{}, {}, {0, 255, '\\'}, []byte("text")})
	floats := []*float64{&zero, nil, &pi, &inf, &nan}
	encodes(t, double, floats, (*values).Float, floats)
}

// encodes binds values, each beside one of another column, and has pgx encode
// what it would be given without them.
func encodes[T, P any, B any](t *testing.T, k kind, list []T, bind func(*values, T) B, plain []P) {
	t.Helper()
	var alone, rows, none values
	for _, v := range list {
		bind(&alone, v)
		bind(&rows, v)
		rows.Bool(true)
	}
	pgxs, ours := pgtype.NewMap(), pgtype.NewMap()
	teach(ours)
	want, got := encoded(t, pgxs, kinds[k].list, []any{plain}), encoded(t, ours, kinds[k].list, rows.arrays(2)[:1])
	if !bytes.Equal(got[0], want[0]) {
		t.Errorf("%s: the array is sent as\n%q, not\n%q", kinds[k].sql, got[0], want[0])
	}
	want, got = encoded(t, pgxs, kinds[k].list, []any{[]P{}}), encoded(t, ours, kinds[k].list, []any{&array{none, 1}})
	if !bytes.Equal(got[0], want[0]) {
		t.Errorf("%s: an empty array is sent as %q, not %q", kinds[k].sql, got[0], want[0])
	}
	var args []any
	for _, v := range plain {
		args = append(args, v)
	}
	want, got = encoded(t, pgxs, kinds[k].oid, args), encoded(t, ours, kinds[k].oid, alone.args())
	for i := range want {
		if !bytes.Equal(got[i], want[i]) || (got[i] == nil) != (want[i] == nil) {
			t.Errorf("%s: %v is sent as %q, not %q", kinds[k].sql, plain[i], got[i], want[i])
		}
	}
}

// encoded is what is sent of arguments whose parameters are of one type. All
// formats are those that pgx takes for Go's own values.
func encoded(t *testing.T, m *pgtype.Map, oid uint32, args []any) [][]byte {
	t.Helper()
	var b pgx.ExtendedQueryBuilder
	if err := b.Build(m, &pgconn.StatementDescription{ParamOIDs: slices.Repeat([]uint32{oid}, len(args))}, args); err != nil {
		t.Fatal(err)
	}
	for _, format := range b.ParamFormats {
		if of, _ := pgtype.NewMap().TypeForOID(oid); format != of.Codec.PreferredFormat() {
			t.Errorf("%v of type %d is sent in the format %d", args, oid, format)
		}
	}
	return b.ParamValues
}

// TestWrongKind: what a parameter does not take is not sent.
func TestWrongKind(t *testing.T) {
	m := pgtype.NewMap()
	teach(m)
	row := values{}
	row.Int(1)
	for oid, arg := range map[uint32]any{
		pgtype.TextOID: row.args()[0], pgtype.TextArrayOID: row.arrays(1)[0], pgtype.Int4OID: row.args()[0],
		pgtype.Int8OID: row.arrays(1)[0], pgtype.Int8ArrayOID: row.args()[0],
	} {
		var b pgx.ExtendedQueryBuilder
		if err := b.Build(m, &pgconn.StatementDescription{ParamOIDs: []uint32{oid}}, []any{arg}); err == nil {
			t.Errorf("%T is sent for type %d as %q", arg, oid, b.ParamValues[0])
		}
	}
}

// TestGroups: keys come in the order of their columns, whatever order they were
// asked for in, and each is found again by its last column.
func TestGroups(t *testing.T) {
	var keys []commerce.ProductKey
	for i := range 30 {
		keys = append(keys, commerce.ProductKey{StoreID: fmt.Sprintf("sto_%d", i*7%3), ProductID: fmt.Sprintf("prd_%02d", i*11%30)})
	}
	rows := make([]int, len(keys))
	for i := range rows {
		rows[i] = i
	}
	groups := groups(textOf("stock").inOrder(rows, func(b schema.Binder, i int) { schema.Stock.BindKey(b, keys[i]) }))
	if len(groups) != 3 {
		t.Fatalf("%d groups of 3 stores", len(groups))
	}
	for i, g := range groups {
		store := fmt.Sprintf("sto_%d", i)
		if g.prefix[0].text != store || len(g.rows) != 10 || !slices.IsSortedFunc(g.rows, func(a, b int) int { return strings.Compare(keys[a].ProductID, keys[b].ProductID) }) {
			t.Errorf("group %d: %+v", i, g)
		}
		for n, row := range g.rows {
			k := keys[row]
			if k.StoreID != store || g.last[n].text != k.ProductID || g.find([]byte(k.ProductID)) != row {
				t.Errorf("%+v in the group of %s, beside %s, found as %d", k, store, g.last[n].text, g.find([]byte(k.ProductID)))
			}
		}
	}
}

// textOf is the statements of a table.
func textOf(name string) *sqlText {
	i := slices.IndexFunc(tables, func(t *table) bool { return t.Name == name })
	return &tables[i].sqlText
}
