package simulation

import (
	"context"
	"fmt"
	"time"

	"purveyor/internal/commerce"
	"purveyor/internal/service"
	"purveyor/internal/storage"
)

// committed checks what a batch has changed.
func (w *world) committed(b shakyBatch) {
	w.report.Batches++
	if b.Stamp() <= b.after {
		w.broke("a batch has the stamp %d, and one before it %d", b.Stamp(), b.after)
	}
	w.stamp = max(w.stamp, b.Stamp())
	rows := b.Rows()
	w.leases(rows)
	w.announced(rows.Appended.Webhooks)
	for i := range rows.Stock.Changed() {
		if _, v, _ := rows.Stock.Change(i); v != nil && (v.Quantity < 0 || v.Held < 0) {
			w.broke("stock is %+v", *v)
		}
	}
	for i := range rows.Orders.Changed() {
		key, v, was := rows.Orders.Change(i)
		from := ""
		if was != nil {
			from = string(was.Status)
		}
		switch {
		case v == nil:
			w.broke("order %s is deleted", key.OrderID)
		case !leads(from, string(v.Status)):
			w.broke("order %s goes from %q to %s", key.OrderID, from, v.Status)
		case v.RefundedCents > v.TotalCents:
			w.broke("%d cents of %d are refunded for order %s", v.RefundedCents, v.TotalCents, key.OrderID)
		}
	}
	for i := range rows.Deliveries.Changed() {
		_, v, was := rows.Deliveries.Change(i)
		switch {
		case v == nil || was == nil:
		case v.Attempt > was.Attempt:
			for i := range rows.Orders.Changed() {
				if _, o, _ := rows.Orders.Change(i); o != nil && o.ID == v.OrderID && o.CourierDeliveryID != "" {
					w.broke("another courier is looked for, and order %s still shows the one that left", o.ID)
				}
			}
		case v.SeenOn < was.SeenOn:
			w.broke("of the courier of order %s the news of %d take the place of those of %d", v.OrderID, v.SeenOn, was.SeenOn)
		}
	}
}

// finishJobs waits until every job is done.
func (w *world) finishJobs() {
	var left []commerce.Job
	for range 7 * 24 * 6 {
		left = left[:0]
		filters := []storage.JobFilter{{State: commerce.JobWaiting, Limit: 5}}
		for _, p := range w.partners {
			filters = append(filters, storage.JobFilter{State: commerce.JobParked, Owner: p.id, Limit: 5})
		}
		for _, f := range filters {
			list, err := w.reader.Jobs(context.Background(), f)
			if err != nil {
				w.broke("jobs could not be read: %v", err)
			}
			left = append(left, list...)
		}
		if len(left) == 0 || w.report.Breaks >= tooBroken {
			return
		}
		w.sleep(10 * time.Minute)
	}
	w.broke("after a week there are jobs left: %s", told(left))
}

// check looks for what is wrong when everything has come to rest.
func (w *world) check() {
	w.checkStock()
	w.checkOrders()
	for _, p := range w.partners {
		p.check()
	}
	if open := w.db.OpenReplies(); len(open) > 0 {
		w.broke("%d keys are open: %s", len(open), told(open[0]))
	}
}

// checkStock: quantities equal their moves, and what orders took.
func (w *world) checkStock() {
	ctx := context.Background()
	_, err := w.servers[0].uses.CheckStock(ctx, service.CheckStock{All: true, Fault: func(f service.StockFault) {
		w.broke("the stock of %v: %s", f.Product, f.Fault)
	}})
	if err != nil {
		w.broke("stock could not be checked: %v", err)
	}
	left, held := map[string]int64{}, map[string]int64{}
	for s := range stores {
		for n := range products {
			left[productID(s, n)] = w.opening(n) + w.added[productID(s, n)]
		}
	}
	for _, o := range w.db.Orders() {
		for _, l := range o.Lines {
			if o.HeldUntil != 0 {
				held[l.ProductID] += l.Quantity
			}
			if o.HeldUntil != 0 || o.InventoryDeducted {
				left[l.ProductID] -= l.Quantity
			}
		}
	}
	for s := range stores {
		for n := range products {
			id := productID(s, n)
			stock, err := w.reader.Stock(ctx, []string{id})
			if got := stock[id]; err != nil || got.Quantity != left[id] || got.Held != held[id] {
				w.broke("%s has %d pieces and holds %d, but %d must be left, and %d are held: %v", id, got.Quantity, got.Held, left[id], held[id], err)
			}
		}
	}
}

