package backoffice

import (
	"fmt"
	"net/http"
	"regexp"
	"strings"
	"testing"

	"purveyor/internal/commerce"
	"purveyor/internal/service"
	"purveyor/internal/testkit/fixture"
)

// hidden is the value of a hidden field of a page's form.
func hidden(t *testing.T, page, name string) string {
	t.Helper()
	found := regexp.MustCompile(`name="` + name + `" value="([^"]*)"`).FindStringSubmatch(page)
	if found == nil {
		t.Fatalf("the page has no field %s:\n%s", name, page)
	}
	return found[1]
}

// TestOrderIsWorked: a clerk makes a pickup order ready and hands it over, each with one button
// of its page, and the story tells of it with names. A double click changes nothing more.
func TestOrderIsWorked(t *testing.T) {
	o := openOffice(t)
	sold := fixture.Do(o.Shop, o.Report(0, 2))
	path := "/office/orders/" + sold.ID
	for _, step := range []struct {
		act  string
		want commerce.OrderStatus
	}{{doReady, commerce.ReadyForPickup}, {doPickedUp, commerce.PickedUp}} {
		status, page := o.get("clerk", path)
		if status != http.StatusOK || !strings.Contains(page, `action="`+path+"/"+step.act+`"`) {
			t.Fatalf("%d, without %s:\n%s", status, step.act, page)
		}
		for range 2 {
			if status, to := o.post("clerk", path+"/"+step.act, "version", hidden(t, page, "version")); status != http.StatusSeeOther || to != path {
				t.Fatalf("%s: %d, %s", step.act, status, to)
			}
		}
		if got := o.Order(sold.Key()).Status; got != step.want {
			t.Errorf("%s: %s, want %s", step.act, got, step.want)
		}
	}
	_, page := o.get("viewer", path)
	for _, want := range []string{`href="` + o.office.pages.PageOf(sold.ID) + `"`, "Picked up at ", "The clerk", "Reported as paid", "Webhook order.ready_for_pickup was not sent yet", "$25.00", "Rye", "Stock moved"} {
		if !strings.Contains(page, want) {
			t.Errorf("the page lacks %q:\n%s", want, page)
		}
	}
	if strings.Count(page, "<strong>Picked up</strong>") != 1 {
		t.Errorf("a double click is told twice:\n%s", page)
	}
}

// TestReadyMinutes: the form that confirms a delivery asks when the goods are ready, with what
// the partner said.
func TestReadyMinutes(t *testing.T) {
	o := openOffice(t)
	sold := o.stand(commerce.Paid, commerce.ByDelivery, func(o *commerce.Order) { o.ReadyInMinutes = new(int64(20)) })
	path := "/office/orders/" + sold.ID + "/" + doConfirm
	if status, page := o.get("clerk", path); status != http.StatusOK || !strings.Contains(page, `name="minutes" value="20"`) {
		t.Errorf("%d\n%s", status, page)
	}
	for _, wrong := range []string{"-1", "1441", "soon", "1.5"} {
		if status, page := o.post("clerk", path, "minutes", wrong); status != http.StatusBadRequest || !strings.Contains(page, `value="`+wrong+`"`) {
			t.Errorf("%s: %d\n%s", wrong, status, page)
		}
	}
	collected := o.stand(commerce.Paid, commerce.ByPickup) // it waits for no courier
	if status, _ := o.post("clerk", "/office/orders/"+collected.ID+"/"+doConfirm, "minutes", " 45 "); status != http.StatusSeeOther {
		t.Fatal(status)
	}
	if got := o.Order(collected.Key()); got.Status != commerce.Processed || *got.ReadyInMinutes != 45 {
		t.Errorf("%+v", got)
	}
}

