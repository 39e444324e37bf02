package main

import (
	"context"
	"fmt"
	"net/url"
	"time"

	"purveyor/internal/commerce"
	"purveyor/internal/storage"
)

// How long staff wait for orders that they look for. Reads of the pages stay below 20 ms and
// searches below 50 ms, however many orders there are.

const (
	stillOpen   = 500 // of the newest orders
	withReasons = 200 // to look at them
	someStores  = 20  // of a manager
)

// officeFind times the pages that find orders. Few of the orders are open, and each has a customer
// with an e-mail address and a phone number.
func officeFind(s *stage) {
	for _, c := range s.list {
		c.data.giveCustomers()
		o := c.openOffice()
		o.times(s, c, []timedPage{
			{"orders of all stores", "", 20},
			{"the same, far behind", fmt.Sprintf("after=%d.%s", c.data.at(c.data.Size.Orders/2), storage.AfterAllIDs), 20},
			{"of one status, which few have", "status=shipped", 20},
			{"open ones", "status=open", 20},
			{"of a mode and an amount that none has", "mode=live&min=100000", 20},
			{"of one partner and one day", "partner=" + c.data.Partners[0].ID + "&from=" + c.data.day(5) + "&to=" + c.data.day(5), 20},
			{"of one store", "store=" + c.data.shops[0].ID, 20},
			{"of one store and a status", "store=" + c.data.shops[0].ID + "&status=picked_up", 20},
			{"search by id", "q=" + c.data.order(c.data.Size.Orders/3), 50},
			{"search by e-mail", "q=" + url.QueryEscape(c.data.order(c.data.Size.Orders/3)+"@e.example"), 50},
			{"search by phone", "q=" + url.QueryEscape(phoneOf(c.data.order(c.data.Size.Orders/3))), 50},
			{"search by the partner's id", "q=W-1", 50},
			{"search by the end of an id", "q=" + endOf(c.data.order(c.data.Size.Orders-1)), 50},
		})
		s.report.limit("attention, p50, "+c.name, o.p50("/office/attention"), 20, "ms")
		s.report.limit("open orders of the board, p50, "+c.name, o.openOrders(), 20, "ms")
		o.user.Grants = nil
		for _, shop := range c.data.shops[:min(someStores, len(c.data.shops))] {
			o.user.Grants = append(o.user.Grants, commerce.Grant{Role: commerce.Manager, StoreID: shop.ID})
		}
		o.times(s, c, []timedPage{
			{"orders of some stores", "", 20},
			{"of some stores, of a status", "status=shipped", 20},
			{"search in some stores", "q=" + url.QueryEscape(c.data.order(c.data.Size.Orders/3)+"@e.example"), 50},
		})
		o.close()
	}
}

// timedPage is a page of the list of orders.
type timedPage struct {
	title, query string
	most         float64 // ms
}

func (o *office) times(s *stage, c *contender, pages []timedPage) {
	for _, p := range pages {
		s.report.limit(fmt.Sprintf("%s, p50, %s", p.title, c.name), o.p50("/office/orders?"+p.query), p.most, "ms")
	}
}

// openOrders is the median time of the reads of the board, in milliseconds.
func (o *office) openOrders() float64 {
	var list []float64
	for range 15 {
		began := time.Now()
		for _, status := range commerce.OpenStatuses {
			_, err := o.engine.Reader().OpenOrders(context.Background(), storage.OpenFilter{Status: status, Limit: 51})
			check(err)
		}
		list = append(list, float64(time.Since(began).Microseconds())/1000)
	}
	return medianOf(list)
}

func endOf(id string) string { return id[len(id)-4:] }

// phoneOf is the phone number that giveCustomers gives to the customer of an order.
func phoneOf(id string) string {
	number := commerce.TimeOfOrder(id) % 10_000_000_000
	return fmt.Sprintf("+1%010d", number)
}

func (d *dataset) day(ago int) string {
	return time.Now().UTC().AddDate(0, 0, -ago).Format(time.DateOnly)
}

// giveCustomers finishes all orders but the newest, gives each a customer, and has some need
// attention. It does so once.
func (d *dataset) giveCustomers() {
	if d.customers {
		return
	}
	d.customers = true
	since := d.number(fmt.Sprintf("SELECT created_on FROM orders ORDER BY created_on DESC LIMIT 1 OFFSET %d", min(stillOpen, d.Size.Orders/2)))
	d.exec(
		fmt.Sprintf("UPDATE orders SET customer_email = id || '@e.example', status = CASE WHEN created_on < %d THEN 'picked_up' ELSE status END", since),
		"INSERT INTO customers (store_id, contact, partner_id, mode, id, name, created_on) SELECT store_id, 'email:' || id || '@e.example', partner_id, mode, customer_id, 'Ann', created_on FROM orders",
		fmt.Sprintf("INSERT INTO attention (store_id, order_id, code, since, detail, resolved_on, resolved_by) SELECT store_id, id, 'mail_not_sent', created_on, '', 0, '' FROM orders WHERE created_on >= %d ORDER BY created_on DESC LIMIT %d", since, withReasons),
		"VACUUM", "ANALYZE") // each order was written twice
	n := d.Size.Orders / 3
	id := d.order(n)
	d.exec(fmt.Sprintf("INSERT INTO customers (store_id, contact, partner_id, mode, id, name, created_on) SELECT store_id, 'phone:%s', partner_id, mode, customer_id, 'Ann', created_on FROM orders WHERE id = '%s'", phoneOf(id), id))
}
