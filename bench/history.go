package main

import (
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"time"

	"purveyor/internal/api/wire"
	"purveyor/internal/command"
	"purveyor/internal/commerce"
	"purveyor/internal/importfile"
	"purveyor/internal/storage/schema"
)

// A full database has a month of orders. They are not reported to a service, which
// would take hours: the service's own commands decide on each order, in this
// process, and the rows that they add go straight into the tables. Every order is
// drawn from its number, so that no list of orders is needed to read them again.

// historyLength is less than the 30 days after which the service sweeps events.
// The last tenth of it, less than 72 hours, has stored replies.
const historyLength = 28 * 24 * time.Hour

// at is the time of order n.
func (d *dataset) at(n int) commerce.Millis {
	ago := historyLength / time.Duration(d.Size.Orders) * time.Duration(d.Size.Orders-n)
	return commerce.MillisOf(d.filled.Add(-ago))
}

// pastOrder is an order of the history.
type pastOrder struct {
	id  string
	of  basket
	rng *rand.Rand // for the rest of it
}

// past draws order n.
func (d *dataset) past(n int) pastOrder {
	rng := rand.New(rand.NewPCG(uint64(d.Size.Orders), uint64(n)))
	of := draw(d.shops, false, rng)
	return pastOrder{commerce.NewOrderID(of.shop.No, d.at(n), entropy(rng)), of, rng}
}

func entropy(rng *rand.Rand) (e commerce.Entropy) {
	binary.BigEndian.PutUint64(e[:], rng.Uint64())
	binary.BigEndian.PutUint16(e[8:], uint16(rng.Uint64()))
	return e
}

// history is the state of a database whose rows are being made.
type history struct {
	*dataset
	into       *loader
	partner    commerce.Partner
	key        commerce.APIKey // with which the orders are reported
	stores     map[string]commerce.Store
	categories map[string]commerce.Category
	stock      []commerce.Stock // by the index of the product
	replies    map[int64]int64  // bytes of them, by the hour
}

// fillHistory makes the catalog, as of the time before the first order, and the orders.
func (b *bench) fillHistory(d *dataset) {
	d.filled = time.Now()
	db := d.openBulk()
	h := &history{dataset: d, into: newLoader(b.ctx, d, db), partner: commerce.Partner{ID: d.Partners[0].ID},
		key:    commerce.APIKey{PartnerID: d.Partners[0].ID, Mode: commerce.Live},
		stores: map[string]commerce.Store{}, categories: map[string]commerce.Category{}, replies: map[int64]int64{},
		stock: make([]commerce.Stock, d.Size.Products)}
	check(db.QueryRow(fmt.Sprintf("SELECT id FROM partner_keys WHERE partner_id = '%s' AND mode = '%s'", h.key.PartnerID, h.key.Mode)).Scan(&h.key.ID))
	h.importCatalog()
	for n := range d.Size.Orders {
		h.report(n)
	}
	for _, g := range allGoods(h.shops) { // store by store, as an import adds them
		h.into.add(&schema.Stock, func(b schema.Binder) { schema.Stock.Bind(b, &h.stock[g.Index]) })
	}
	h.into.close()
	for hour, bytes := range h.replies {
		must(db.Exec(fmt.Sprintf("INSERT INTO stored_replies (partner_id, hour, bytes) VALUES ('%s', %d, %d)", h.partner.ID, hour, bytes)))
	}
	must(db.Exec(fmt.Sprintf("UPDATE meta SET value = %d WHERE name = 'next_store_no'", len(h.stores)+1)))
	d.closeBulk(db)
}

// importCatalog imports the stores, some at a time.
func (h *history) importCatalog() {
	const some = 100
	for from := 0; from < len(h.shops); from += some {
		part := h.shops[from:min(from+some, len(h.shops))]
		file := importfile.Parse(catalogOf(part))
		index := map[string]int{}
		for _, g := range allGoods(part) {
			index[g.ID] = g.Index
		}
		rows := &commerce.Rows{NextStoreNo: int64(from) + 1}
		file.Catalog.Actor = "operator:bench"
		decide(h, rows, file.Catalog, h.at(0)-1, index)
		for i := range rows.Stores.Changed() {
			id, store, _ := rows.Stores.Change(i)
			h.stores[id] = *store
		}
		for i := range rows.Categories.Changed() {
			id, category, _ := rows.Categories.Change(i)
			h.categories[id] = *category
		}
		for i := range part {
			part[i].No = h.stores[part[i].ID].No
		}
	}
}

