package command

import (
	"errors"
	"reflect"
	"strings"
	"testing"

	"purveyor/internal/commerce"
)

// TestEventsOfAnOrder: each event is a millisecond later than the one before, though the clock stands
// still, and the jobs of a transition are not awaited.
func TestEventsOfAnOrder(t *testing.T) {
	o := orderIn(commerce.Processed, commerce.ByPickup, true)
	_, changes, err := decided(MarkReady{Facts: FactsOf(o), Actor: byPartner}, stored(o, 1), now)
	if err != nil || changes.Webhooks[0].Timestamp != o.NotifiedOn+1 || len(changes.NewJobs) != 1 || changes.NewJobs[0].Awaited {
		t.Errorf("%+v, %v", changes, err)
	}
}

// TestReasonsInOneCommand: a reason that a command raises and resolves is one row, as it was left.
func TestReasonsInOneCommand(t *testing.T) {
	oc, _ := changing(orderIn(commerce.Paid, commerce.ByPickup, false), commerce.ActorStaff, 5)
	oc.raiseWithoutNote(commerce.AttentionDisputed, "x")
	oc.resolve("test", commerce.AttentionDisputed)
	if oc.raised(commerce.AttentionDisputed) || len(oc.changes.Attention) != 1 {
		t.Errorf("%+v", oc.changes.Attention)
	}
}

// TestActorsThatMayNot: a transition that is not open to an actor is refused with 403, which names both.
func TestActorsThatMayNot(t *testing.T) {
	oc, _ := changing(orderIn(commerce.Processed, commerce.ByDelivery, true), commerce.ActorPartner, 5)
	refusal, ok := errors.AsType[*commerce.Error](oc.transition(commerce.CourierCreated, ""))
	if !ok || refusal.Kind != commerce.KindForbidden || refusal.Message != "courier_created is not open to a partner" {
		t.Errorf("%+v", refusal)
	}
}

// TestMomentsThatAreNot: a time that cannot be is refused.
func TestMomentsThatAreNot(t *testing.T) {
	o := orderIn(commerce.ReadyForPickup, commerce.ByPickup, true)
	_, picked, err := decided(MarkPickedUp{Facts: FactsOf(o), Actor: byPartner, PickedUpAt: -1}, stored(o, 1), now)
	if refusedFor(err) != "picked_up_at" || !picked.Empty() {
		t.Errorf("%+v, %v", picked, err)
	}
	o.Status = commerce.Processed
	_, ready, err := decided(MarkReady{Facts: FactsOf(o), Actor: byPartner, ReadyAt: -1}, stored(o, 1), now)
	if refusedFor(err) != "ready_at" || !ready.Empty() {
		t.Errorf("%+v, %v", ready, err)
	}
}

// TestMetadataTwice: updated_on moves with each call, though nothing else does.
func TestMetadataTwice(t *testing.T) {
	o := orderIn(commerce.Paid, commerce.ByPickup, false)
	o.Metadata, o.UpdatedOn = commerce.Metadata{"a": "b"}, now-5
	got, changes, err := decided(UpdateMetadata{Facts: FactsOf(o), Actor: byPartner, Changes: map[string]*string{"a": new("b")}}, stored(o, 1), now)
	if err != nil || got.UpdatedOn != now || len(changes.Orders) != 1 {
		t.Errorf("%+v, %v", changes, err)
	}
}

// TestSalesThatAreRefused: a store that is not known, and a sale at the store that costs too much.
func TestSalesThatAreRefused(t *testing.T) {
	sale := Sale{Actor: byStaff, OrderID: "o", StoreID: "s", Fulfillment: commerce.ByPickup, Lines: []commerce.OrderLine{{ProductID: "a", Quantity: 2}}}
	err := sale.Access(fill(sale.needs(nil), commerce.Changes{}))
	if refusedFor(err) != "store_id" || !strings.Contains(err.Error(), "store s is not known") {
		t.Errorf("an unknown store: %v", err)
	}
	before := commerce.Changes{Stores: []commerce.Store{{ID: "s", Active: true, Open: true, PickupEnabled: true}},
		Stock: []commerce.Stock{{StoreID: "s", ProductID: "a", Name: "Rye", Active: true, Quantity: 9, PriceCents: commerce.MaxTotal}}}
	if _, changes, err := decided(CreateNativeOrder{Sale: sale}, before, now); refusedFor(err) != "items" || !changes.Empty() {
		t.Errorf("too much: %+v, %v", changes, err)
	}
	before.Stock[0].PriceCents, before.Stores[0].HoldMinutes, before.Partners = 5, 1, []commerce.Partner{{ID: "p"}}
	sale.Actor = byPartner
	if o, _, err := decided(StartCheckout{Sale: sale}, before, now); err != nil || o.HeldUntil != now+60_000 {
		t.Errorf("a hold of a minute: %+v, %v", o, err)
	}
}

