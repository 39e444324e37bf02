package portal

import (
	"errors"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"purveyor/internal/commerce"
	"purveyor/internal/service"
	"purveyor/internal/storage"
	"purveyor/internal/web"
)

// sandboxRoutes are the page and the acts of test mode. The acts are calls of the API: what it refuses to a test
// key, it refuses here.
var sandboxRoutes = []route{
	{method: get, path: sandboxPath, handle: (*visit).sandbox, word: "Sandbox", icon: "flask-conical"},
	{method: post, path: sandboxPath + "/act", changes: true, handle: (*visit).act},
	{method: post, path: sandboxPath + "/faults", changes: true, handle: (*visit).makeFault},
	{method: post, path: sandboxPath + "/faults/clear", changes: true, handle: (*visit).clearFaults},
	{method: post, path: sandboxPath + "/trigger", changes: true, handle: (*visit).trigger},
}

const (
	sandboxPath = Prefix + "/sandbox"
	ofSandbox   = "/v1/sandbox"
)

// What the page has at most to choose from.
const (
	testOrders = 20
	testStores = 100
)

// sandboxPage is the data of the page "sandbox".
type sandboxPage struct {
	Orders     []commerce.Order // of test mode, the newest first
	Stores     []commerce.Store
	Faults     []commerce.Fault
	Actions    []string
	Kinds      []commerce.FaultKind
	Operations []string
	Events     []commerce.WebhookKind
	Zone       *time.Location
	// What was typed.
	Order, Action, Amount         string
	Kind, Operation, Calls, Delay string
	Event, Store                  string
}

// Chosen is the order that was chosen; nil: none was.
func (p sandboxPage) Chosen() *commerce.Order {
	i := slices.IndexFunc(p.Orders, func(o commerce.Order) bool { return o.ID == p.Order })
	if i < 0 {
		return nil
	}
	return &p.Orders[i]
}

// tester is the member as the caller of reads that find test orders alone.
func (v *visit) tester() service.Caller {
	by := v.caller()
	by.Mode = commerce.Test
	return by
}

func (v *visit) sandboxPage() (page sandboxPage, err error) {
	page = sandboxPage{Actions: service.SandboxActions, Kinds: commerce.FaultKinds, Operations: v.p.api.Operations(), Events: service.TriggeredEvents()}
	for name, field := range map[string]*string{"order": &page.Order, "action": &page.Action, "amount": &page.Amount, "kind": &page.Kind, "operation": &page.Operation, "calls": &page.Calls, "delay": &page.Delay, "event": &page.Event, "store": &page.Store} {
		*field = strings.TrimSpace(v.Form.Get(name))
	}
	if page.Zone, err = v.zone(); err != nil {
		return page, err
	}
	f := storage.PartnerOrderFilter{PartnerID: v.partner.ID, Modes: []commerce.Mode{commerce.Test}, Limit: testOrders, Examine: ordersExamined}
	stores := storage.StoreFilter{Active: true, Limit: testStores}
	if len(v.partner.StoreIDs) > 0 {
		f.StoreIDs, stores.IDs = v.partner.StoreIDs, v.partner.StoreIDs
	}
	found, err := v.p.reads.PartnerOrders(v.Context(), f, nil)
	if err != nil {
		return page, err
	}
	for _, o := range found.Orders {
		page.Orders = append(page.Orders, o.Order)
	}
	if page.Order != "" && page.Chosen() == nil { // an older one, to which a link leads
		if o, err := v.p.uses.FindOrder(v.Context(), v.tester(), page.Order); err == nil {
			page.Orders = append(page.Orders, o)
		}
	}
	faults, err := v.p.reads.Faults(v.Context(), v.partner.ID)
	if err != nil {
		return page, err
	}
	page.Faults = faults.Asked(v.now())
	page.Stores, err = v.p.reads.Stores(v.Context(), stores)
	return page, err
}

func (v *visit) sandbox() error {
	page, err := v.sandboxPage()
	if err != nil {
		return err
	}
	return v.page("sandbox", "Sandbox", page)
}

// refusedInSandbox shows the page with what was typed, and why it was refused.
func (v *visit) refusedInSandbox(refused error) error {
	if isFailure(refused) {
		return refused
	}
	page, err := v.sandboxPage()
	if err != nil {
		return err
	}
	return v.again(refused, "sandbox", "Sandbox", page)
}

// numbers adds the numbers of a form to the body of a call. What is no number goes as it is, for the API to refuse.
func (v *visit) numbers(body map[string]any, names map[string]string) {
	for field, name := range names {
		typed := strings.TrimSpace(v.PostFormValue(field))
		if n, err := strconv.ParseInt(typed, 10, 64); err == nil {
			body[name] = n
		} else if typed != "" {
			body[name] = typed
		}
	}
}

// texts adds the texts of a form to the body of a call, without those that are empty.
func (v *visit) texts(body map[string]any, names map[string]string) {
	for field, name := range names {
		if text := v.PostFormValue(field); text != "" {
			body[name] = text
		}
	}
}

// act has someone act on a test order.
func (v *visit) act() error {
	body := map[string]any{"action": v.PostFormValue("action")}
	v.numbers(body, map[string]string{"amount": "amount_cents"})
	id := v.PostFormValue("order")
	if id == "" {
		return v.refusedInSandbox(commerce.Invalid("order", "Choose a test order"))
	}
	var done struct{ Action, Status string }
	if err := v.ask(ofSandbox+"/orders/"+url.PathEscape(id)+"/act", body, &done); err != nil {
		return v.refusedInSandbox(err)
	}
	return v.done(sandboxPath+"?order="+url.QueryEscape(id), "Done: "+done.Action+". The order is "+strings.ReplaceAll(done.Status, "_", " ")+" now")
}

// makeFault has the next calls of the test keys hit by a fault.
func (v *visit) makeFault() error {
	body := map[string]any{"kind": v.PostFormValue("kind")}
	v.texts(body, map[string]string{"operation": "operation"})
	v.numbers(body, map[string]string{"calls": "calls", "delay": "delay_ms"})
	if err := v.ask(ofSandbox+"/faults", body, &struct{}{}); err != nil {
		return v.refusedInSandbox(err)
	}
	return v.done(sandboxPath, "The fault hits the next calls of your test keys, within 2 seconds")
}

func (v *visit) clearFaults() error {
	var done struct{ Cleared int }
	if err := v.ask(ofSandbox+"/faults/clear", nil, &done); err != nil {
		return v.refusedInSandbox(err)
	}
	return v.done(sandboxPath, "No fault is left")
}

// trigger plays a test order until an event has happened.
func (v *visit) trigger() error {
	body := map[string]any{"event": v.PostFormValue("event")}
	v.texts(body, map[string]string{"store": "store_id"})
	var done struct {
		OrderID string `json:"order_id"`
	}
	err := v.ask(ofSandbox+"/trigger", body, &done)
	if e, ok := errors.AsType[*web.Error](err); ok && e.Code == "wrong_status" { // the order was made all the same
		return v.done(sandboxPath, e.Message)
	}
	if err != nil {
		return v.refusedInSandbox(err)
	}
	return v.done(sandboxPath+"?order="+url.QueryEscape(done.OrderID), "The event "+v.PostFormValue("event")+" has happened. The order that was made is chosen below")
}
