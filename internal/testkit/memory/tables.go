package memory

import (
	"cmp"
	"reflect"
	"slices"

	"purveyor/internal/commerce"
	"purveyor/internal/storage/schema"
)

// table keeps the rows of one kind.
type table[K comparable, V any] struct {
	rows map[K]V
	key  func(*V) K
	in   func(*commerce.Rows) *commerce.Table[K, V]
	// allowed returns what constraint a row breaks; nil: there is none.
	allowed func(*V) string
	// stored takes away what is no part of the stored row; nil: there is nothing.
	stored func(*V)
}

// kind is a table of any rows.
type kind interface {
	load(*commerce.Rows)
	check(*commerce.Rows) error
	save(*commerce.Rows)
}

func newTable[K comparable, V any](of *schema.Table[K, V]) *table[K, V] {
	return &table[K, V]{rows: map[K]V{}, key: of.KeyOf, in: of.Rows}
}

func (t *table[K, V]) load(r *commerce.Rows) {
	rows := t.in(r)
	for i := range rows.Asked() {
		k, _ := rows.AskedKey(i)
		if v, there := t.rows[k]; there {
			rows.Fill(i, clone(v))
		}
	}
}

func (t *table[K, V]) check(r *commerce.Rows) error {
	rows := t.in(r)
	for i := range rows.Changed() {
		_, v, was := rows.Change(i)
		if v == nil {
			continue
		}
		if _, there := t.rows[t.key(v)]; there && was == nil {
			return refusal("it is there already", *v)
		}
		if t.allowed != nil {
			if broken := t.allowed(v); broken != "" {
				return refusal(broken, *v)
			}
		}
	}
	return nil
}

func (t *table[K, V]) save(r *commerce.Rows) {
	rows := t.in(r)
	for i := range rows.Changed() {
		if k, v, _ := rows.Change(i); v != nil {
			t.put(*v)
		} else {
			delete(t.rows, k)
		}
	}
}

func (t *table[K, V]) put(v V) {
	v = clone(v)
	if t.stored != nil {
		t.stored(&v)
	}
	t.rows[t.key(&v)] = v
}

// selected gives the rows that are wanted, in order. Rows that are equal in it come
// in any order.
func selected[K comparable, V any](rows map[K]V, wanted func(V) bool, order func(a, b V) int) (list []V) {
	for _, v := range rows {
		if wanted(v) {
			list = append(list, clone(v))
		}
	}
	slices.SortFunc(list, order)
	return list
}

func byRunAt(a, b commerce.Job) int {
	return cmp.Or(cmp.Compare(a.RunAt, b.RunAt), cmp.Compare(a.Slot, b.Slot), cmp.Compare(a.ID, b.ID))
}

// clone copies a value with all that it points to.
func clone[V any](v V) V {
	return cloned(reflect.ValueOf(&v).Elem()).Interface().(V)
}

func cloned(v reflect.Value) reflect.Value {
	out := reflect.New(v.Type()).Elem()
	out.Set(v)
	switch v.Kind() {
	case reflect.Pointer:
		if !v.IsNil() {
			out.Set(reflect.New(v.Type().Elem()))
			out.Elem().Set(cloned(v.Elem()))
		}
	case reflect.Slice:
		if !v.IsNil() {
			out.Set(reflect.MakeSlice(v.Type(), v.Len(), v.Len()))
			for i := range v.Len() {
				out.Index(i).Set(cloned(v.Index(i)))
			}
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if out.Field(i).CanSet() {
				out.Field(i).Set(cloned(v.Field(i)))
			}
		}
	}
	return out
}

// tables are those of commerce.Rows.
type tables struct {
	replies       *table[commerce.ReplyKey, commerce.Reply]
	partners      *table[string, commerce.Partner]
	apiKeys       *table[commerce.APIKeyRef, commerce.APIKey]
	stores        *table[string, commerce.Store]
	categories    *table[string, commerce.Category]
	productStores *table[string, commerce.ProductStore]
	products      *table[commerce.ProductKey, commerce.Product]
	stock         *table[commerce.ProductKey, commerce.Stock]
	orders        *table[commerce.OrderKey, commerce.Order]
	external      *table[commerce.ExternalKey, commerce.ExternalRef]
	customers     *table[commerce.CustomerKey, commerce.Customer]
	payments      *table[commerce.OrderKey, commerce.Payment]
	refunds       *table[commerce.RefundKey, commerce.Refund]
	deliveries    *table[commerce.OrderKey, commerce.Delivery]
	attention     *table[commerce.AttentionKey, commerce.Attention]
	places        *table[string, commerce.GeocodedAddress]
	endpoints     *table[string, commerce.Endpoint]
	mails         *table[commerce.MailKey, commerce.MailCount]
	jobs          *table[commerce.JobKey, commerce.Job]
	sandbox       *table[string, commerce.SandboxObject]
}

func (t *tables) all() []kind {
	return []kind{t.replies, t.partners, t.apiKeys, t.stores, t.categories, t.productStores, t.products, t.stock, t.orders, t.external,
		t.customers, t.payments, t.refunds, t.deliveries, t.attention, t.places, t.endpoints, t.mails, t.jobs, t.sandbox}
}

func newTables() tables {
	t := tables{
		replies:       newTable(&schema.Replies),
		partners:      newTable(&schema.Partners),
		apiKeys:       newTable(&schema.APIKeys),
		stores:        newTable(&schema.Stores),
		categories:    newTable(&schema.Categories),
		productStores: newTable(&schema.ProductStores),
		products:      newTable(&schema.Products),
		stock:         newTable(&schema.Stock),
		orders:        newTable(&schema.Orders),
		external:      newTable(&schema.ExternalIDs),
		customers:     newTable(&schema.Customers),
		payments:      newTable(&schema.Payments),
		refunds:       newTable(&schema.Refunds),
		deliveries:    newTable(&schema.Deliveries),
		attention:     newTable(&schema.Attention),
		places:        newTable(&schema.Places),
		endpoints:     newTable(&schema.Endpoints),
		mails:         newTable(&schema.Mails),
		jobs:          newTable(&schema.Jobs),
		sandbox:       newTable(&schema.SandboxObjects),
	}
	t.stock.allowed = func(s *commerce.Stock) string {
		if s.Quantity < 0 {
			return "stock is below zero"
		}
		return ""
	}
	t.payments.allowed = func(p *commerce.Payment) string {
		if p.RefundedCents+p.PendingCents > p.CapturedCents {
			return "more goes back than was paid"
		}
		return ""
	}
	t.jobs.stored = func(j *commerce.Job) { j.Awaited, j.Event, j.Order, j.Payment = false, nil, nil, nil }
	return t
}