// TestOrderRights: users without a permission do not see the buttons, and a form that they send
// all the same is refused by a page that names the permission and an owner. The order of a store
// of others is not found.
func TestOrderRights(t *testing.T) {
	o := openOffice(t)
	sold := fixture.Do(o.Shop, o.Report(0, 1))
	path := "/office/orders/" + sold.ID
	for _, r := range orderRoutes {
		at := strings.NewReplacer("{id}", sold.ID, "{code}", "mail_not_sent").Replace(r.path)
		for _, role := range commerce.Roles {
			var status int
			var page string
			if r.method == get {
				status, page = o.get(string(role), at)
			} else { // a version that never was, so that what is allowed changes nothing
				status, page = o.post(string(role), at, "version", "1")
			}
			if may := role.Has(r.may); may == (status == http.StatusForbidden) || may && status == http.StatusInternalServerError {
				t.Errorf("%s %s by a %s: %d", r.method, at, role, status)
			} else if !may && (!strings.Contains(page, string(r.may)) || !strings.Contains(page, "Bo Boss")) {
				t.Errorf("%s %s by a %s does not say what is missing:\n%s", r.method, at, role, page)
			}
		}
		for user, want := range map[string]int{"elsewhere": http.StatusNotFound, "nobody": http.StatusSeeOther} {
			if status, page := o.get(user, at); r.method == get && status != want {
				t.Errorf("GET %s by %s: %d\n%s", at, user, status, page)
			}
			if status, _ := o.post(user, at); r.method == post && status != want {
				t.Errorf("POST %s by %s: %d", at, user, status)
			}
		}
	}
	if got := o.Order(sold.Key()); got.Status != sold.Status || got.Events != sold.Events {
		t.Errorf("the order was changed: %+v", got)
	}
	_, page := o.get("viewer", path)
	if _, main, _ := strings.Cut(page, "<main"); !strings.Contains(main, "</main>") || strings.Contains(main, "<form") {
		t.Errorf("a viewer sees a form:\n%s", page)
	}
}

// TestStalePage: an act from a page that is out of date is answered 409 with what happened
// meanwhile, and the form keeps what was typed.
func TestStalePage(t *testing.T) {
	o := openOffice(t)
	sold := fixture.Do(o.Shop, o.Report(0, 1))
	path := "/office/orders/" + sold.ID
	_, form := o.get("manager", path+"/"+doCancel)
	if status, _ := o.post("clerk", path+"/"+doReady); status != http.StatusSeeOther {
		t.Fatal(status)
	}
	status, page := o.post("manager", path+"/"+doCancel, "version", hidden(t, form, "version"), "key", hidden(t, form, "key"), "reason", "out of <rye>")
	if status != http.StatusConflict || o.Order(sold.Key()).Status != commerce.ReadyForPickup {
		t.Fatalf("%d, %s", status, o.Order(sold.Key()).Status)
	}
	for _, want := range []string{"The order has changed since you opened this page", "What happened meanwhile", "Ready for pickup, The clerk", `value="out of &lt;rye&gt;"`} {
		if !strings.Contains(page, want) {
			t.Errorf("the page lacks %q:\n%s", want, page)
		}
	}
	again := []string{"version", hidden(t, page, "version"), "key", hidden(t, page, "key"), "reason", "out of rye"}
	for range 2 { // the form that was answered works, also by a double click
		if status, to := o.post("manager", path+"/"+doCancel, again...); status != http.StatusSeeOther || to != path {
			t.Errorf("%d, %s", status, to)
		}
	}
	if got := o.Order(sold.Key()); got.Status != commerce.Cancelled || got.Events != sold.Events+2 {
		t.Errorf("%s after %d events", got.Status, got.Events)
	}
}

// TestNotesAndRequests: notes and reasons of staff, and what partners and customers wrote, stand
// on the page as texts.
func TestNotesAndRequests(t *testing.T) {
	o := openOffice(t)
	const evil = `<script>alert(1)</script>"'>`
	report := o.Report(0, 1)
	report.ExternalID = "A" + evil
	report.Address = &commerce.DeliveryAddress{Name: evil, Email: "a@e.example" + evil, Phone: evil, Address: commerce.Address{Line1: evil}}
	report.PickupInstructions, report.DropoffInstructions = evil, evil
	report.Metadata = commerce.Metadata{"table": "7 " + evil}
	sold := fixture.Do(o.Shop, report)
	path := "/office/orders/" + sold.ID
	for i := range 2 { // one note, by a double click
		if status, _ := o.post("clerk", path+"/"+doNote, "key", "k", "text", "note "+evil); status != http.StatusSeeOther {
			t.Fatal(i, status)
		}
	}
	if status, page := o.post("manager", path+"/"+doRequest, "reason", " "); status != http.StatusBadRequest || !strings.Contains(page, "Please give a reason") {
		t.Errorf("%d\n%s", status, page)
	}
	if status, _ := o.post("manager", path+"/"+doRequest, "reason", "reason "+evil); status != http.StatusSeeOther {
		t.Fatal(status)
	}
	_, page := o.get("manager", path)
	if strings.Contains(page, "<script>") || strings.Contains(page, `"'>`) {
		t.Errorf("a text became a part of the page:\n%s", page)
	}
	if n := strings.Count(page, "note &lt;script&gt;"); n != 1 {
		t.Errorf("%d notes:\n%s", n, page)
	}
	for _, want := range []string{"A refund is requested", "reason &lt;script&gt;", "<dt>table</dt><dd>7 &lt;script&gt;", "Refund: ", "Decline the refund"} {
		if want != "Refund: " && !strings.Contains(page, want) {
			t.Errorf("the page lacks %q:\n%s", want, page)
		}
	}
	if status, _ := o.post("manager", path+"/"+doDecline, "reason", "eaten"); status != http.StatusSeeOther || o.Order(sold.Key()).Status != commerce.Processed {
		t.Errorf("%d, %s", status, o.Order(sold.Key()).Status)
	}
}