// TestMessagesBeyondALimit: an e-mail beyond a limit is kept, and the merchant is told, as long as
// there is an order to tell it of.
func TestMessagesBeyondALimit(t *testing.T) {
	o := orderIn(commerce.ReadyForPickup, commerce.ByPickup, true)
	run := payJob(commerce.JobMailReady, "o", 0)
	for reason, raised := range map[commerce.UnsentReason]string{commerce.UnsentTooManyOfOrder: "mail_not_sent", commerce.UnsentTooManyOfPartner: "mail_not_sent", "switched_off": ""} {
		cmd := RecordMessage{RecordJob: RecordJob{Job: run}, Facts: FactsOf(o), What: "The mail", Kept: &commerce.UnsentMessage{Reason: reason}}
		before := stored(o, 1)
		before.Jobs = []commerce.Job{run}
		_, changes, err := decided(cmd, before, now)
		if err != nil || openCodes(changes.Attention) != raised || len(changes.Outbox) != 1 || len(changes.DoneJobs) != 1 {
			t.Errorf("%s: %+v, %v", reason, changes, err)
		}
		before.Orders = nil
		if _, changes, err := decided(cmd, before, now); err != nil || len(changes.Attention) > 0 || len(changes.Outbox) != 1 || len(changes.DoneJobs) != 1 {
			t.Errorf("%s, without the order: %+v, %v", reason, changes, err)
		}
	}
}

// TestMessagesAboutNoOrder: one that fails for good has no timeline, and one that waits is not given up,
// whatever the operator has seen.
func TestMessagesAboutNoOrder(t *testing.T) {
	run := payJob(commerce.JobMailAlarm, "x", int64(len(commerce.MessageDelays)))
	failed := RecordMessage{RecordJob: RecordJob{Job: run, Failed: errors.New("busy"), Delays: commerce.MessageDelays}}
	got, changes, err := decided(failed, commerce.Changes{Jobs: []commerce.Job{run}}, now)
	if err != nil || got.State != commerce.JobDead || len(changes.Jobs) != 1 || len(changes.Timeline) > 0 {
		t.Errorf("%+v, %v", changes, err)
	}
	o := orderIn(commerce.ReadyForPickup, commerce.ByPickup, true)
	there := stored(o, 1)
	for _, before := range []commerce.Changes{there, {Partners: there.Partners}, {}} {
		var facts OrderFacts
		if len(before.Partners) > 0 {
			facts = FactsOf(o)
		}
		before.Jobs = []commerce.Job{run}
		for _, seen := range []commerce.Job{run, deadJob(commerce.JobMailAlarm, "x")} {
			if _, _, err := decided(RecordMessage{RecordJob: byAnn(seen), Facts: facts}, before, now); codeOf(err) != "job_not_dead" {
				t.Errorf("about %q, given up as it was %s: %v", facts.Key.OrderID, seen.State, err)
			}
		}
	}
}

// TestAbout: an update is about a delivery of this attempt, by a provider that was asked, under the
// provider's id for it, as far as that is known.
func TestAbout(t *testing.T) {
	for _, c := range []struct {
		attempt                         int64
		provider, asked, update, stored string
		want                            bool
	}{
		{1, "u", "u", "d1", "d1", true},
		{1, "u", "u", "d1", "", true},
		{1, "u", "u", "d1", "d2", false},
		{1, "u", "u", "", "", false},
		{1, "", "", "d1", "", false},
		{1, "u", "v", "d1", "", false},
		{2, "u", "u", "d1", "d1", false},
	} {
		cmd := RecordCourierUpdate{Attempt: c.attempt, Provider: c.provider, Update: CourierUpdate{ID: c.update}}
		if got := cmd.about(commerce.Delivery{Attempt: 1, Provider: c.asked, ProviderID: c.stored}); got != c.want {
			t.Errorf("%+v: %v", c, got)
		}
	}
}

