package commerce

import (
	"fmt"
	"reflect"
)

// ReplyKey is the scope of one idempotency key: partner, operation (mode,
// method and path of the request) and the key.
type ReplyKey struct{ PartnerID, Op, Key string }

// Reply is a stored answer. It is written in the transaction of its effect.
type Reply struct {
	ReplyKey
	Fingerprint [32]byte // SHA-256 of the decoded request, encoded again
	Status      int
	Body        []byte
	CreatedOn   Millis
	// Job is the job that will decide the answer and close the reply. Without an id, the
	// reply is closed. Until then, Status and Body are the answer for the meantime; a
	// Status of 0 means that there is none.
	Job JobKey
}

// Open reports whether the answer is not decided yet.
func (r Reply) Open() bool { return r.Job.ID != "" }

// ProductStore is the store of a product, which never changes.
type ProductStore struct{ ProductID, StoreID string }

// Needs names every row that a command may look at. Partners, keys, stores and
// categories may be changed only with Lock, because nearly every command looks at
// some and few change one. Replies, external ids and customers may only be added.
type Needs struct {
	Lock          bool
	Replies       []ReplyKey
	OpenReplies   []ReplyKey // that the command closes or releases
	Partners      []string
	APIKeys       []string
	FormerKeys    []FormerKeyRef
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
	Endpoints     []string       // by their owners
	Mails         []MailKey
	Jobs          []JobKey
	EndedJobs     []JobKey // that the command ends. They are not loaded, and need not exist
	Sandbox       []string // sandbox objects
	Faults        []string // by partners
	Certified     []string // certifications, by partners
	Users         []string
	Members       []string
	Sessions      []string
	SignInLinks   []string // of users
	SignInCounts  []string
	SavedViews    []SavedViewKey
	HourSums      []DaySumsKey
	SumPositions  []string
	FeedPlaces    []string
	ProductNews   []ProductKey
}

// Rows are the rows that a batch loaded, shared by its commands: each sees
// what those before it did.
type Rows struct {
	Replies       Table[ReplyKey, Reply]
	Partners      Table[string, Partner]
	APIKeys       Table[string, APIKey]
	FormerKeys    Table[FormerKeyRef, FormerKey]
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
	Places        Table[string, GeocodedAddress]
	Endpoints     Table[string, Endpoint]
	Mails         Table[MailKey, MailCount]
	Jobs          Table[JobKey, Job]
	Sandbox       Table[string, SandboxObject]
	Faults        Table[string, Faults]
	Certified     Table[string, Certification]
	Users         Table[string, User]
	Members       Table[string, Member]
	Sessions      Table[string, Session]
	SignInLinks   Table[string, SignInLink]
	SignInCounts  Table[string, SignInCount]
	SavedViews    Table[SavedViewKey, SavedView]
	HourSums      Table[DaySumsKey, DaySums]
	SumPositions  Table[string, SumPosition]
	FeedPlaces    Table[string, FeedPlace]
	ProductNews   Table[ProductKey, ProductNews]

	// NextStoreNo is the number of the next new store; 0 if it was not asked for.
	NextStoreNo int64

	// Appended are the rows that are only ever added, of all commands: the fields
	// of Changes that no table above holds. The others stay empty.
	Appended Changes
}

// NeedStoreNo in Rows.NextStoreNo asks the engine to load it.
const NeedStoreNo = -1

// Changes are the effect of a command: rows in their new state, and appended rows. A command
// that is refused returns none.
type Changes struct {
	Replies        []Reply
	Released       []ReplyKey // of open replies, which are deleted: there is no answer to keep
	Partners       []Partner
	APIKeys        []APIKey
	FormerKeys     []FormerKey
	GoneFormerKeys []FormerKeyRef // they are deleted
	Stores         []Store
	Categories     []Category
	Products       []Product
	Stock          []Stock
	StockMoves     []StockMove // of Stock, in its order
	Orders         []Order
	External       []ExternalRef
	Customers      []Customer
	Payments       []Payment
	Refunds        []Refund
	Deliveries     []Delivery
	Attention      []Attention
	Places         []GeocodedAddress
	Endpoints      []Endpoint
	GoneEndpoints  []string // by their owners; they are deleted
	Mails          []MailCount
	Jobs           []Job
	DoneJobs       []JobKey // they are deleted; one that is gone already is no error
	Sandbox        []SandboxObject
	GoneSandbox    []string // sandbox objects that are deleted
	Faults         []Faults
	Certified      []Certification
	Timeline       []TimelineEvent
	Ledger         []LedgerEntry
	Webhooks       []WebhookEvent
	Attempts       []WebhookAttempt
	Outbox         []UnsentMessage
	StrayCallbacks []StrayCallback
	NewJobs        []Job
	Audit          []AuditEntry
	Users          []User
	Members        []Member
	GoneMembers    []string // they are deleted
	Sessions       []Session
	EndedSessions  []string // they are deleted
	SignInLinks    []SignInLink
	SignInCounts   []SignInCount
	SavedViews     []SavedView
	GoneViews      []SavedViewKey // they are deleted
	HourSums       []DaySums
	SumPositions   []SumPosition
	FeedPlaces     []FeedPlace
	ProductNews    []ProductNews
	// GoneProductNews are deleted.
	GoneProductNews []ProductKey
}