// TestCrossOrigin: a form of another site does nothing.
func TestCrossOrigin(t *testing.T) {
	o := openOffice(t)
	sold := fixture.Do(o.Shop, o.Report(0, 1))
	r, err := http.NewRequest(http.MethodPost, "http://shop.example/office/orders/"+sold.ID+"/ready", nil)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Sec-Fetch-Site", "cross-site")
	r.Header.Set("Origin", "https://evil.example")
	if status, page := o.do("boss", r); status != http.StatusForbidden || !strings.Contains(page, "not sent from a page of the back office") || o.Order(sold.Key()).Status != commerce.Processed {
		t.Errorf("%d\n%s", status, page)
	}
}

// TestResolve: staff resolve a reason; one about money takes the right to refund.
func TestResolve(t *testing.T) {
	o := openOffice(t)
	sold := fixture.Do(o.Shop, o.Report(0, 1))
	var needs commerce.Needs
	for _, code := range []commerce.AttentionCode{commerce.AttentionMailNotSent, commerce.AttentionDisputed} {
		needs.Attention = append(needs.Attention, commerce.AttentionKeys(sold.Key(), code)...)
	}
	needs.Lock = true
	fixture.Change(t, o.Engine, needs, func(*commerce.Rows, commerce.Millis) (c commerce.Changes) {
		for _, key := range needs.Attention {
			c.Attention = append(c.Attention, commerce.Attention{StoreID: key.StoreID, OrderID: key.OrderID, Code: key.Code, Since: 5, Detail: "look"})
		}
		return c
	})
	path := "/office/orders/" + sold.ID
	if status, page := o.post("clerk", path+"/attention/mail_not_sent/resolve", "since", "4", "note", "half typed"); status != http.StatusConflict || !strings.Contains(page, `value="half typed"`) {
		t.Errorf("a reason that was raised again: %d\n%s", status, page)
	}
	for _, c := range []struct {
		user string
		code commerce.AttentionCode
		want int
	}{{"clerk", commerce.AttentionDisputed, http.StatusForbidden}, {"clerk", commerce.AttentionMailNotSent, http.StatusSeeOther}, {"manager", commerce.AttentionDisputed, http.StatusSeeOther},
		{"manager", commerce.AttentionOutOfRadius, http.StatusNotFound}} {
		if status, page := o.post(c.user, fmt.Sprintf("%s/attention/%s/resolve", path, c.code), "since", "5", "note", "called"); status != c.want {
			t.Errorf("%s by a %s: %d\n%s", c.code, c.user, status, page)
		}
	}
	_, page := o.get("viewer", path)
	for _, want := range []string{"Resolve attention", "called (was: look)", "The clerk", "The manager"} {
		if !strings.Contains(page, want) {
			t.Errorf("the story lacks %q:\n%s", want, page)
		}
	}
}

