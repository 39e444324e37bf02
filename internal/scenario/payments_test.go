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
	"purveyor/internal/command"
	"purveyor/internal/commerce"
	"purveyor/internal/effect"
	"purveyor/internal/inbound"
	"purveyor/internal/outside/courier"
	"purveyor/internal/outside/payment"
	"purveyor/internal/outside/sandbox"
	"purveyor/internal/storage"
)

const (
	pagePrefix  = "/sandbox/"
	sandboxName = "sandbox"
	// publicURL is where customers find the service.
	publicURL = "https://purveyor.example"
	// delay is how late comes what the sandbox is asked to do late: by the world's
	// clock, and not within the life of a test.
	delay = time.Hour
)

// wire puts the parts together as cmd/purveyor does: test mode pays in the
// sandbox and is brought by its couriers, and live mode has neither.
func (w *world) wire() {
	objects := effect.NewObjects(w.engine, w.commit)
	w.sandbox = payment.NewSandbox(objects, publicURL)
	w.sandbox.Now, w.sandbox.Delay = w.clock.Now, delay
	w.signer = signer{sandbox.NewSigner(objects), w.clock}
	fleet := w.newCouriers(objects)
	notices := inbound.New(w.engine.Reader(), w.commit, map[string]inbound.PaymentNotices{sandboxName: w.sandbox},
		map[string]inbound.CourierNotices{sandboxName: w.road})
	w.line = &lineTo{Sandbox: w.sandbox}
	w.effects = effect.Start(effect.Options{Engine: w.engine, Committer: w.commit, Worker: w.worker,
		Processors: map[string]effect.Processor{sandboxName: w.line}, Fleet: fleet, Geocoder: whereabouts,
		Movers: map[string]sandbox.Mover{courier.SandboxObjects: w.road}, Objects: objects, Post: notices.FromSandbox(w.signer)})
	w.partners = api.New(w.engine, w.commit, api.Options{Now: w.clock.Now, ReplyBytes: replyBytes, Jobs: impatient{w.effects, w},
		Processors: map[commerce.Mode]string{commerce.Test: sandboxName}, Couriers: fleet, Geocoder: whereabouts})
	w.api = w.partners.Handler()
	w.inbound, w.pages = notices, sandboxPages(w.sandbox.Handler(), w.road.Handler())
}

// signer signs by the world's clock, which the sandbox reads the signature by.
type signer struct {
	*sandbox.Signer
	clock *clock
}

func (s signer) Sign(ctx context.Context, _ time.Time, body []byte) (string, error) {
	return s.Signer.Sign(ctx, s.clock.Now(), body)
}

// finishJobs has done what is due by the world's clock, and what comes of it.
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
			if err := w.effects.Finish(ctx, job.Key()); err != nil {
				t.Fatalf("%s of %s: %v", job.Kind, job.Subject, err)
			}
		}
	}
}

func (w *world) dueJobs(t *testing.T) (due []commerce.Job) {
	t.Helper()
	by := w.clock.Now().Add(time.Second).UnixMilli() // stamps run ahead of the clock a little
	for _, job := range w.jobs(t) {
		if job.RunAt <= by && !w.inJam(job) {
			due = append(due, job)
		}
	}
	return due
}

// jobs lists all that wait, but for the webhooks, which transcripts send by a
// step of their own.
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

// inSandbox is 1 for what a sandbox does by itself, which comes first.
func inSandbox(j commerce.Job) int {
	if j.Owner == command.SandboxOwner {
		return 1
	}
	return 0
}

// click is what a button of the payment page does.
func (w *world) click(t *testing.T, session, outcome string) *answer {
	t.Helper()
	return w.do(t, call{method: http.MethodPost, path: pagePrefix + "pay/" + session, body: "outcome=" + outcome})
}

// seedPaid makes an order of any partner and mode whose customer has paid in
// the sandbox.
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
	w.finishJobs(t) // the merchant is told
	return id
}

// storedOrder reads an order where nothing is hidden.
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

// store saves rows that no command makes.
func (w *world) store(t *testing.T, needs commerce.Needs, changes commerce.Changes) {
	t.Helper()
	w.change(t, needs, func(*commerce.Rows, int64) commerce.Changes { return changes })
}

// change stores what no command would: changes of the rows as they are.
func (w *world) change(t *testing.T, needs commerce.Needs, change func(rows *commerce.Rows, now int64) commerce.Changes) {
	t.Helper()
	batch, err := w.engine.Load(context.Background(), needs)
	if err != nil {
		t.Fatal(err)
	}
	defer batch.Discard()
	batch.Rows().Apply(change(batch.Rows(), batch.Stamp()))
	if err := batch.Save(context.Background()); err != nil {
		t.Fatal(err)
	}
}

// checkout is a call that makes an order of rolls at 150 cents; its customer
// has this e-mail address.
func checkout(idem, email string, rolls int) call {
	return call{method: http.MethodPost, path: "/v1/checkout/session", key: "busy-test", idem: idem, body: fmt.Sprintf(
		`{"store_id":"sto_north","items":[{"product_id":"prd_roll","quantity":%d}],"fulfillment_type":"pickup",`+
			`"success_url":"https://shop.example.com/thanks","cancel_url":"https://shop.example.com/cart","customer_email":%q}`, rolls, email)}
}

func refund(order, idem, body string) call {
	return call{method: http.MethodPost, path: "/v1/orders/" + order + "/refund", key: "busy-test", idem: idem, body: body}
}

// pageSays tells whether a page for customers shows a text.
func pageSays(a *answer, text string) bool { return strings.Contains(string(a.body), text) }
