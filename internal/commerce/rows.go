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
	Places        Table[string, GeocodedAddress]
	Endpoints     Table[string, Endpoint]
	Mails         Table[MailKey, MailCount]
	Jobs          Table[JobKey, Job]
	Sandbox       Table[string, SandboxObject]

	// NextStoreNo is the number of the next new store; 0 if it was not asked for.
	NextStoreNo int64

	// What is only ever appended.
	Timeline       []TimelineEvent
	StockMoves     []StockMove
	Ledger         []LedgerEntry
	Webhooks       []WebhookEvent
	Attempts       []WebhookAttempt
	Outbox         []UnsentMessage
	StrayCallbacks []StrayCallback
	NewJobs        []Job
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
	r.StrayCallbacks = append(r.StrayCallbacks, c.StrayCallbacks...)
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
		len(r.Deliveries.changed)+len(r.Attention.changed)+len(r.Places.changed)+len(r.StrayCallbacks)+
		len(r.Endpoints.changed)+len(r.Mails.changed)+len(r.Jobs.changed)+len(r.Sandbox.changed)+
		len(r.Timeline)+len(r.Ledger)+len(r.Webhooks)+len(r.Attempts)+len(r.Outbox)+len(r.NewJobs) > 0
}