// TestRefundByPieces: the form refunds pieces with or without their way back into stock, no more than are left, and a double
// click refunds once. The amount that stands in the form counts for nothing
// then; pieces beside an amount that is chosen are refused.
func TestRefundByPieces(t *testing.T) {
	o := openOffice(t)
	sold := o.stand(commerce.Processed, commerce.ByPickup, func(o *commerce.Order) {
		o.Lines = []commerce.OrderLine{{ProductID: fixture.ProductID(0), Quantity: 3, PriceCents: 500}, {ProductID: fixture.ProductID(1), Quantity: 1, PriceCents: 300}}
		o.SubtotalCents, o.TaxCents, o.TotalCents = 1800, 180, 1980
	})
	fixture.Change(t, o.Engine, commerce.Needs{Payments: []commerce.OrderKey{sold.Key()}}, func(*commerce.Rows, commerce.Millis) commerce.Changes {
		return commerce.Changes{Payments: []commerce.Payment{{StoreID: sold.StoreID, OrderID: sold.ID, Processor: "stripe", SessionID: "cs_1", CapturedCents: 1980}}}
	})
	path := "/office/orders/" + sold.ID + "/" + doRefund
	_, page := o.get("manager", path)
	mustHave(t, page, "Pieces of Rye", "Up to 3", "Up to 1")
	first, second := piecesOf(fixture.ProductID(0)), piecesOf(fixture.ProductID(1))
	for _, wrong := range [][]string{{}, {first, "0", second, ""}, {first, "4"}, {first, "-1"}, {first, "1.5"}, {first, "much"}, {piecesOf("prd_none"), "1"}} {
		fields := append([]string{"by", "lines", "reason", "Mould", "key", "k" + strings.Join(wrong, " "), "version", hidden(t, page, "version"), "amount", "19.80"}, wrong...)
		status, again := o.post("manager", path, fields...)
		if status != http.StatusBadRequest || !strings.Contains(again, `value="lines" checked`) {
			t.Errorf("%v: %d\n%s", wrong, status, again)
		}
	}
	for range 2 {
		status, to := o.post("manager", path, "by", "lines", first, " 2 ", second, "", "restock", "yes", "reason", "Mould", "key", "once", "version", hidden(t, page, "version"), "amount", "19.80")
		if status != http.StatusSeeOther {
			t.Fatal(status, to)
		}
	}
	made := o.Refunds(sold.Key())
	if len(made) != 1 || made[0].AmountCents != 1100 || !made[0].Restock || len(made[0].Lines) != 1 || made[0].Lines[0].Quantity != 2 {
		t.Errorf("%+v", made)
	}
	_, page = o.get("manager", path)
	mustHave(t, page, "Up to 1", "$11.00 is on its way back")
	if status, page := o.post("manager", path, "by", "lines", first, "2", "reason", "Mould", "key", "more", "version", hidden(t, page, "version")); status != http.StatusBadRequest {
		t.Errorf("more than is left: %d\n%s", status, page)
	}
	for _, both := range [][]string{{first, "1"}, {"restock", "yes"}} { // of which one would be by mistake
		if status, page := o.post("manager", path, append(both, "by", "amount", "amount", "3.30", "reason", "Mould", "key", "both")...); status != http.StatusBadRequest {
			t.Errorf("%v and an amount: %d\n%s", both, status, page)
		}
	}
	if status, _ := o.post("clerk", path, "by", "lines", first, "1", "reason", "Mould", "key", "clerk"); status != http.StatusForbidden {
		t.Errorf("a clerk refunds: %d", status)
	}
	if status, to := o.post("manager", path, "by", "amount", "amount", "3.30", first, "0", "reason", "Mould", "key", "amount", "version", hidden(t, page, "version")); status != http.StatusSeeOther {
		t.Error(status, to)
	}
	if made := o.Refunds(sold.Key()); len(made) != 2 || made[0].AmountCents+made[1].AmountCents != 1430 {
		t.Errorf("%+v", made)
	}
}

// TestOrderOfMember: the story of a test order that a member made in the portal names the member.
func TestOrderOfMember(t *testing.T) {
	o := openOffice(t)
	made, err := o.uses.InviteMember(t.Context(), commerce.Actor{Kind: commerce.ActorOperator, ID: "ann"}, service.InviteMember{PartnerID: fixture.PartnerID, Email: "dev@p.example", Role: commerce.MemberAdmin})
	if err != nil {
		t.Fatal(err)
	}
	report := o.Report(0, 1)
	report.Actor = commerce.Actor{Kind: commerce.ActorMember, ID: made.Member.ID, Of: fixture.PartnerID, Mode: commerce.Test}
	sold := fixture.Do(o.Shop, report)
	if sold.PartnerID != fixture.PartnerID {
		t.Errorf("%+v", sold)
	}
	_, page := o.get("viewer", "/office/orders/"+sold.ID)
	mustHave(t, page, "dev@p.example")
}