// checkOrders: each order is where its story left it, its money is right, one courier brought
// it, and staff were asked to look at what needs them.
func (w *world) checkOrders() {
	ctx, rides, books, mails := context.Background(), w.rides(), w.books(), w.mails()
	orders := w.db.Orders()
	for _, o := range orders {
		s := w.stories[o.ID]
		if s == nil {
			w.broke("order %s was made, and nobody knows of it", o.ID)
			continue
		}
		if !leads(s.status, string(o.Status)) {
			w.broke("order %s is %s, and its partner has seen it %s", o.ID, o.Status, s.status)
		}
		s.last = string(o.Status)
		s.p.checkList(o)
		brought := 0
		for _, r := range rides[o.ID] {
			if !r.fails() {
				brought++
			}
		}
		if brought > 1 || brought == 0 && o.Status == commerce.Delivered {
			w.broke("order %s is %s, and %d couriers brought it", o.ID, o.Status, brought)
		}
		w.checkAttention(ctx, s, o, rides[o.ID], mails)
		w.checkMoney(ctx, o, books[o.ID])
		mails.check(w, o)
		if !scarce(s.item) {
			w.report.Ends[s.name] = fmt.Sprintf("%s, %d of %d cents given back", o.Status, o.RefundedCents, o.TotalCents)
		}
	}
	mails.checkLimit(w, orders)
	if len(orders) != len(w.stories) {
		w.broke("%d orders were answered for, and there are %d", len(w.stories), len(orders))
	}
}

func (w *world) checkMoney(ctx context.Context, o commerce.Order, b *book) {
	paid, err := w.reader.Payment(ctx, o.Key())
	if err != nil { // it was paid elsewhere
		return
	}
	w.checkBook(ctx, o, paid, b)
	account := commerce.Account{Order: o, Payment: paid}
	var errs [3]error
	account.Entries, errs[0] = w.reader.Ledger(ctx, o.Key())
	account.Refunds, errs[1] = w.reader.Refunds(ctx, o.Key())
	account.Attention, errs[2] = w.reader.Attention(ctx, o.Key())
	if faults := account.Faults(); len(faults) > 0 || errs != [3]error{} {
		w.broke("the money of order %s: %v, %v", o.ID, faults, errs)
	}
}

// check: the partner took every event, and its feeds have told it everything.
func (p *partner) check() {
	ctx, w := context.Background(), p.w
	page, err := w.reader.EventPage(ctx, storage.EventFilter{PartnerID: p.id, Limit: 10_000_000})
	if err != nil {
		w.broke("the events of %s could not be read: %v", p.id, err)
	}
	for _, e := range page.Events {
		body, heard := p.heard[e.ID]
		switch told, read := p.read[e.ID]; {
		case !heard:
			w.broke("%s never got %s of order %s", p.id, e.Kind, e.OrderID)
		case !read:
			w.broke("the feed of %s left out %s of order %s", p.id, e.Kind, e.OrderID)
		case body != told:
			w.broke("%s was sent\n%s\nand its feed tells\n%s", p.id, body, told)
		}
	}
	if len(page.Events) != len(p.heard) || len(page.Events) != len(p.read) {
		w.broke("there are %d events of %s, it got %d and read %d", len(page.Events), p.id, len(p.heard), len(p.read))
	}
	p.checkEvents()
	for s := range stores {
		for n := range products {
			id := productID(s, n)
			stock, err := w.reader.Stock(ctx, []string{id})
			if told, read := p.stock[id]; err != nil || !read || told != stock[id].Quantity {
				w.broke("%s has %d pieces, and the feed of %s tells %d: %v", id, stock[id].Quantity, p.id, told, err)
			}
		}
	}
}