// report reports order n.
func (h *history) report(n int) {
	o, at := h.past(n), h.at(n)
	rng := o.rng
	// The ids of the load count up from the time when this program began, in microseconds.
	external := fmt.Sprintf("W-%d", time.UnixMilli(int64(at)).AddDate(0, 0, -1).UnixMicro())
	c := reportOf{command.ReportOrder{ExternalID: external, Sale: command.Sale{
		Actor:   commerce.PartnerActor(&h.key, commerce.Live, token(rng)),
		OrderID: o.id, CustomerID: commerce.NewID(commerce.PrefixCustomer, at, entropy(rng)), StoreID: o.of.shop.ID, Fulfillment: commerce.ByPickup,
		Lines: []commerce.OrderLine{{ProductID: o.of.a.ID, Quantity: 1, PriceCents: commerce.Cents(o.of.a.Price)},
			{ProductID: o.of.b.ID, Quantity: 2, PriceCents: commerce.Cents(o.of.b.Price)}}}}, nil, rng}
	if n >= h.Size.Orders-h.Size.Orders/10 {
		c.reply = &commerce.Reply{ReplyKey: commerce.ReplyKey{PartnerID: h.partner.ID, Op: "live POST /v1/orders/report", Key: token(rng)}, CreatedOn: at}
		copy(c.reply.Fingerprint[:], token(rng))
	}
	rows := &commerce.Rows{}
	decide(h, rows, c, at, map[string]int{o.of.a.ID: o.of.a.Index, o.of.b.ID: o.of.b.Index})
}

// historyPages stand in for the tracking pages of the service that took the orders.
var historyPages = commerce.TrackingPages{URL: "http://127.0.0.1:8080", Secret: []byte("of the history")}

// reportOf is a report with what the committer adds to it: the answer, the id of
// the event, and its data.
type reportOf struct {
	command.ReportOrder
	reply *commerce.Reply // nil: it has expired
	rng   *rand.Rand
}

func (c reportOf) Needs() commerce.Needs {
	n := c.ReportOrder.Needs()
	if c.reply != nil {
		n.Replies = []commerce.ReplyKey{c.reply.ReplyKey}
	}
	return n
}

func (c reportOf) Decide(rows *commerce.Rows, now commerce.Millis) (commerce.Order, commerce.Changes, error) {
	order, changes, err := c.ReportOrder.Decide(rows, now)
	for i := range changes.Webhooks {
		w := &changes.Webhooks[i]
		e := entropy(c.rng)
		e[0], e[1], e[2] = 0, 0, byte(i) // its number within the batch
		w.ID = commerce.NewID(commerce.PrefixEvent, now, e)
		w.Data, w.About = wire.Encoder{Pages: historyPages}.EventData(*w), nil
	}
	if c.reply != nil {
		c.reply.Status = 201
		c.reply.Body = fmt.Appendf(nil, `{"ok":true,"order_id":"%s","external_order_id":"%s","status":"processed","trace_id":"%s"}`, order.ID, order.ExternalID, c.Actor.TraceID)
		changes.Replies = append(changes.Replies, *c.reply)
	}
	return order, changes, err
}

// aCommand is a command of the service.
type aCommand[R any] interface {
	Needs() commerce.Needs
	Decide(rows *commerce.Rows, now commerce.Millis) (R, commerce.Changes, error)
}

// decide adds the rows that a command adds. Stock rows change all the time: they
// are kept, by the index of their products, and added at the end.
func decide[R any](h *history, rows *commerce.Rows, c aCommand[R], now commerce.Millis, index map[string]int) {
	needs := c.Needs()
	schema.Require(rows, &needs)
	fillFrom(&rows.Partners, map[string]commerce.Partner{h.partner.ID: h.partner})
	fillFrom(&rows.Stores, h.stores)
	fillFrom(&rows.Categories, h.categories)
	for i := range rows.Stock.Asked() {
		key, _ := rows.Stock.AskedKey(i)
		if stock := h.stock[index[key.ProductID]]; stock.ProductID != "" {
			rows.Stock.Fill(i, stock)
		}
	}
	_, changes, err := c.Decide(rows, now)
	check(err)
	schema.Apply(rows, &changes)
	for _, bytes := range schema.PackReplies(&rows.Replies) { // of one partner
		h.replies[schema.HourOf(now)] += bytes
	}
	for i := range rows.Stock.Changed() {
		key, stock, _ := rows.Stock.Change(i)
		h.stock[index[key.ProductID]] = *stock
	}
	for _, t := range schema.All {
		for i := range t.Changed(rows) {
			if t != schema.Described(&schema.Stock) && t.Change(rows, i) == schema.Insert {
				h.into.add(t, func(b schema.Binder) { t.BindChanged(b, rows, i, schema.Whole) })
			}
		}
	}
}

// fillFrom fills the rows that a command asked for with those that there are.
func fillFrom[K comparable, V any](t *commerce.Table[K, V], known map[K]V) {
	for i := range t.Asked() {
		key, _ := t.AskedKey(i)
		if v, ok := known[key]; ok {
			t.Fill(i, v)
		}
	}
}
