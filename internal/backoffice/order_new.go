package backoffice

import (
	"cmp"
	"encoding/json"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"purveyor/internal/commerce"
	"purveyor/internal/service"
	"purveyor/internal/site"
	"purveyor/internal/storage"
)

// nativeRoutes are the pages where staff take an order, and where its customer is led after
// paying.
var nativeRoutes = []route{
	{method: get, path: Prefix + "/orders/new", may: commerce.MayWriteOrders, handle: (*visit).newOrder},
	{method: post, path: Prefix + "/orders/new", may: commerce.MayWriteOrders, handle: (*visit).makeOrder},
	{method: get, path: Prefix + "/thanks", open: true, handle: (*visit).thanks},
}

// newOrderPage is the data of the page "order_new".
type newOrderPage struct {
	Stores   []commerce.Store // in which the user may take orders
	Store    commerce.Store   // the one that sells; without an ID: still to be chosen
	Products []commerce.Stock // that can be sold, by name
	Cut      bool             // there are more products than are shown
	Key      string
	Typed    typedOrder
	Price    *price // as far as it was asked for
}

// typedOrder is what was typed into the form of an order.
type typedOrder struct {
	Pieces                                 map[string]string // by product
	Fulfillment, Pay                       string
	Name, Email, Phone                     string
	Line1, Line2, City, State, PostalCode  string
	PickupInstructions, DropoffInstruction string
	Fee                                    string // in dollars; empty: as the store has it
}

// price is what the order would cost now.
type price struct {
	commerce.Totals
	Obstacles []commerce.Obstacle
	Miles     *float64
	Courier   *commerce.Cents // what the courier would cost the merchant; nil: no offer
}

// productRoom is how many products of a store can be chosen from.
const productRoom = 500

func (v *visit) newOrder() error {
	page, err := v.newOrderPage(v.URL.Query().Get("store"))
	if err != nil {
		return err
	}
	page.Typed.Fulfillment, page.Typed.Pay = string(commerce.ByPickup), payAtStore
	return v.page("order_new", "New order", page)
}

// payAtStore and payByLink are how the customer of an order that staff take pays.
const (
	payAtStore = "store"
	payByLink  = "link"
)

func (v *visit) newOrderPage(storeID string) (page newOrderPage, err error) {
	page.Key = v.NewKey()
	if page.Stores, err = v.storesOf(commerce.MayWriteOrders); err != nil {
		return page, err
	}
	page.Stores = slices.DeleteFunc(page.Stores, func(s commerce.Store) bool { return !s.Active })
	if storeID == "" && len(page.Stores) == 1 {
		storeID = page.Stores[0].ID
	}
	i := slices.IndexFunc(page.Stores, func(s commerce.Store) bool { return s.ID == storeID })
	switch {
	case i >= 0:
		page.Store = page.Stores[i]
	case storeID != "":
		return page, cmp.Or(v.mayIn(storeID, "store"), error(commerce.NotFound("active store")))
	default:
		return page, nil
	}
	active := true
	list, err := v.o.reads.ProductPage(v.Context(), storage.ProductFilter{StoreIDs: []string{storeID}, Active: &active, AvailableOnly: true, Limit: productRoom}, nil)
	for _, item := range list.Items {
		page.Products = append(page.Products, item.Stock)
	}
	slices.SortFunc(page.Products, func(a, b commerce.Stock) int {
		return cmp.Or(strings.Compare(a.Name, b.Name), strings.Compare(a.ProductID, b.ProductID))
	})
	page.Cut = list.More
	return page, err
}

// makeOrder prices or makes the order that was typed.
func (v *visit) makeOrder() error {
	page, err := v.newOrderPage(v.PostFormValue("store"))
	if err == nil && page.Store.ID == "" {
		err = commerce.Invalid("store", "Please choose a store")
	}
	if err != nil {
		return err
	}
	page.Typed = v.typedOrder()
	sale, fee, err := page.Typed.read(page.Store, v.caller().Actor)
	if err == nil && v.PostFormValue("step") == "price" {
		page.Price, err = v.priceOf(page.Store, sale, fee)
		if err == nil {
			return v.page("order_new", "New order", page)
		}
	}
	if err == nil {
		var id string
		if id, err = v.sell(sale, fee, page.Typed.Pay); err == nil {
			return v.done(Prefix+"/orders/"+id, "Order "+site.Short(id)+" is made")
		}
		if v.PostForm.Has("expected") {
			page.Price, _ = v.priceOf(page.Store, sale, fee) // as it is now; the refusal is what counts
		}
	}
	page.Key = v.formKey()
	return v.again(err, "order_new", "New order", page)
}

func (v *visit) typedOrder() typedOrder {
	value := func(name string) string {
		return commerce.CleanText(strings.TrimSpace(v.PostFormValue(name)), commerce.MaxNote)
	}
	typed := typedOrder{map[string]string{}, value("fulfillment"), value("pay"), value("name"), value("email"), value("phone"), value("line1"), value("line2"),
		value("city"), value("state"), value("postal_code"), value("pickup_instructions"), value("dropoff_instructions"), value("fee")}
	for name := range v.PostForm {
		if id, ok := strings.CutPrefix(name, "pieces."); ok && value(name) != "" {
			typed.Pieces[id] = value(name)
		}
	}
	return typed
}

