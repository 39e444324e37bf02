package main

import (
	"encoding/json"
	"log"
	"sync"
	"time"

	purveyor "purveyor/sdk/go"
)

// task is something to do once. Its id is the idempotency key of the call, so that it is the same
// whenever the call is made again, also after a crash.
type task struct {
	ID    string          `json:"id"`
	Do    string          `json:"do"`              // report, checkout, confirm, cancel, refund, sync or ack
	Order string          `json:"order,omitempty"` // our number of it
	Body  json.RawMessage `json:"body,omitempty"`  // of the call
}

// outcome is what became of a task.
type outcome struct {
	ID      string `json:"id"`
	OrderID string `json:"order_id,omitempty"` // that the service gave a new order
	Pay     string `json:"pay,omitempty"`      // where its customer pays
	Refused string `json:"refused,omitempty"`  // why it will never be done; empty: it is done
}

// change is a line of the journal.
type change struct {
	Wanted  *task                  `json:"wanted,omitempty"`
	Done    *outcome               `json:"done,omitempty"`
	Event   *purveyor.WebhookEvent `json:"event,omitempty"`
	Cursor  string                 `json:"cursor,omitempty"` // all events before it were received
	Product *purveyor.Product      `json:"product,omitempty"`
}

// order is what the books say of an order.
type order struct {
	OrderID string               `json:"order_id"`
	Status  purveyor.OrderStatus `json:"status"`
	At      time.Time            `json:"at"` // of the newest event
	Pay     string               `json:"pay,omitempty"`
	Look    string               `json:"look,omitempty"` // what a person must look at
}

// books are the state of the shop: what the lines of its journal say together.
type books struct {
	mu       sync.Mutex
	journal  *journal
	changed  chan struct{}                     // has an element if there may be something to do
	Tasks    map[string]task                   `json:"tasks"` // that are not done
	Done     map[string]outcome                `json:"done"`
	Orders   map[string]*order                 `json:"orders"` // by our number
	Events   map[string]*purveyor.WebhookEvent `json:"events"`
	Products map[string]purveyor.Product       `json:"products"`
	Cursor   string                            `json:"cursor"`
	Synced   purveyor.UnixMillis               `json:"synced"` // of the newest product
}

func openBooks(path string) (*books, error) {
	b := &books{changed: make(chan struct{}, 1), Tasks: map[string]task{}, Done: map[string]outcome{}, Orders: map[string]*order{},
		Events: map[string]*purveyor.WebhookEvent{}, Products: map[string]purveyor.Product{}}
	j, err := openJournal(path, func(line []byte) error {
		var c change
		err := json.Unmarshal(line, &c)
		b.apply(c)
		return err
	})
	b.journal = j
	return b, err
}

// record makes a change once it is on the disk, unless it says nothing new. If that fails, it is unknown
// what the disk has: the program ends.
func (b *books) record(c change) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.has(c) {
		return
	}
	if err := b.journal.append(c); err != nil {
		log.Fatal(err)
	}
	b.apply(c)
	select {
	case b.changed <- struct{}{}:
	default: // it has one
	}
}

// has reports whether a change was made before: tasks and events come more than once.
func (b *books) has(c change) bool {
	if c.Wanted != nil {
		_, waits := b.Tasks[c.Wanted.ID]
		_, done := b.Done[c.Wanted.ID]
		return waits || done
	}
	return c.Event != nil && b.Events[c.Event.ID] != nil && (c.Cursor == "" || c.Cursor == b.Cursor)
}

func (b *books) apply(c change) {
	switch {
	case c.Wanted != nil:
		b.Tasks[c.Wanted.ID] = *c.Wanted
		if c.Wanted.Order != "" && b.Orders[c.Wanted.Order] == nil {
			b.Orders[c.Wanted.Order] = &order{}
		}
	case c.Done != nil:
		o := b.Orders[b.Tasks[c.Done.ID].Order]
		delete(b.Tasks, c.Done.ID)
		if b.Done[c.Done.ID] = *c.Done; c.Done.OrderID != "" {
			o.OrderID, o.Pay = c.Done.OrderID, c.Done.Pay
			for _, e := range b.Events { // those that came before the answer
				o.hear(e)
			}
		}
	case c.Event != nil:
		b.Events[c.Event.ID] = c.Event
		for _, o := range b.Orders {
			o.hear(c.Event)
		}
	case c.Product != nil:
		b.Products[c.Product.ID], b.Synced = *c.Product, max(b.Synced, c.Product.UpdatedOn)
	}
	if c.Cursor != "" {
		b.Cursor = c.Cursor
	}
}

// hear notes what an event says of the order. Events come in any order, and an older one says
// nothing about now.
func (o *order) hear(e *purveyor.WebhookEvent) {
	data, ok := e.Data.(*purveyor.OrderChange)
	if !ok || e.OrderID != o.OrderID {
		return
	}
	if e.Event == purveyor.EventKindOrderRefundFailed {
		o.Look = "a refund failed, and the customer waits for the money"
	}
	if e.Timestamp.After(o.At) {
		o.Status, o.At = data.Order.Status, e.Timestamp
	}
}

// due are the tasks that can be done now: those that are wanted, and those that follow from what
// is known of the orders. Each comes with the service's id of its order.
func (b *books) due() (tasks []task, ids []string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for number, o := range b.Orders {
		if o.Status != purveyor.OrderStatusPaid {
			continue
		}
		next := task{ID: "confirm " + number, Do: "confirm", Order: number}
		if b.Done[next.ID].Refused == string(purveyor.ErrorCodeInsufficientStock) { // sold meanwhile: the money goes back
			next = task{ID: "cancel " + number, Do: "cancel", Order: number}
		}
		if _, done := b.Done[next.ID]; !done {
			b.Tasks[next.ID] = next
		}
	}
	for _, t := range b.Tasks {
		id := ""
		if o := b.Orders[t.Order]; o != nil {
			id = o.OrderID
		}
		if id != "" || t.Order == "" || t.Do == "report" || t.Do == "checkout" {
			tasks, ids = append(tasks, t), append(ids, id)
		}
	}
	return tasks, ids
}
