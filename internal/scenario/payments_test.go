package scenario

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"purveyor/internal/api"
	"purveyor/internal/api/wire"
	"purveyor/internal/command"
	"purveyor/internal/commerce"
	"purveyor/internal/effect"
	"purveyor/internal/env"
	"purveyor/internal/inbound"
	"purveyor/internal/outside/courier"
	"purveyor/internal/outside/payment"
	"purveyor/internal/outside/sandbox"
	"purveyor/internal/service"
	"purveyor/internal/storage"
	"purveyor/internal/testkit/fixture"
	"purveyor/internal/tracking"
)

const (
	pagePrefix  = "/sandbox/"
	sandboxName = "sandbox"
	// publicURL is the service's address for customers.
	publicURL = "https://purveyor.example"
	// delay is the delay of late events of the sandbox. By the world's clock it does
	// not end within a test.
	delay = time.Hour
)

// wire puts the parts together as cmd/purveyor does. Test mode uses the sandbox's
// payments and couriers, and live mode has neither.
func (w *world) wire() {
	objects := effect.NewObjects(env.Env{}, w.engine.Reader(), service.New(w.engine.Reader(), w.engine, w.commit, service.Options{}), w.runner)
	w.sandbox = payment.NewSandbox(env.Env{}, objects, publicURL)
	w.sandbox.Now, w.sandbox.Delay = w.clock.Now, delay
	w.signer = signer{sandbox.NewSigner(env.Env{}, objects), w.clock}
	fleet := w.newCouriers(objects)
	w.service = service.New(w.engine.Reader(), w.engine, w.commit, service.Options{LogsRequests: true, Jobs: impatient{w.runner, w}, Answers: api.Answers{}, Now: w.clock.Now, ReplyBytes: replyBytes,
		Processors: map[commerce.Mode]string{commerce.Test: sandboxName}, Couriers: fleet, Geocoder: knownPlaces,
		Sandboxes: service.Sandboxes{Payments: w.sandbox, Couriers: w.road}})
	callbacks := inbound.New(env.Env{}, w.service, map[string]payment.Processor{sandboxName: w.sandbox},
		map[string]courier.Provider{sandboxName: w.road})
	w.line = &lineTo{Sandbox: w.sandbox}
	w.effects = effect.Start(effect.Options{Queue: w.engine, Reads: w.engine.Reader(), Uses: w.service, Runner: w.runner, AppendWebhook: wire.AppendWebhook,
		Processors: map[string]payment.Processor{sandboxName: w.line}, Fleet: fleet, Geocoder: knownPlaces,
		Movers: map[string]sandbox.Mover{courier.SandboxObjects: w.road}, Post: callbacks.FromSandbox(w.signer), Requests: w.requests})
	w.partners = api.New(w.engine.Reader(), w.engine, w.service, api.Options{Pages: w.tracking, Now: w.clock.Now, TestPatience: time.Millisecond, Requests: w.requests})
	w.api = w.partners.Handler()
	w.inbound, w.pages = callbacks, sandboxPages(w.sandbox.Handler(), w.road.Handler())
	w.tracked = tracking.New(env.Env{}, w.service, w.tracking)
}

// signer signs by the world's clock, as the sandbox verifies signatures.
type signer struct {
	*sandbox.Signer
	clock *clock
}

func (s signer) Sign(ctx context.Context, _ time.Time, body []byte) (string, error) {
	return s.Signer.Sign(ctx, s.clock.Now(), body)
}

// finishJobs runs the jobs that are due by the world's clock, and the jobs that they
// create.
func (w *world) finishJobs(t *testing.T) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	for {
		due := w.dueJobs(t)
		if len(due) == 0 {
			return
		}
		for _, job := range due {
			if err := w.runner.Finish(ctx, job.Key()); err != nil {
				t.Fatalf("%s of %s: %v", job.Kind, job.Subject, err)
			}
		}
	}
}

func (w *world) dueJobs(t *testing.T) (due []commerce.Job) {
	t.Helper()
	by := w.clock.Now().Add(time.Second).UnixMilli() // stamps can be slightly ahead of the clock
	for _, job := range w.jobs(t) {
		if job.RunAt <= commerce.Millis(by) && !w.inJam(job) {
			due = append(due, job)
		}
	}
	return due
}

// jobs lists all waiting jobs except for webhooks, which transcripts send with a
// directive.
func (w *world) jobs(t *testing.T) []commerce.Job {
	t.Helper()
	const most = 10_000 // webhooks with them; a longer list would hide jobs
	list, err := w.engine.Reader().Jobs(context.Background(), storage.JobFilter{State: commerce.JobWaiting, Limit: most})
	if err != nil || len(list) == most {
		t.Fatalf("%d jobs wait: %v", len(list), err)
	}
	list = slices.DeleteFunc(list, func(j commerce.Job) bool {
		return j.Kind == commerce.JobDeliverWebhook || j.Kind == commerce.JobReleaseParked
	})
	slices.SortStableFunc(list, func(a, b commerce.Job) int { return cmp.Compare(inSandbox(b), inSandbox(a)) })
	return list
}