// read is the sale that was typed. fee is nil if the store decides it.
func (t typedOrder) read(store commerce.Store, by commerce.Actor) (sale service.Sale, fee *commerce.Cents, err error) {
	sale = service.Sale{Actor: by, StoreID: store.ID, Fulfillment: commerce.Fulfillment(t.Fulfillment), PickupInstructions: t.PickupInstructions, DropoffInstructions: t.DropoffInstruction}
	for id, text := range t.Pieces {
		n, err := strconv.ParseInt(text, 10, 64)
		if err != nil || n < 0 || n > commerce.MaxQuantity {
			return sale, nil, commerce.Invalid("pieces."+id, "Pieces must be a whole number")
		}
		if n > 0 {
			sale.Lines = append(sale.Lines, commerce.OrderLine{ProductID: id, Quantity: n})
		}
	}
	slices.SortFunc(sale.Lines, func(a, b commerce.OrderLine) int { return strings.Compare(a.ProductID, b.ProductID) })
	if t.Fee != "" {
		cents, err := commerce.ParseScaled(strings.TrimPrefix(t.Fee, "$"), 2)
		if err != nil || cents < 0 || commerce.Cents(cents) > commerce.MaxCents {
			return sale, nil, commerce.Invalid("fee", "The delivery fee must be an amount in dollars, like 4.50")
		}
		fee = new(commerce.Cents(cents))
	}
	address := commerce.Address{Line1: t.Line1, Line2: t.Line2, City: t.City, State: t.State, PostalCode: t.PostalCode, Country: "US"}
	if sale.Fulfillment == commerce.ByPickup {
		address, fee = commerce.Address{}, nil
	}
	if t.Name+t.Email+t.Phone != "" || sale.Fulfillment == commerce.ByDelivery {
		sale.Address = &commerce.DeliveryAddress{Name: t.Name, Email: t.Email, Phone: t.Phone, Address: address}
	}
	switch {
	case len(sale.Lines) == 0:
		return sale, nil, commerce.Invalid("items", "Please choose what is sold")
	case sale.Fulfillment != commerce.ByPickup && sale.Fulfillment != commerce.ByDelivery:
		return sale, nil, commerce.Invalid("fulfillment", "Please choose pickup or delivery")
	case sale.Fulfillment == commerce.ByDelivery && (t.Name == "" || t.Line1 == "" || t.City == "" || t.State == "" || t.PostalCode == ""):
		return sale, nil, commerce.Invalid("address", "A delivery needs a name, a street, a city, a state and a ZIP code")
	case t.Pay != payAtStore && t.Pay != payByLink:
		return sale, nil, commerce.Invalid("pay", "Please choose how the customer pays")
	}
	return sale, fee, nil
}

// priceOf is what a sale would cost, and what stands against it.
func (v *visit) priceOf(store commerce.Store, sale service.Sale, fee *commerce.Cents) (*price, error) {
	lines := slices.Clone(sale.Lines)
	ids := make([]string, len(lines))
	for i, l := range lines {
		ids[i] = l.ProductID
	}
	items, err := v.o.reads.Items(v.Context(), store.ID, ids)
	if err != nil {
		return nil, err
	}
	for i, l := range lines {
		lines[i].PriceCents = items[l.ProductID].Stock.PriceCents
	}
	cart := service.Cart{StoreID: store.ID, Lines: lines, Fulfillment: sale.Fulfillment, ValueCents: commerce.SumLines(lines)}
	if sale.Fulfillment == commerce.ByDelivery {
		cart.To = *sale.Address
	}
	checked, err := v.o.uses.Preflight(v.Context(), v.caller(), cart)
	if err != nil {
		return nil, err
	}
	p := &price{Obstacles: checked.Obstacles, Miles: checked.Miles}
	var charged commerce.Cents
	if checked.Quote != nil {
		p.Courier = &checked.Quote.FeeCents
		if store.ChargesQuote {
			charged = checked.Quote.FeeCents
		}
	}
	if fee != nil {
		charged = *fee
	}
	p.Totals, err = commerce.CheckoutTotals(lines, charged, store.TaxRateBps)
	return p, err
}

// sell makes the order, and returns its id.
func (v *visit) sell(sale service.Sale, fee *commerce.Cents, pay string) (id string, err error) {
	in := service.NativeOrder{PaidAtStore: pay == payAtStore}
	in.Sale = sale
	if cents, err := strconv.ParseInt(v.PostFormValue("expected"), 10, 64); err == nil && in.PaidAtStore {
		in.Expected = new(commerce.Cents(cents))
	}
	if sale.Address != nil {
		in.CustomerEmail = sale.Address.Email
	}
	in.SuccessURL, in.CancelURL = v.o.publicURL+Prefix+"/thanks", v.o.publicURL+Prefix+"/thanks"
	if in.FeeGiven = fee != nil; in.FeeGiven {
		in.DeliveryFeeCents = *fee
	}
	out, err := v.o.uses.CreateNativeOrder(v.Context(), v.caller(), in, once(v, func(o commerce.Order) (int, []byte) {
		if pay == payByLink {
			return 0, nil // the processor decides
		}
		body, err := json.Marshal(madeOrder{o.ID})
		if err != nil {
			panic(err) // a text always encodes
		}
		return http.StatusCreated, body
	}))
	if err != nil {
		return "", err
	}
	var made madeOrder
	if out.Pending != nil {
		made.OrderID = out.Pending.OrderID
	}
	if len(out.Reply.Body) > 0 {
		if err := json.Unmarshal(out.Reply.Body, &made); err != nil {
			return "", err
		}
	}
	return cmp.Or(made.OrderID, out.Result.ID), nil
}

// madeOrder is the part of an answer that names the order. Those that a job decides are the
// API's.
type madeOrder struct {
	OrderID string `json:"order_id"`
}

// thanks is the page for the customer of an order that staff took, after the payment.
func (v *visit) thanks() error { return v.page("thanks", "Thank you", nil) }