// Empty reports whether nothing is changed.
func (c Changes) Empty() bool {
	fields := reflect.ValueOf(c)
	for i := range fields.NumField() {
		if f := fields.Field(i); f.Kind() == reflect.Slice && f.Len() > 0 || f.Kind() != reflect.Slice && !f.IsZero() {
			return false
		}
	}
	return true
}

// Prepare checks the changes of an accepted command, and adds to the rows what
// follows from them: the store of a new product, the number of the next store.
// It panics if a quantity changes without its stock move.
func (r *Rows) Prepare(c *Changes) {
	for _, v := range c.Stores {
		if r.NextStoreNo > 0 {
			r.NextStoreNo = max(r.NextStoreNo, v.No+1)
		}
	}
	for _, v := range c.Products {
		if _, known := r.Products.Get(v.Key()); !known {
			r.ProductStores.Put(v.ID, ProductStore{v.ID, v.StoreID})
		}
	}
	r.checkMoves(c.Stock, c.StockMoves)
}

// Table holds the rows of one kind that the commands of a batch asked for,
// whether they are stored or not.
type Table[K comparable, V any] struct {
	rows    map[K]*row[K, V]
	asked   []*row[K, V] // to load, in the order in which commands asked for them
	changed []*row[K, V] // in the order of their first change
}

type row[K comparable, V any] struct {
	key    K
	value  V
	was    V    // as stored
	known  bool // there is such a row, stored or put
	stored bool // it was there when the batch began
	locked bool // it may be changed
	listed bool // it is among those to load
	unseen bool // it is not loaded, and may only be removed
	moved  bool
}

// Require adds rows that are to be loaded; with lock they may be changed.
func (t *Table[K, V]) Require(keys []K, lock bool) {
	for _, k := range keys {
		r, _ := t.row(k, len(keys))
		if !r.listed { // no other command has asked to see it; one may take it to be new, or gone
			r.listed, r.unseen = true, false
			t.asked = append(t.asked, r)
		}
		r.locked = r.locked || lock
	}
}

// Expect adds rows that are not loaded, since the command takes them to be new.
func (t *Table[K, V]) Expect(keys []K) {
	for _, k := range keys {
		t.row(k, len(keys))
	}
}

// LeaveUnseen adds rows that are to be removed, whether or not they are stored.
func (t *Table[K, V]) LeaveUnseen(keys []K) {
	for _, k := range keys {
		if r, added := t.row(k, len(keys)); added {
			r.unseen = true
		}
	}
}

// row finds a row, or adds one that is one of so many.
func (t *Table[K, V]) row(k K, of int) (r *row[K, V], added bool) {
	if t.rows == nil {
		t.rows = make(map[K]*row[K, V], of)
	}
	r, asked := t.rows[k]
	if !asked {
		r = &row[K, V]{key: k}
		t.rows[k] = r
	}
	return r, !asked
}

// Asked is for engines: how many rows are to be loaded.
func (t *Table[K, V]) Asked() int { return len(t.asked) }

// AskedKey is for engines: the key of a row to load, and whether commands may
// change the row.
func (t *Table[K, V]) AskedKey(i int) (k K, locked bool) { return t.asked[i].key, t.asked[i].locked }

// Fill is for engines: row i of those to load is stored as v.
func (t *Table[K, V]) Fill(i int, v V) {
	r := t.asked[i]
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

// Put changes or adds a row.
func (t *Table[K, V]) Put(k K, v V) {
	r, asked := t.rows[k]
	if !asked || r.unseen {
		panic(fmt.Sprintf("commerce: %T %v is changed but was not in the needs of the command", v, k))
	}
	if r.stored && !r.locked {
		panic(fmt.Sprintf("commerce: %T %v is changed but the needs of the command did not lock it", v, k))
	}
	r.value, r.known = v, true
	t.move(r)
}

// Remove deletes a row. One that is not there stays away.
func (t *Table[K, V]) Remove(k K) {
	if r := t.rows[k]; r != nil && r.unseen {
		r.stored = true // it may be
		t.move(r)
		return
	}
	if _, known := t.Get(k); known {
		r := t.rows[k]
		r.value, r.known = *new(V), false
		t.move(r)
	}
}

func (t *Table[K, V]) move(r *row[K, V]) {
	if !r.moved {
		r.moved = true
		t.changed = append(t.changed, r)
	}
}

// Changed is how many rows changed.
func (t *Table[K, V]) Changed() int { return len(t.changed) }

// Change is for engines: row i of those that changed as it is to be, and as it
// is stored. No v: the row is to be deleted; no was: it is not stored. A row that
// was added and removed by the same batch has neither.
func (t *Table[K, V]) Change(i int) (k K, v, was *V) {
	r := t.changed[i]
	if r.known {
		v = &r.value
	}
	if r.stored {
		was = &r.was
	}
	return r.key, v, was
}

// Decision is the effect of a job's outcome on the stored reply that waits
// for it (Job.ReplyTo).
type Decision int

// The decisions.
const (
	Undecided Decision = iota // the job goes on, and the reply waits
	Decided                   // the answer is known: the reply is closed
	Refused                   // there is nothing to answer with: the key is free again
	// Amended: the answer says more than before. A reply that waits for another job
	// still waits, and one that is closed already is written again.
	Amended
)
