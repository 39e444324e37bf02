package schema

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"purveyor/internal/commerce"
)

// Plain is a table without its Go types, for copies, sweeps and distribution.
type Plain struct {
	Name, Key, Columns, Shard string
	Expired                   []Expired
	kinds                     []*kind
}

// Plains are the tables of All, each once.
var Plains = plains()

func plains() (list []*Plain) {
	for _, d := range All {
		s := d.Shape()
		if slices.ContainsFunc(list, func(p *Plain) bool { return p.Name == s.Name }) {
			continue // NewJobs
		}
		var k kinds
		d.BindZero(&k, Whole)
		list = append(list, &Plain{s.Name, s.Key, s.Columns(), s.Shard, s.Expired, k.list})
	}
	return list
}

// kind is the kind of a column: how a value is copied, and the SQL that adds the values up
// (their lengths, unless they are numbers).
type kind struct {
	move func(Scanner, Binder)
	sum  string
}

var (
	textKind  = &kind{func(s Scanner, b Binder) { b.Text(s.Text()) }, "sum(octet_length(%s))"}
	jsonKind  = &kind{func(s Scanner, b Binder) { b.JSON(s.JSON()) }, "sum(octet_length(%s))"}
	blobKind  = &kind{func(s Scanner, b Binder) { b.Blob(s.Blob()) }, "sum(octet_length(%s))"}
	intKind   = &kind{func(s Scanner, b Binder) { b.Int(s.Int()) }, "sum(%s %% 1000000007)"} // of times, the sum would not fit
	boolKind  = &kind{func(s Scanner, b Binder) { b.Bool(s.Bool()) }, "sum(CASE WHEN %s THEN 1 ELSE 0 END)"}
	floatKind = &kind{func(s Scanner, b Binder) { b.Float(s.Float()) }, "count(%s)"} // a sum would depend on the order
)

// kinds is a Binder that learns the kinds of columns from a row.
type kinds struct{ list []*kind }

func (k *kinds) add(a *kind) Binder    { k.list = append(k.list, a); return k }
func (k *kinds) Text(string) Binder    { return k.add(textKind) }
func (k *kinds) Int(int64) Binder      { return k.add(intKind) }
func (k *kinds) Bool(bool) Binder      { return k.add(boolKind) }
func (k *kinds) Blob([]byte) Binder    { return k.add(blobKind) }
func (k *kinds) JSON([]byte) Binder    { return k.add(jsonKind) }
func (k *kinds) Float(*float64) Binder { return k.add(floatKind) }

// Move reads the columns of a row and binds them.
func (p *Plain) Move(s Scanner, b Binder) {
	for _, k := range p.kinds {
		k.move(s, b)
	}
}

// MoveKey reads the columns of a key and binds them.
func (p *Plain) MoveKey(s Scanner, b Binder) {
	for _, k := range p.kinds[:len(Split(p.Key))] {
		k.move(s, b)
	}
}

// SumsSQL counts the rows and adds up each column; the same for every engine.
func (p *Plain) SumsSQL() string {
	list := []string{"count(*)"}
	for i, column := range Split(p.Columns) {
		list = append(list, "CAST(coalesce("+fmt.Sprintf(p.kinds[i].sum, column)+", 0) AS BIGINT)")
	}
	return "SELECT " + strings.Join(list, ", ") + " FROM " + p.Name
}

// ReadSums reads the row of SumsSQL.
func (p *Plain) ReadSums(s Scanner) []int64 {
	sums := make([]int64, 1+len(p.kinds))
	for i := range sums {
		sums[i] = s.Int()
	}
	return sums
}

// State is the state of a database that is not in the rows of its tables.
type State struct {
	Stamp       int64 // the newest of a batch, Unix ms
	NextStoreNo int64
	Saved       int64 // changes with each batch, if Stamp need not
	// TrackingSecret stays the same in a copy, so that the pages that customers know stay where they are.
	TrackingSecret string
}

