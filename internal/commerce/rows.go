package commerce

import "fmt"

// ReplyKey is the scope of one idempotency key: partner, operation (mode,
// method and path of the request) and the key.
type ReplyKey struct{ PartnerID, Op, Key string }

// Reply is a stored answer. It is written in the transaction of its effect.
type Reply struct {
	ReplyKey
	Fingerprint [32]byte // SHA-256 of the decoded request, encoded again
	Status      int
	Body        []byte
	CreatedOn   int64 // Unix ms
	// Job will decide the answer, and closes the reply; no id: it is closed. Status
	// and Body are what is answered meanwhile; without a status there is nothing to
	// say yet.
	Job JobKey
}

// Open tells whether the answer is not decided yet.
func (r Reply) Open() bool { return r.Job.ID != "" }

// ProductStore says which store a product belongs to, which never changes.
type ProductStore struct{ ProductID, StoreID string }

// Needs names every row that a command may look at. Partners, keys, stores and
// categories may be changed only with Lock, because nearly every command looks at
// some and few change one. Replies, external ids and customers may only be added.
type Needs struct {
	Lock          bool
	Replies       []ReplyKey
	OpenReplies   []ReplyKey // that the command closes or releases
	Partners      []string
	APIKeys       []APIKeyRef
	Stores        []string
	NextStoreNo   bool
	Categories    []string
	ProductStores []string
	Products      []ProductKey
	Stock         []ProductKey
	Orders        []OrderKey
	NewOrders     []OrderKey // that the command makes, by ids that were just drawn: they are not looked up
	NewPayments   []OrderKey // of such orders
	NewRefunds    []RefundKey
	External      []ExternalKey
	Customers     []CustomerKey
	Payments      []OrderKey
	Refunds       []RefundKey
	Deliveries    []OrderKey
	Attention     []AttentionKey // of orders that are needed, too: their lock guards these rows
	NewDeliveries []OrderKey     // of orders that the command makes
	Places        []string       // digests of addresses
	Endpoints     []string       // of partners
	Mails         []MailKey
	Jobs          []JobKey
	EndedJobs     []JobKey // that the command ends, whatever has become of them: they are not loaded
	Sandbox       []string // sandbox objects
}

// Rows are the rows that a batch loaded, shared by its commands: each sees
// what those before it did.
type Rows struct {
	Replies       Table[ReplyKey, Reply]
	Partners      Table[string, Partner]
	APIKeys       Table[APIKeyRef, APIKey]
	Stores        Table[string, Store]
	Categories    Table[string, Category]
	ProductStores Table[string, ProductStore]
	Products      Table[ProductKey, Product]
	Stock         Table[ProductKey, Stock]
	Orders        Table[OrderKey, Order]
	External      Table[ExternalKey, ExternalRef]
	Customers     Table[CustomerKey, Customer]
	Payments      Table[OrderKey, Payment]
	Refunds       Table[RefundKey, Refund]
	Deliveries    Table[OrderKey, Delivery]
	Attention     Table[AttentionKey, Attention]
	Places        Table[string, Placed]
	Endpoints     Table[string, Endpoint]
	Mails         Table[MailKey, MailCount]
	Jobs          Table[JobKey, Job]
	Sandbox       Table[string, SandboxObject]

	// NextStoreNo is the number of the next new store; 0 if it was not asked for.
	NextStoreNo int64

	// What is only ever appended.
	Timeline   []TimelineEvent
	StockMoves []StockMove
	Ledger     []LedgerEntry
	Webhooks   []WebhookEvent
	Attempts   []WebhookAttempt
	Outbox     []OutboxMessage
	Notices    []CourierNotice
	NewJobs    []Job
}

// Require adds the rows that a command needs, none of them loaded yet.
func (r *Rows) Require(n Needs) {
	r.Replies.require(n.Replies, false)
	r.Replies.require(n.OpenReplies, true)
	r.Partners.require(n.Partners, n.Lock)
	r.APIKeys.require(n.APIKeys, n.Lock)
	r.Stores.require(n.Stores, n.Lock)
	r.Categories.require(n.Categories, n.Lock)
	r.ProductStores.require(n.ProductStores, false)
	r.Products.require(n.Products, true)
	r.Stock.require(n.Stock, true)
	r.Orders.require(n.Orders, true)
	r.Orders.expect(n.NewOrders)
	r.External.require(n.External, false)
	r.Customers.require(n.Customers, false)
	r.Payments.require(n.Payments, true)
	r.Payments.expect(n.NewPayments)
	r.Refunds.expect(n.NewRefunds)
	r.Refunds.require(n.Refunds, true)
	r.Deliveries.expect(n.NewDeliveries)
	r.Deliveries.require(n.Deliveries, true)
	r.Attention.require(n.Attention, true)
	r.Places.require(n.Places, true)
	r.Endpoints.require(n.Endpoints, true)
	r.Mails.require(n.Mails, true)
	r.Jobs.require(n.Jobs, true)
	r.Jobs.leaveUnseen(n.EndedJobs)
	r.Sandbox.require(n.Sandbox, true)
	if n.NextStoreNo && r.NextStoreNo == 0 {
		r.NextStoreNo = NeedStoreNo
	}
}