// inSandbox is 1 for jobs of the sandbox itself, which run first.
func inSandbox(j commerce.Job) int {
	if j.Owner == command.SandboxOwner {
		return 1
	}
	return 0
}

// click presses a button of the payment page.
func (w *world) click(t *testing.T, session, outcome string) *answer {
	t.Helper()
	return w.do(t, call{method: http.MethodPost, path: pagePrefix + "pay/" + session, body: "outcome=" + outcome})
}

// seedPaid makes an order of any partner and mode that its customer has paid in the
// sandbox.
func (w *world) seedPaid(t *testing.T, words []string) string {
	t.Helper()
	ctx := context.Background()
	id := w.seedOrder(t, append([]string{words[0], "pending_payment"}, words[1:]...))
	order := w.storedOrder(t, id)
	const site = "https://shop.example.com/"
	session, err := w.sandbox.OpenSession(ctx, payment.SessionRequest{OrderID: id, StoreName: "North Market",
		Lines:      []payment.Line{{Name: "Goods", PriceCents: order.TotalCents, Quantity: 1}},
		TotalCents: order.TotalCents, SuccessURL: site + "thanks", CancelURL: site + "cart"})
	if err != nil {
		t.Fatal(err)
	}
	w.store(t, commerce.Needs{Payments: []commerce.OrderKey{order.Key()}}, commerce.Changes{Payments: []commerce.Payment{{
		StoreID: order.StoreID, OrderID: id, Processor: sandboxName, State: commerce.PaymentOpen, SessionID: session.ID,
		SuccessURL: site, CancelURL: site, CreatedOn: order.CreatedOn, UpdatedOn: order.CreatedOn,
	}}})
	if a := w.click(t, session.ID, "pay"); a.status != http.StatusSeeOther {
		t.Fatalf("paying %s: %d %s", id, a.status, a.body)
	}
	w.finishJobs(t) // the merchant's message is sent
	return id
}

// storedOrder reads an order without access checks.
func (w *world) storedOrder(t *testing.T, id string) commerce.Order {
	t.Helper()
	order, err := w.engine.Reader().Order(context.Background(), w.orderKey(t, id))
	if err != nil {
		t.Fatal(err)
	}
	return order
}

// attention lists the open reasons to look at an order.
func (w *world) attention(t *testing.T, id string) string {
	t.Helper()
	rows, err := w.engine.Reader().Attention(context.Background(), w.orderKey(t, id))
	if err != nil {
		t.Fatal(err)
	}
	return openCodes(rows)
}

func openCodes(rows []commerce.Attention) string {
	var open []string
	for _, a := range rows {
		if a.Open() {
			open = append(open, string(a.Code))
		}
	}
	return strings.Join(open, " ")
}

func (w *world) orderKey(t *testing.T, id string) commerce.OrderKey {
	t.Helper()
	no, ok := commerce.StoreNoOfOrder(id)
	if !ok {
		t.Fatalf("%q is no order id", id)
	}
	store, err := w.engine.Reader().StoreByNo(context.Background(), no)
	if err != nil {
		t.Fatal(err)
	}
	return commerce.OrderKey{StoreID: store.ID, OrderID: id}
}

// store saves rows directly, without a command.
func (w *world) store(t *testing.T, needs commerce.Needs, changes commerce.Changes) {
	t.Helper()
	w.change(t, needs, func(*commerce.Rows, commerce.Millis) commerce.Changes { return changes })
}

// change changes rows directly, without a command.
func (w *world) change(t *testing.T, needs commerce.Needs, change func(rows *commerce.Rows, now commerce.Millis) commerce.Changes) {
	t.Helper()
	fixture.Change(t, w.engine, needs, change)
}

// checkout returns a call that creates an order of rolls at 150 cents, for a customer
// with this e-mail address.
func checkout(idem, email string, rolls int) call {
	return call{method: http.MethodPost, path: "/v1/checkout/session", key: "busy-test", idem: idem, body: fmt.Sprintf(
		`{"store_id":"sto_north","items":[{"product_id":"prd_roll","quantity":%d}],"fulfillment_type":"pickup",`+
			`"success_url":"https://shop.example.com/thanks","cancel_url":"https://shop.example.com/cart","customer_email":%q}`, rolls, email)}
}

func refund(order, idem, body string) call {
	return call{method: http.MethodPost, path: "/v1/orders/" + order + "/refund", key: "busy-test", idem: idem, body: body}
}

// pageSays reports whether a page for customers contains a text.
func pageSays(a *answer, text string) bool { return strings.Contains(string(a.body), text) }
