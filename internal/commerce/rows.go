package commerce

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
	EndedJobs     []JobKey // that the command ends. They are not loaded, and need not exist
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
	Places        Table[string, GeocodedAddress]
	Endpoints     Table[string, Endpoint]
	Mails         Table[MailKey, MailCount]
	Jobs          Table[JobKey, Job]
	Sandbox       Table[string, SandboxObject]

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
	Mails          []MailCount
	Jobs           []Job
	DoneJobs       []JobKey // they are deleted; one that is gone already is no error
	Sandbox        []SandboxObject
	GoneSandbox    []string // sandbox objects that are deleted
	Timeline       []TimelineEvent
	Ledger         []LedgerEntry
	Webhooks       []WebhookEvent
	Attempts       []WebhookAttempt
	Outbox         []UnsentMessage
	StrayCallbacks []StrayCallback
	NewJobs        []Job
	Audit          []AuditEntry
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
