package command

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"purveyor/internal/commerce"
	"purveyor/internal/storage/schema"
	"purveyor/internal/storage/schema/schematest"
)

// The actors of most tests.
var (
	byPartner   = commerce.PartnerActor(&commerce.APIKey{ID: "key_p", PartnerID: "p", Mode: commerce.Live}, commerce.Live, "t")
	byProcessor = commerce.Actor{Kind: commerce.ActorProvider, ID: "stripe", TraceID: "n"}
)

const now = commerce.Millis(1_800_000_000_000)

// fill makes rows for a command: those of stored that it asks for.
func fill(needs commerce.Needs, stored commerce.Changes) *commerce.Rows {
	rows := &commerce.Rows{}
	schema.Require(rows, &needs)
	schematest.Fill(rows, stored)
	if rows.NextStoreNo == commerce.NeedStoreNo {
		rows.NextStoreNo = 7
	}
	return rows
}

// decided is what a command decides over those of the stored rows that it asks for. What it
// changes is put into the rows as a batch does it, which panics if the command has not asked for
// the row, or has not locked it.
func decided[R any](cmd decider[R], stored commerce.Changes, now commerce.Millis) (R, commerce.Changes, error) {
	rows := fill(cmd.Needs(), stored)
	result, changes, err := cmd.Decide(rows, now)
	if err == nil {
		saved := changes
		schema.Apply(rows, &saved)
		if wrong := inconsistent(result, changes, now); wrong != "" {
			panic(fmt.Sprintf("%T: %s: %+v, %+v", cmd, wrong, result, changes))
		}
	}
	return result, changes, err
}

// inconsistent says what is wrong whatever the command is: an answer that differs from what is
// stored, and changed rows with an old updated_on or without an owner.
func inconsistent(result any, c commerce.Changes, now commerce.Millis) string {
	if r := reflect.ValueOf(result); r.Kind() == reflect.Struct {
		for name, rows := range map[string]any{"Order": c.Orders, "Job": c.Jobs, "Delivery": c.Deliveries, "Refund": c.Refunds} {
			field, list := r.FieldByName(name), reflect.ValueOf(rows)
			if field.IsValid() && list.Len() == 1 && field.Type() == list.Type().Elem() && !reflect.DeepEqual(field.Interface(), list.Index(0).Interface()) {
				return "the answer has another " + name
			}
		}
	}
	for _, rows := range []any{c.Orders, c.Deliveries, c.Stock, c.Stores, c.Faults} {
		for i := range reflect.ValueOf(rows).Len() {
			if row := reflect.ValueOf(rows).Index(i); row.FieldByName("UpdatedOn").Int() != int64(now) {
				return fmt.Sprintf("%T is changed and does not say when", rows)
			}
		}
	}
	for _, e := range c.Timeline {
		if e.OrderID == "" || e.StoreID == "" || e.CreatedOn != now || e.Seq == 0 {
			return "a timeline event without its order or time"
		}
	}
	for _, w := range c.Webhooks {
		if len(c.Orders) == 1 && (w.OrderID != c.Orders[0].ID || w.StoreID != c.Orders[0].StoreID || w.PartnerID != c.Orders[0].PartnerID || w.Mode != c.Orders[0].Mode) {
			return "a webhook event of another order"
		}
	}
	return ""
}

func orderIn(status commerce.OrderStatus, f commerce.Fulfillment, deducted bool) commerce.Order {
	return commerce.Order{StoreID: "s", ID: "o", PartnerID: "p", Mode: commerce.Live, Status: status, Fulfillment: f,
		InventoryDeducted: deducted, TotalCents: 300, Events: 4, NotifiedOn: now + 5,
		Lines: []commerce.OrderLine{{ProductID: "a", Quantity: 2, PriceCents: 100}, {ProductID: "a", Quantity: 1, PriceCents: 100}}}
}

func stored(o commerce.Order, quantity int64) commerce.Changes {
	return commerce.Changes{
		Partners: []commerce.Partner{{ID: "p", CallbackURL: "https://p.example"}},
		Orders:   []commerce.Order{o},
		Products: []commerce.Product{{StoreID: "s", ID: "a"}},
		Stock:    []commerce.Stock{{StoreID: "s", ProductID: "a", Name: "Rye", Active: true, Quantity: quantity, SoldCount: 3, SoldCents: 300}},
	}
}