// Snapshot is one state of a database.
type Snapshot interface {
	State() (State, error)
	// Each calls row for every row of the table, in any order.
	Each(t *Plain, row func(Scanner) error) error
	// Items calls item for every product of a store, or of all stores (empty), in the order of
	// keys.
	Items(storeID string, item func(commerce.Item) error) error
	// Sums returns the row of SumsSQL.
	Sums(t *Plain) ([]int64, error)
}

// EachStore calls store for every store, in any order.
func EachStore(from Snapshot, store func(commerce.Store) error) error {
	return from.Each(plain(Stores.Name), func(s Scanner) error { return store(Stores.Scan(s, s.Text())) })
}

// EachCategory calls category for every category, in any order.
func EachCategory(from Snapshot, category func(commerce.Category) error) error {
	return from.Each(plain(Categories.Name), func(s Scanner) error { return category(Categories.Scan(s, s.Text())) })
}

// CountItems counts the products of all stores.
func CountItems(from Snapshot) (int64, error) {
	sums, err := from.Sums(plain(ProductStores.Name))
	if err != nil {
		return 0, err
	}
	return sums[0], nil
}

func plain(name string) *Plain {
	return Plains[slices.IndexFunc(Plains, func(p *Plain) bool { return p.Name == name })]
}

// ItemsSQL reads all products in the order of their keys, or, with a condition on store_id,
// those of a store.
func ItemsSQL(where string) string {
	return "SELECT products.store_id, products.id, " + Qualified("products", Products.Values()) + ", " + Qualified("stock", Stock.Values()) +
		" FROM products JOIN stock ON stock.store_id = products.store_id AND stock.product_id = products.id" +
		where + " ORDER BY products.store_id, products.id"
}

// ScanItem reads a row of ItemsSQL.
func ScanItem(s Scanner) commerce.Item {
	key := commerce.ProductKey{StoreID: s.Text(), ProductID: s.Text()}
	return commerce.Item{Product: Products.Scan(s, key), Stock: Stock.Scan(s, key)}
}

// Filling is a database that is being filled, in one transaction.
type Filling interface {
	Sums(t *Plain) ([]int64, error)
	// Insert inserts the rows with which each calls its argument.
	Insert(t *Plain, each func(row func(Scanner) error) error) error
	SetState(State) error
}

// ErrNotEmpty is the refusal of a database that holds rows already.
var ErrNotEmpty = errors.New("the database to copy to is not empty")

// Copy copies every row, and compares the sums of both databases. It returns the number of
// rows of each table. From each table it takes the sums first, so that a Snapshot knows how many
// rows Each will be asked for.
func Copy(from Snapshot, to Filling) (map[string]int64, error) {
	for _, t := range Plains {
		if sums, err := to.Sums(t); err != nil {
			return nil, err
		} else if sums[0] > 0 {
			return nil, fmt.Errorf("%w: %d rows in %s", ErrNotEmpty, sums[0], t.Name)
		}
	}
	state, err := from.State()
	if err != nil {
		return nil, err
	}
	rows := map[string]int64{}
	for _, t := range Plains {
		if rows[t.Name], err = copyTable(t, from, to); err != nil {
			return nil, fmt.Errorf("copy %s: %w", t.Name, err)
		}
	}
	return rows, to.SetState(state)
}

func copyTable(t *Plain, from Snapshot, to Filling) (int64, error) {
	want, err := from.Sums(t)
	if err != nil {
		return 0, err
	}
	if err := to.Insert(t, func(row func(Scanner) error) error { return from.Each(t, row) }); err != nil {
		return 0, err
	}
	got, err := to.Sums(t)
	if err != nil {
		return 0, err
	}
	if !slices.Equal(got, want) {
		return 0, fmt.Errorf("what has arrived is not what was sent: count and sums of %s are %d, not %d", t.Columns, got, want)
	}
	return want[0], nil
}