// TestUpsertsOfWhatIsThere: what an upsert does to a product that is there.
func TestUpsertsOfWhatIsThere(t *testing.T) {
	before := commerce.Changes{Partners: []commerce.Partner{{ID: "p"}}, Stores: []commerce.Store{{ID: "s"}, {ID: "t"}},
		Products: []commerce.Product{{StoreID: "s", ID: "a", Source: commerce.SourceService}}, Stock: []commerce.Stock{{StoreID: "s", ProductID: "a", Name: "Rye", Quantity: 4}}}
	item := commerce.Item{Product: before.Products[0], Stock: before.Stock[0]}
	for _, c := range []struct {
		name  string
		cmd   UpsertProduct
		want  string
		saved bool
	}{
		{"the same", UpsertProduct{ID: "a", StoreID: "s", Name: "Rye"}, "", true},
		{"the same, in a form", UpsertProduct{ID: "a", StoreID: "s", Name: "Rye", Facts: item.Facts()}, "", false},
		{"another quantity, in a form", UpsertProduct{ID: "a", StoreID: "s", Name: "Rye", Facts: item.Facts(), Quantity: new(int64(9))}, "", true},
		{"moved to another store", UpsertProduct{ID: "a", StoreID: "t", Name: "Rye"}, "store_id", false},
		{"a new one", UpsertProduct{ID: "b", StoreID: "s", Name: "Rye", Create: true}, "", true},
	} {
		c.cmd.Actor = byPartner
		got, changes, err := decided(c.cmd, before, now)
		if refusedFor(err) != c.want || (len(changes.Products)+len(changes.Stock) > 0) != c.saved {
			t.Errorf("%s: %+v, %+v, %v", c.name, got, changes, err)
		}
		if len(changes.Products) == 1 && (changes.Products[0].Source == commerce.SourcePartner) != c.cmd.Create {
			t.Errorf("%s: made by %s", c.name, changes.Products[0].Source)
		}
	}
}

// TestCellsWithoutImages: a spreadsheet without the column leaves the images as they are.
func TestCellsWithoutImages(t *testing.T) {
	before := commerce.Changes{Stores: []commerce.Store{{ID: "s", No: 1}}, Products: []commerce.Product{{StoreID: "s", ID: "a", Images: []string{"one"}}},
		Stock: []commerce.Stock{{StoreID: "s", ProductID: "a", Name: "Rye"}}}
	row := ImportProduct{ID: "a", StoreID: "s", Name: "Wheat"}
	_, changes, err := decided(ImportCatalog{Cells: true, Products: []ImportProduct{row}}, before, now)
	if err != nil || !reflect.DeepEqual(changes.Products[0].Images, []string{"one"}) {
		t.Errorf("%+v, %v", changes, err)
	}
}

// TestBulkUpsert: items are taken one after another, each alone, and a product that comes twice is one row.
func TestBulkUpsert(t *testing.T) {
	before := commerce.Changes{Partners: []commerce.Partner{{ID: "p"}}, Stores: []commerce.Store{{ID: "s"}}, Categories: []commerce.Category{{ID: "c"}},
		Products: []commerce.Product{{StoreID: "s", ID: "a"}}, Stock: []commerce.Stock{{StoreID: "s", ProductID: "a", Name: "Rye", Quantity: 4}}}
	item := func(id, category string, quantity int64) BulkItem {
		return BulkItem{UpsertProduct: UpsertProduct{Actor: byPartner, ID: id, StoreID: "s", CategoryID: category, Name: "Rye", Quantity: &quantity, Create: id == "b"}}
	}
	unread := commerce.Invalid("products[1]", "no product")
	cmd := BulkUpsertProducts{Actor: byPartner, Items: []BulkItem{item("a", "c", 5), {Refused: unread}, item("a", "gone", 6), item("x", "", 7), item("b", "c", 8), item("a", "", 9)}}
	done, changes, err := decided(cmd, before, now)
	if err != nil || len(done) != 6 {
		t.Fatalf("%+v, %v", done, err)
	}
	for i, want := range []string{"", "products[1]", "products[2].category_id", "not_found", "", ""} {
		code := ""
		if done[i].Refused != nil {
			code = refusedFor(done[i].Refused)
		}
		if code != want || want == "" && done[i] != (Upserted{ProductID: cmd.Items[i].ID, Created: i == 4, UpdatedOn: now}) {
			t.Errorf("item %d: %+v, %q, want %q", i, done[i], code, want)
		}
	}
	if len(changes.Products) != 2 || changes.Stock[0].Quantity != 9 || changes.Stock[0].CategoryID != "" || changes.Stock[1].Quantity != 8 || len(changes.StockMoves) != 3 {
		t.Errorf("%+v, %+v", changes.Stock, changes.StockMoves)
	}
	if move := changes.StockMoves[1]; move.Delta != 4 || move.ProductID != "a" {
		t.Errorf("%+v", move)
	}
	bySKU := BulkItem{UpsertProduct: UpsertProduct{Actor: byPartner, StoreID: "s", Name: "Rye", SKU: new("7"), BySKU: &SKUMatch{New: []string{"n"}}}}
	cmd.Items = []BulkItem{bySKU, bySKU}
	if done, changes, err := decided(cmd, before, now); err != nil || !done[0].Created || done[1].Created || done[1].ProductID != "n" || len(changes.Products) != 1 {
		t.Errorf("one SKU twice: %+v, %v", done, err)
	}
	cmd.Items = []BulkItem{{UpsertProduct: UpsertProduct{Actor: byPartner, StoreID: "s", Name: "Rye", SKU: new("7"), BySKU: &SKUMatch{Found: []string{"a"}, New: []string{"n"}}}}}
	if _, changes, err := decided(cmd, before, now); !errors.Is(err, ErrSKUsMoved) || !changes.Empty() {
		t.Errorf("the SKU has moved: %+v, %v", changes, err)
	}
}