// TestCancel goes through every status, with and without deducted stock.
func TestCancel(t *testing.T) {
	for _, status := range commerce.Statuses {
		for _, f := range []commerce.Fulfillment{commerce.ByPickup, commerce.ByDelivery} {
			for _, deducted := range []bool{false, true} {
				o := orderIn(status, f, deducted)
				cmd := CancelOrder{Facts: FactsOf(o), Actor: byPartner, Reason: "changed their mind"}
				result, changes, err := decided(cmd, stored(o, 5), now)
				if status.Terminal() {
					var refusal *commerce.Error
					if !errors.As(err, &refusal) || refusal.Code != "wrong_status" || len(changes.Orders) != 0 {
						t.Errorf("%s: %v", status, err)
					}
					continue
				}
				if err != nil || result.Order.Status != commerce.Cancelled || result.Order.Restocked != deducted || result.Order.InventoryDeducted {
					t.Errorf("%s %s, deducted %v: %+v, %v", status, f, deducted, result, err)
				}
				if deducted && (len(changes.Stock) != 1 || changes.Stock[0].Quantity != 8 || changes.Stock[0].SoldCount != 0) {
					t.Errorf("%s: stock %+v", status, changes.Stock)
				}
				if !deducted && len(changes.Stock) != 0 {
					t.Errorf("%s: stock that was not deducted is restored", status)
				}
				wantEvents := 1
				if f == commerce.ByDelivery {
					wantEvents = 2
				}
				if len(changes.Webhooks) != wantEvents || len(changes.Timeline) != wantEvents ||
					changes.Timeline[0].Seq != 5 || changes.Timeline[0].Message != cmd.Reason {
					t.Errorf("%s %s: timeline %+v, webhooks %+v", status, f, changes.Timeline, changes.Webhooks)
				}
				last := o.NotifiedOn
				for _, w := range changes.Webhooks {
					if w.Timestamp <= last || len(w.To) != 1 {
						t.Errorf("%s: event %+v after %d", status, w, last)
					}
					last = w.Timestamp
				}
			}
		}
	}
}

func TestConfirm(t *testing.T) {
	type outcome struct {
		status  commerce.OrderStatus
		replay  bool
		refused string // code
	}
	for _, c := range []struct {
		name      string
		status    commerce.OrderStatus
		confirmed bool
		quantity  int64
		want      outcome
	}{
		{"paid", commerce.Paid, false, 3, outcome{commerce.Processed, false, ""}},
		{"stock gone", commerce.Paid, false, 2, outcome{commerce.Paid, false, "insufficient_stock"}},
		{"processed", commerce.Processed, false, 3, outcome{commerce.Processed, true, ""}},
		{"shipped after confirm", commerce.Shipped, true, 3, outcome{commerce.Shipped, true, ""}},
		{"shipped after report", commerce.Shipped, false, 3, outcome{"", false, "wrong_status"}},
		{"ready after confirm", commerce.ReadyForPickup, true, 3, outcome{commerce.ReadyForPickup, true, ""}},
		{"delivered", commerce.Delivered, true, 3, outcome{"", false, "wrong_status"}},
		{"cancelled", commerce.Cancelled, true, 3, outcome{"", false, "wrong_status"}},
		{"pending", commerce.PendingPayment, false, 3, outcome{"", false, "wrong_status"}},
	} {
		o := orderIn(c.status, commerce.ByDelivery, false)
		o.Confirmed = c.confirmed
		cmd := ConfirmOrder{Facts: FactsOf(o), Actor: byPartner}
		got, changes, err := decided(cmd, stored(o, c.quantity), now)
		if err == nil {
			err = got.Refused
		}
		code := ""
		if refusal, ok := errors.AsType[*commerce.Error](err); ok {
			code = refusal.Code
		}
		if got.Order.Status != c.want.status || got.Replay != c.want.replay || code != c.want.refused {
			t.Errorf("%s: %s, replay %v, %v; want %+v", c.name, got.Order.Status, got.Replay, err, c.want)
		}
		if c.name == "paid" && (changes.Stock[0].Quantity != 0 || !got.Order.InventoryDeducted || !got.Order.Confirmed ||
			changes.Webhooks[0].Kind != commerce.WebhookProcessed || changes.Timeline[0].Data.(commerce.StockData).Moves[0].Delta != -3) {
			t.Errorf("%s: %+v", c.name, changes)
		}
		if c.name == "stock gone" {
			noted := changes.Orders[0]
			if openCodes(changes.Attention) != "insufficient_stock" || changes.Timeline[0].Kind != commerce.TimelineNote || len(changes.Stock)+len(changes.Webhooks) != 0 {
				t.Errorf("%s: %+v", c.name, changes)
			}
			again := ConfirmOrder{Facts: FactsOf(noted), Actor: byPartner}
			before := stored(noted, 2)
			before.Attention = changes.Attention
			if _, second, err := decided(again, before, now); err == nil || len(second.Timeline) != 0 {
				t.Errorf("a second attempt is noted again: %+v, %v", second, err)
			}
		}
	}
}

