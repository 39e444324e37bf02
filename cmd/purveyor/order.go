package main

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"purveyor/internal/commerce"
	"purveyor/internal/service"
	"purveyor/internal/storage"
)

type orderCommand struct {
	List     orderList     `cmd:"" help:"List orders, newest first."`
	Show     orderShow     `cmd:"" help:"Show an order: its lines, its money, and where it stands."`
	Explain  orderExplain  `cmd:"" help:"Tell all that happened to an order, what it waits for, and what may be done."`
	Confirm  orderConfirm  `cmd:"" help:"Confirm a paid order."`
	Ready    orderReady    `cmd:"" help:"Mark a pickup order ready."`
	PickedUp orderPickedUp `cmd:"" help:"Mark a pickup order picked up."`
	Cancel   orderCancel   `cmd:"" help:"Cancel an order before its goods are handed over."`
	Refund   orderRefund   `cmd:"" help:"Give money of a card payment back."`
}

type orderList struct {
	onDatabase
	asJSON
	Status  string `help:"Only orders with this status; open and finished stand for several." placeholder:"STATUS"`
	Store   string `help:"Only orders of this store." placeholder:"ID"`
	Partner string `help:"Only orders of this partner." placeholder:"ID"`
	Mode    string `help:"Only live orders, or only test orders." enum:",live,test" default:"" placeholder:"MODE"`
	Limit   int    `help:"How many." default:"50"`
	span
}

// ordersExamined is how many orders are looked at in one read.
const ordersExamined = 10_000

// listedOrder is an order of the list as JSON.
type listedOrder struct {
	ID          string               `json:"id"`
	StoreID     string               `json:"store_id"`
	PartnerID   string               `json:"partner_client_id"` // empty: the merchant's
	ExternalID  string               `json:"external_order_id"`
	Mode        commerce.Mode        `json:"mode"`
	Status      commerce.OrderStatus `json:"status"`
	Fulfillment commerce.Fulfillment `json:"fulfillment_type"`
	TotalCents  commerce.Cents       `json:"total"`
	CreatedOn   commerce.Millis      `json:"created_on"`
	UpdatedOn   commerce.Millis      `json:"updated_on"`
}

func listed(o commerce.Order) listedOrder {
	return listedOrder{o.ID, o.StoreID, o.PartnerID, o.ExternalID, o.Mode, o.Status, o.Fulfillment, o.TotalCents, o.CreatedOn, o.UpdatedOn}
}

func (c orderList) prepare() error {
	if _, err := statusesOf(c.Status); err != nil {
		return err
	}
	return c.check()
}

func (c orderList) Run(ctx context.Context, db *database) error {
	f, err := c.filter(ctx, db.Reader())
	if err != nil {
		return err
	}
	var orders []commerce.Order
	for len(orders) < c.Limit {
		f.Limit = c.Limit - len(orders)
		page, err := db.Reader().OrderPage(ctx, f)
		if err != nil {
			return err
		}
		orders = append(orders, page.Orders...)
		if f.After = page.Next; f.After == (storage.OrderPosition{}) {
			break
		}
	}
	if c.JSON {
		return printJSON(listOf(orders, listed))
	}
	t := newTable("ORDER", "MADE", "STATUS", "MODE", "STORE", "PARTNER", "ITS ID", "KIND", "TOTAL")
	for _, o := range orders {
		t.row(o.ID, moment(o.CreatedOn), o.Status, o.Mode, o.StoreID, orNone(o.PartnerID), orNone(o.ExternalID), o.Fulfillment, o.TotalCents.Dollars())
	}
	if len(orders) == 0 {
		printf("no orders\n")
		return nil
	}
	return t.flush()
}

func (c orderList) filter(ctx context.Context, r storage.Reader) (f storage.OrderFilter, err error) {
	f = storage.OrderFilter{Mode: commerce.Mode(c.Mode), Examine: ordersExamined, Stores: []storage.OrderStore{}}
	of, err := c.span.filter("")
	if err != nil {
		return f, err
	}
	f.Since, f.Until = of.Since, of.Until
	if f.Statuses, err = statusesOf(c.Status); err != nil {
		return f, err
	}
	f.ByStatus = f.Statuses != nil && !slices.ContainsFunc(f.Statuses, func(s commerce.OrderStatus) bool { return !s.Open() })
	if c.Partner != "" {
		if _, err := r.Partner(ctx, c.Partner); err != nil {
			return f, partnerMissing(c.Partner, err)
		}
		f.Partners = []string{c.Partner}
	}
	for s, err := range storesOf(ctx, r) {
		if err != nil {
			return f, err
		}
		if c.Store == "" || c.Store == s.ID {
			f.Stores = append(f.Stores, storage.OrderStore{ID: s.ID, No: s.No})
		}
	}
	if c.Store != "" && len(f.Stores) == 0 {
		return f, fmt.Errorf("there is no store %s", c.Store)
	}
	return f, nil
}

// statusesOf are the statuses that a word stands for; nil: all.
func statusesOf(word string) ([]commerce.OrderStatus, error) {
	switch status := commerce.OrderStatus(word); {
	case word == "":
		return nil, nil
	case word == "open":
		return commerce.OpenStatuses, nil
	case word == "finished":
		return slices.DeleteFunc(slices.Clone(commerce.Statuses), func(s commerce.OrderStatus) bool { return !s.Terminal() }), nil
	case slices.Contains(commerce.Statuses, status):
		return []commerce.OrderStatus{status}, nil
	}
	return nil, wrong("--status %q is no status; give open, finished, or one of %v", word, commerce.Statuses)
}

// onOrder is the part of a command that is about one order.
type onOrder struct {
	onDatabase
	asJSON
	Order string `arg:"" help:"The order's id."`
}

// find reads the order for the operator.
func (c onOrder) find(ctx context.Context, db *database) (commerce.Order, error) {
	o, err := db.uses.FindOrder(ctx, service.Caller{Actor: operator()}, c.Order)
	if refusal, ok := errors.AsType[*commerce.Error](err); ok && refusal.Kind == commerce.KindNotFound {
		err = fmt.Errorf("there is no order %s; `purveyor order list` shows the newest", c.Order)
	}
	return o, err
}