// TestUpsertBySKU: the product with the SKU is found among those that had it and those that another
// command may have made for it; where there is none, the first free id makes it.
func TestUpsertBySKU(t *testing.T) {
	for _, c := range []struct {
		name       string
		skus       map[string]string // of stored products
		found, new []string
		want       string // the id, or the refusal
		created    bool
	}{
		{"found", map[string]string{"a": "7"}, []string{"a"}, []string{"n1"}, "a", false},
		{"found, and made for another one", map[string]string{"a": "7", "n1": "8"}, []string{"a"}, []string{"n1"}, "a", false},
		{"found, also as one that was made", map[string]string{"n1": "7"}, []string{"n1"}, []string{"n1"}, "n1", false},
		{"it has another SKU by now", map[string]string{"a": "8"}, []string{"a"}, []string{"n1"}, ErrSKUsMoved.Error(), false},
		{"new", nil, nil, []string{"n1", "n2"}, "n1", true},
		{"made meanwhile", map[string]string{"n1": "7"}, nil, []string{"n1"}, "n1", false},
		{"the id was taken for another SKU", map[string]string{"n1": "8"}, nil, []string{"n1", "n2"}, "n2", true},
		{"all ids were", map[string]string{"n1": "8"}, nil, []string{"n1"}, ErrSKUsMoved.Error(), false},
		{"two have it", map[string]string{"a": "7", "b": "7"}, []string{"a", "b"}, []string{"n1"}, "sku_ambiguous", false},
		{"and one that was made", map[string]string{"a": "7", "n1": "7"}, []string{"a"}, []string{"n1"}, "sku_ambiguous", false},
	} {
		before := commerce.Changes{Partners: []commerce.Partner{{ID: "p"}}, Stores: []commerce.Store{{ID: "s"}}}
		for id, sku := range c.skus {
			before.Products = append(before.Products, commerce.Product{StoreID: "s", ID: id, SKU: sku})
			before.Stock = append(before.Stock, commerce.Stock{StoreID: "s", ProductID: id, Name: "Rye"})
		}
		cmd := UpsertProduct{Actor: byPartner, StoreID: "s", Name: "Wheat", SKU: new("7"), BySKU: &SKUMatch{Found: c.found, New: c.new}}
		got, changes, err := decided(cmd, before, now)
		if id := got.ID + codeOf(err); id != c.want || (len(changes.Products) == 1) != (err == nil) || err == nil && (len(changes.StockMoves) == 1) != c.created {
			t.Errorf("%s: %s, %+v, %v", c.name, id, changes, err)
		}
	}
}

// TestPickupsOfDeliveries: an order by delivery is not picked up, whatever its status.
func TestPickupsOfDeliveries(t *testing.T) {
	for _, status := range []commerce.OrderStatus{commerce.Processed, commerce.ReadyForPickup, commerce.PickedUp} {
		o := orderIn(status, commerce.ByDelivery, true)
		_, ready, err := decided(MarkReady{Facts: FactsOf(o), Actor: byPartner}, stored(o, 1), now)
		_, picked, pickedErr := decided(MarkPickedUp{Facts: FactsOf(o), Actor: byPartner}, stored(o, 1), now)
		if codeOf(err) != "wrong_fulfillment_type" || codeOf(pickedErr) != "wrong_fulfillment_type" || !ready.Empty() || !picked.Empty() {
			t.Errorf("%s: %v, %v", status, err, pickedErr)
		}
	}
}