func TestImportKeepsWhatIsNotGiven(t *testing.T) {
	existing := stored(orderIn(commerce.Paid, commerce.ByPickup, false), 5)
	existing.Products[0].Description, existing.Stock[0].PriceCents = "Dark", 499
	existing.Stores = []commerce.Store{{ID: "s", No: 3, Name: "Old", City: "Austin", Active: true}}
	quantity := int64(9)
	cmd := ImportCatalog{
		Stores:   []ImportStore{{ID: "s", Name: "New"}, {ID: "t", Name: "Second"}, {ID: "u", Name: "Third"}},
		Products: []ImportProduct{{ID: "a", StoreID: "s", Name: "Rye", Quantity: &quantity}},
	}
	result, changes, err := decided(cmd, existing, now)
	if err != nil {
		t.Fatal(err)
	}
	if want := (ImportResult{StoresMade: 2, StoresUpdated: 1, ProductsUpdated: 1}); result != want {
		t.Errorf("%+v, want %+v", result, want)
	}
	if s := changes.Stores[0]; s.No != 3 || s.City != "Austin" || s.Name != "New" {
		t.Errorf("updated store %+v", s)
	}
	if a, b := changes.Stores[1].No, changes.Stores[2].No; a != 7 || b != 8 {
		t.Errorf("new stores have the numbers %d and %d, want 7 and 8", a, b)
	}
	if p, s := changes.Products[0], changes.Stock[0]; p.Description != "Dark" || s.PriceCents != 499 || s.Quantity != 9 || s.SoldCount != 3 || s.UpdatedOn != now {
		t.Errorf("updated product %+v, %+v", p, s)
	}
}

// What has its values already is left as it is. Of a spreadsheet, texts are compared as it holds them.
func TestImportLeavesTheSame(t *testing.T) {
	existing := stored(orderIn(commerce.Paid, commerce.ByPickup, false), 5)
	existing.Stores = []commerce.Store{{ID: "s", No: 3, Name: "S", Active: true, RadiusMiles: new(2.5)}}
	existing.Categories = []commerce.Category{{ID: "c", Name: "C", Active: true}}
	existing.Products[0].Description = "two\r\nlines "
	was := existing.Stock[0]
	same := ImportProduct{ID: "a", StoreID: "s", Name: was.Name, PriceCents: &was.PriceCents, Quantity: &was.Quantity, Description: &existing.Products[0].Description}
	cell := same
	cell.Name, cell.Description, cell.Images = "", new("two\nlines"), &[]string{}
	for _, cmd := range []ImportCatalog{
		{Stores: []ImportStore{{ID: "s", Name: "S", RadiusMiles: new(2.5)}}, Categories: []ImportCategory{{ID: "c", Name: "C"}}, Products: []ImportProduct{same}},
		{Cells: true, Products: []ImportProduct{cell}},
	} {
		result, changes, err := decided(cmd, existing, now)
		if want := (ImportResult{CategoriesSame: len(cmd.Categories), StoresSame: len(cmd.Stores), ProductsSame: 1}); err != nil || result != want {
			t.Errorf("%+v, %v; want %+v", result, err, want)
		}
		if len(changes.Stores)+len(changes.Categories)+len(changes.Products)+len(changes.Stock)+len(changes.StockMoves) > 0 {
			t.Errorf("it changes %+v", changes)
		}
	}
	strict := ImportCatalog{Products: []ImportProduct{cell}}
	if result, _, err := decided(strict, existing, now); err != nil || result.ProductsUpdated != 1 {
		t.Errorf("%+v, %v; the text differs", result, err)
	}
}