// NeedStoreNo in Rows.NextStoreNo asks the engine to load it.
const NeedStoreNo = -1

// Changes are what a command does: rows as they shall be, and what is
// appended. A command that is refused returns none.
type Changes struct {
	Replies     []Reply
	Released    []ReplyKey // of open replies, which are deleted: there is no answer to keep
	Partners    []Partner
	APIKeys     []APIKey
	Stores      []Store
	Categories  []Category
	Products    []Product
	Stock       []Stock
	StockMoves  []StockMove // of Stock, in its order
	Orders      []Order
	External    []ExternalRef
	Customers   []Customer
	Payments    []Payment
	Refunds     []Refund
	Deliveries  []Delivery
	Attention   []Attention
	Places      []Placed
	Endpoints   []Endpoint
	Mails       []MailCount
	Jobs        []Job
	DoneJobs    []JobKey // they are deleted; one that is gone already is no error
	Sandbox     []SandboxObject
	GoneSandbox []string // sandbox objects that are deleted
	Timeline    []TimelineEvent
	Ledger      []LedgerEntry
	Webhooks    []WebhookEvent
	Attempts    []WebhookAttempt
	Outbox      []OutboxMessage
	Notices     []CourierNotice
	NewJobs     []Job
}

// Apply puts the changes of an accepted command into the rows.
func (r *Rows) Apply(c Changes) {
	for _, v := range c.Replies {
		r.Replies.put(v.ReplyKey, v)
	}
	for _, k := range c.Released {
		r.Replies.remove(k)
	}
	for _, v := range c.Partners {
		r.Partners.put(v.ID, v)
	}
	for _, v := range c.APIKeys {
		r.APIKeys.put(APIKeyRef{v.PartnerID, v.Mode}, v)
	}
	for _, v := range c.Stores {
		r.Stores.put(v.ID, v)
		if r.NextStoreNo > 0 {
			r.NextStoreNo = max(r.NextStoreNo, v.No+1)
		}
	}
	for _, v := range c.Categories {
		r.Categories.put(v.ID, v)
	}
	for _, v := range c.Products {
		if _, known := r.Products.Get(v.Key()); !known {
			r.ProductStores.put(v.ID, ProductStore{v.ID, v.StoreID})
		}
		r.Products.put(v.Key(), v)
	}
	r.checkMoves(c.Stock, c.StockMoves)
	for _, v := range c.Stock {
		r.Stock.put(v.Key(), v)
	}
	for _, v := range c.Orders {
		r.Orders.put(v.Key(), v)
	}
	for _, v := range c.External {
		r.External.put(v.ExternalKey, v)
	}
	for _, v := range c.Customers {
		r.Customers.put(v.Key(), v)
	}
	r.applyOutside(c)
	r.Timeline = append(r.Timeline, c.Timeline...)
	r.StockMoves = append(r.StockMoves, c.StockMoves...)
	r.Ledger = append(r.Ledger, c.Ledger...)
	r.Webhooks = append(r.Webhooks, c.Webhooks...)
	r.Attempts = append(r.Attempts, c.Attempts...)
	r.Outbox = append(r.Outbox, c.Outbox...)
	r.Notices = append(r.Notices, c.Notices...)
	r.NewJobs = append(r.NewJobs, c.NewJobs...)
}

// applyOutside applies what stands for things outside of the process.
func (r *Rows) applyOutside(c Changes) {
	for _, v := range c.Payments {
		r.Payments.put(v.Key(), v)
	}
	for _, v := range c.Refunds {
		r.Refunds.put(v.Key(), v)
	}
	for _, v := range c.Deliveries {
		r.Deliveries.put(v.Key(), v)
	}
	for _, v := range c.Attention {
		r.Attention.put(v.Key(), v)
	}
	for _, v := range c.Places {
		r.Places.put(v.Address, v)
	}
	for _, v := range c.Endpoints {
		r.Endpoints.put(v.PartnerID, v)
	}
	for _, v := range c.Mails {
		r.Mails.put(v.MailKey, v)
	}
	for _, v := range c.Jobs {
		r.Jobs.put(v.Key(), v)
	}
	for _, k := range c.DoneJobs {
		r.Jobs.remove(k)
	}
	for _, v := range c.Sandbox {
		r.Sandbox.put(v.ID, v)
	}
	for _, id := range c.GoneSandbox {
		r.Sandbox.remove(id)
	}
}

// Changed tells whether anything is to be saved.
func (r *Rows) Changed() bool {
	return len(r.Replies.changed)+len(r.Partners.changed)+len(r.APIKeys.changed)+len(r.Stores.changed)+
		len(r.Categories.changed)+len(r.ProductStores.changed)+len(r.Products.changed)+len(r.Stock.changed)+
		len(r.Orders.changed)+len(r.External.changed)+len(r.Customers.changed)+len(r.Payments.changed)+len(r.Refunds.changed)+
		len(r.Deliveries.changed)+len(r.Attention.changed)+len(r.Places.changed)+len(r.Notices)+
		len(r.Endpoints.changed)+len(r.Mails.changed)+len(r.Jobs.changed)+len(r.Sandbox.changed)+
		len(r.Timeline)+len(r.Ledger)+len(r.Webhooks)+len(r.Attempts)+len(r.Outbox)+len(r.NewJobs) > 0
}

// Table holds the rows of one kind that were asked for, found or not.
type Table[K comparable, V any] struct {
	rows    map[K]*row[V]
	keys    []K // as asked for
	changed []K // in the order of their first change
}

type row[V any] struct {
	value  V
	was    V    // as stored
	known  bool // there is such a row, stored or put
	stored bool // it was there when the batch began
	locked bool // it may be changed
	listed bool // its key is among those to load
	unseen bool // it is not loaded, and may only be removed
	moved  bool
}

func (t *Table[K, V]) require(keys []K, lock bool) {
	if t.rows == nil && len(keys) > 0 {
		t.rows = make(map[K]*row[V], len(keys))
	}
	for _, k := range keys {
		r, asked := t.rows[k]
		if !asked {
			r = &row[V]{}
			t.rows[k] = r
		}
		if !r.listed { // no other command has asked to see it; one may take it to be new, or gone
			r.listed, r.unseen = true, false
			t.keys = append(t.keys, k)
		}
		r.locked = r.locked || lock
	}
}

// expect adds rows that are not loaded, since the command takes them to be new.
func (t *Table[K, V]) expect(keys []K) {
	if t.rows == nil && len(keys) > 0 {
		t.rows = make(map[K]*row[V], len(keys))
	}
	for _, k := range keys {
		if _, asked := t.rows[k]; !asked {
			t.rows[k] = &row[V]{}
		}
	}
}

// leaveUnseen adds rows that are to be removed, whether or not they are stored.
func (t *Table[K, V]) leaveUnseen(keys []K) {
	if t.rows == nil && len(keys) > 0 {
		t.rows = make(map[K]*row[V], len(keys))
	}
	for _, k := range keys {
		if _, asked := t.rows[k]; !asked {
			t.rows[k] = &row[V]{unseen: true}
		}
	}
}

// Keys are the keys of the rows to load.
func (t *Table[K, V]) Keys() []K { return t.keys }

// LockedKeys are for engines: the keys of rows that may be changed, and others.
func (t *Table[K, V]) LockedKeys() (locked, others []K) {
	for _, k := range t.keys {
		if t.rows[k].locked {
			locked = append(locked, k)
		} else {
			others = append(others, k)
		}
	}
	return locked, others
}

// Fill is for engines: the row is stored as v.
func (t *Table[K, V]) Fill(k K, v V) {
	r := t.rows[k]
	r.value, r.was, r.known, r.stored = v, v, true, true
}

// Get returns a row, and whether there is one. Looking at a row that was not
// asked for is a bug of the command and panics.
func (t *Table[K, V]) Get(k K) (V, bool) {
	r, asked := t.rows[k]
	if !asked || r.unseen {
		panic(fmt.Sprintf("commerce: %T %v was not in the needs of the command", *new(V), k))
	}
	return r.value, r.known
}

func (t *Table[K, V]) put(k K, v V) {
	r, asked := t.rows[k]
	if !asked || r.unseen {
		panic(fmt.Sprintf("commerce: %T %v is changed but was not in the needs of the command", v, k))
	}
	if r.stored && !r.locked {
		panic(fmt.Sprintf("commerce: %T %v is changed but the needs of the command did not lock it", v, k))
	}
	r.value, r.known = v, true
	t.move(k, r)
}

// remove deletes a row. One that is not there stays away.
func (t *Table[K, V]) remove(k K) {
	if r := t.rows[k]; r != nil && r.unseen {
		r.stored = true // it may be
		t.move(k, r)
		return
	}
	if _, known := t.Get(k); known {
		r := t.rows[k]
		r.value, r.known = *new(V), false
		t.move(k, r)
	}
}

func (t *Table[K, V]) move(k K, r *row[V]) {
	if !r.moved {
		r.moved = true
		t.changed = append(t.changed, k)
	}
}

// EachDeleted is for engines: it calls f with the key of each row that is to
// go, stored or never looked at.
func (t *Table[K, V]) EachDeleted(f func(K) error) error {
	for _, k := range t.changed {
		if r := t.rows[k]; r.stored && !r.known {
			if err := f(k); err != nil {
				return err
			}
		}
	}
	return nil
}

// EachChanged is for engines: it calls f with each changed row, in the order
// of their first change, and the stored one that it replaces; nil: there is none.
func (t *Table[K, V]) EachChanged(f func(v, was *V) error) error {
	for _, k := range t.changed {
		r := t.rows[k]
		if !r.known {
			continue
		}
		was := &r.was
		if !r.stored {
			was = nil
		}
		if err := f(&r.value, was); err != nil {
			return err
		}
	}
	return nil
}