func TestImportRefusesWhatDoesNotFit(t *testing.T) {
	existing := stored(orderIn(commerce.Paid, commerce.ByPickup, false), 5)
	existing.Stores = []commerce.Store{{ID: "s"}, {ID: "t"}}
	unknown, price := "cat_x", commerce.Cents(1)
	cmd := ImportCatalog{Products: []ImportProduct{
		{ID: "a", StoreID: "t", Name: "moved", PriceCents: &price},
		{ID: "b", StoreID: "x", Name: "nowhere", PriceCents: &price},
		{ID: "c", StoreID: "s", Name: "free"},
		{ID: "d", StoreID: "s", Name: "uncategorised", PriceCents: &price, CategoryID: &unknown},
	}}
	_, changes, err := decided(cmd, existing, now)
	refused, ok := errors.AsType[*ImportRefused](err)
	if !ok || len(changes.Products) != 0 {
		t.Fatalf("%v, %+v", err, changes)
	}
	want := []string{"products[0].store_id", "products[1].store_id", "products[2].price", "products[3].category_id"}
	for i, p := range refused.Problems {
		if i >= len(want) || p.Path != want[i] {
			t.Errorf("problem %d: %+v", i, p)
		}
	}
	if first := refused.Problems[0]; !strings.HasPrefix(refused.Error(), first.Path+": "+first.Reason+"\nproducts[1].store_id: ") {
		t.Errorf("it says %q", refused)
	}
	if len(refused.Problems) != len(want) {
		t.Errorf("%d problems, want %d", len(refused.Problems), len(want))
	}
}

func TestContacts(t *testing.T) {
	for _, c := range []struct {
		email, phone string
		want         []string
	}{
		{" Ann@Example.com ", "+1 555", []string{"email:ann@example.com", "phone:+1555"}},
		{"", "+1 (512) 555-0100", []string{"phone:+15125550100"}},
		{"a@b.c", " - ", []string{"email:a@b.c"}},
		{"", "", nil},
	} {
		var got []string
		for _, key := range customerKeys("s", "p", commerce.Live, &commerce.DeliveryAddress{Email: c.email, Phone: c.phone}) {
			got = append(got, key.Contact)
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%q, %q: %q, want %q", c.email, c.phone, got, c.want)
		}
	}
	if customerKeys("s", "p", commerce.Live, nil) != nil {
		t.Error("a contact without an address")
	}
}

// TestCustomer: a customer that was found by the e-mail address, else by the phone
// number, buys again, and can be found by each contact from then on.
func TestCustomer(t *testing.T) {
	key := func(contact string) commerce.CustomerKey {
		return commerce.CustomerKey{StoreID: "s", PartnerID: "p", Mode: commerce.Live, Contact: contact}
	}
	known := func(contact, id string) commerce.Customer {
		return commerce.Customer{CustomerKey: key(contact), ID: id}
	}
	const email, phone = "email:ann@example.com", "phone:+1555"
	for _, c := range []struct {
		name   string
		stored []commerce.Customer
		id     string
		made   []commerce.Customer
	}{
		{"a new customer", nil, "drawn", []commerce.Customer{known(email, "drawn"), known(phone, "drawn")}},
		{"by e-mail", []commerce.Customer{known(email, "ann")}, "ann", []commerce.Customer{known(phone, "ann")}},
		{"by phone", []commerce.Customer{known(phone, "ann")}, "ann", []commerce.Customer{known(email, "ann")}},
		{"by both", []commerce.Customer{known(email, "ann"), known(phone, "ann")}, "ann", nil},
		{"two of them", []commerce.Customer{known(email, "ann"), known(phone, "bob")}, "ann", nil},
		{"of another partner", []commerce.Customer{{CustomerKey: commerce.CustomerKey{StoreID: "s", PartnerID: "q", Mode: commerce.Live, Contact: email}, ID: "x"}},
			"drawn", []commerce.Customer{known(email, "drawn"), known(phone, "drawn")}},
		{"of the other mode", []commerce.Customer{{CustomerKey: commerce.CustomerKey{StoreID: "s", PartnerID: "p", Mode: commerce.Test, Contact: email}, ID: "x"}},
			"drawn", []commerce.Customer{known(email, "drawn"), known(phone, "drawn")}},
	} {
		address := &commerce.DeliveryAddress{Email: "Ann@example.com", Phone: "+1 555"}
		rows := fill(commerce.Needs{Customers: customerKeys("s", "p", commerce.Live, address)}, commerce.Changes{Customers: c.stored})
		oc := orderChange{rows: rows, order: commerce.Order{StoreID: "s", PartnerID: "p", Mode: commerce.Live, CustomerID: "drawn"}}
		oc.setCustomer(address)
		if oc.order.CustomerID != c.id || oc.order.CustomerEmail != "Ann@example.com" || !slices.Equal(oc.changes.Customers, c.made) {
			t.Errorf("%s: %+v, %+v; want %s, %+v", c.name, oc.order, oc.changes.Customers, c.id, c.made)
		}
	}
}
