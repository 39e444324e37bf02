package service_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"purveyor/internal/api/wire"
	"purveyor/internal/command"
	"purveyor/internal/commerce"
	"purveyor/internal/commit"
	"purveyor/internal/env"
	"purveyor/internal/outside/courier"
	"purveyor/internal/outside/geocode"
	"purveyor/internal/outside/payment"
	"purveyor/internal/service"
	"purveyor/internal/storage/storagetest"
	"purveyor/internal/testkit/fixture"
	"purveyor/internal/testkit/memory"
)

// TestMain hides the log of the failures that are provoked here.
func TestMain(m *testing.M) {
	slog.SetDefault(slog.New(slog.DiscardHandler))
	os.Exit(m.Run())
}

// shop is a shop in memory with the use cases of one process, and what they ask.
type shop struct {
	*fixture.Shop
	*service.Service
	db       *memory.Database
	engine   *storagetest.Flaky
	couriers *couriers
	places   *places
	jobs     *runner
	answers  *answers
}

const (
	processor = "sandbox"   // takes live payments; there is none for test orders
	provider  = "bike"      // delivers
	products  = 2           // of the shop
	quantity  = int64(1000) // of each product
)

// in runs a test in a shop, in a bubble with a clock of its own.
func in(t *testing.T, test func(t *testing.T, s *shop)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		db := memory.New()
		flaky := &storagetest.Flaky{Engine: db.Open(env.Env{}, time.Now)}
		s := &shop{Shop: fixture.Open(t, flaky, nil, products, quantity), db: db, engine: flaky, couriers: &couriers{}, places: &places{}, answers: &answers{}}
		s.process(s.Committer, service.Options{})
		test(t, s)
	})
}

// process makes the use cases of a process that has this committer.
func (s *shop) process(c *commit.Committer, o service.Options) {
	s.jobs = &runner{s: s}
	o.Jobs, o.Answers, o.Couriers, o.Geocoder = s.jobs, s.answers, s.couriers, s.places
	o.Processors = map[commerce.Mode]string{commerce.Live: processor}
	s.Service = service.New(s.Reader, s.engine, c, o)
	s.jobs.uses = s.Service
}

// restart ends the process in order, and starts another on the same database.
func (s *shop) restart(t *testing.T) {
	s.Committer.Close()
	c := commit.New(s.engine, commit.Options{EncodeEvent: wire.Encoder{}.EventData})
	t.Cleanup(c.Close)
	s.process(c, service.Options{})
}

// store changes the store.
func (s *shop) store(change command.ImportStore) {
	change.ID, change.Name = fixture.StoreID, "One"
	fixture.Do(s.Shop, command.ImportCatalog{Stores: []command.ImportStore{change}})
}

// caller is the partner of the shop, with a key of the mode.
func caller(mode commerce.Mode) service.Caller {
	return service.Caller{Actor: fixture.Actor(mode), Partner: fixture.Admit(fixture.Partner()).Partner}
}

// restricted is a caller whose key is not for the store.
func restricted() service.Caller {
	c := caller(commerce.Live)
	c.Partner.StoreIDs = []string{"sto_other"}
	return c
}

// once is a call under an idempotency key. The answer shows how often an answer was
// made, so that one that is made again is another one.
func once[R any](s *shop, key string) service.Once[R] {
	return service.Once[R]{Key: commerce.ReplyKey{PartnerID: fixture.PartnerID, Op: "op", Key: key}, Fingerprint: [32]byte{1},
		Encode: func(R) (int, []byte) { return 201, s.answers.next("called") }}
}

// awaiting is once for a call whose answer a job decides.
func awaiting[R any](s *shop, key string) service.Once[R] {
	o := once[R](s, key)
	o.Encode = func(R) (int, []byte) { return 0, nil }
	return o
}

func at(fulfillment commerce.Fulfillment) *commerce.DeliveryAddress {
	if fulfillment != commerce.ByDelivery {
		return nil
	}
	return &commerce.DeliveryAddress{Name: "Ann", Phone: "+15185550111",
		Address: commerce.Address{Line1: "2 Elm St", City: "Albany", State: "NY", PostalCode: "12208", Country: "US"}}
}

func lines(quantity int64) []commerce.OrderLine {
	return []commerce.OrderLine{{ProductID: fixture.ProductID(0), Quantity: quantity, PriceCents: fixture.Price}}
}

// reported is a report of one piece.
func reported(external string) service.ReportOrder {
	return service.ReportOrder{ExternalID: external, Sale: service.Sale{StoreID: fixture.StoreID, Fulfillment: commerce.ByPickup, Lines: lines(1)}}
}

// bought is a checkout of one piece.
func bought(fulfillment commerce.Fulfillment) service.StartCheckout {
	return service.StartCheckout{Checkout: service.Checkout{Sale: service.Sale{StoreID: fixture.StoreID, Fulfillment: fulfillment, Lines: []commerce.OrderLine{{ProductID: fixture.ProductID(0), Quantity: 1}}, Address: at(fulfillment)}}}
}

// ordered makes an order by a report, without waiting for anything.
func (s *shop) ordered(by service.Caller, in service.ReportOrder) commerce.Order {
	s.T.Helper()
	out, err := s.ReportOrder(context.Background(), by, in, service.Once[commerce.Order]{})
	if err != nil {
		s.T.Fatal(err)
	}
	return out.Result
}

// checkedOut makes an order whose payment session is open.
func (s *shop) checkedOut(fulfillment commerce.Fulfillment, key string) commerce.Order {
	s.T.Helper()
	in := bought(fulfillment)
	in.FeeGiven = true
	if _, err := s.StartCheckout(context.Background(), caller(commerce.Live), in, awaiting[commerce.Order](s, key)); err != nil {
		s.T.Fatal(err)
	}
	return s.Order(commerce.OrderKey{StoreID: fixture.StoreID, OrderID: s.jobs.ran[len(s.jobs.ran)-1].Subject})
}

// paid is checkedOut, and then paid.
func (s *shop) paid(fulfillment commerce.Fulfillment, key string) commerce.Order {
	s.T.Helper()
	o := s.checkedOut(fulfillment, key)
	err := s.RecordPaymentCallback(context.Background(), commerce.Actor{Kind: commerce.ActorProvider, ID: processor}, payment.Callback{
		Kind: payment.CallbackPaid, OrderID: o.ID, SessionID: session, PaymentID: "pay_1", AmountCents: o.TotalCents})
	if err != nil {
		s.T.Fatal(err)
	}
	return s.Order(o.Key())
}

// orders lists the ids of all orders.
func (s *shop) orders() (ids []string) {
	for _, o := range s.db.Orders() {
		ids = append(ids, o.ID)
	}
	return ids
}

// code is how a refusal shows in a table: its code, or the text of another error.
func code(err error) string {
	if refused, ok := errors.AsType[*commerce.Error](err); ok {
		return refused.Code
	}
	if err != nil {
		return err.Error()
	}
	return ""
}

// answers makes the answers that jobs decide, and counts all that are made.
type answers struct{ made atomic.Int64 }

func (a *answers) next(what string) []byte {
	return fmt.Appendf(nil, "%s, answer %d", what, a.made.Add(1))
}

func (a *answers) CheckedOut(_ commerce.Order, p commerce.Payment) (int, []byte) {
	return 201, a.next("session " + p.SessionID)
}

func (a *answers) Reported(o commerce.Order, _ string) (int, []byte) {
	return 201, a.next("courier " + o.CourierDeliveryID)
}

func (a *answers) Refunded(r commerce.Refund) (int, []byte) {
	return 200, a.next(fmt.Sprint("refunded ", r.AmountCents))
}

func (a *answers) Cancelled(o commerce.Order, _ commerce.Delivery, r *commerce.Refund) (int, []byte) {
	return 200, a.next(fmt.Sprint(o.Status, ", refund ", r != nil))
}

const session = "ses_1"

// runner runs the jobs that callers wait for: it calls no provider, and records what
// its test says.
type runner struct {
	s    *shop
	uses *service.Service
	// outcome is what comes of a job; nil: all goes well.
	outcome func(ctx context.Context, job commerce.Job) (refused string, err error)

	mu  sync.Mutex
	ran []commerce.Job
}

// Finish implements service.Finisher.
func (r *runner) Finish(ctx context.Context, key commerce.JobKey) (err error) {
	job, err := r.s.Reader.Job(ctx, key)
	if err != nil {
		return nil // it is done
	}
	r.mu.Lock()
	r.ran = append(r.ran, job)
	r.mu.Unlock()
	refused := ""
	if r.outcome != nil {
		if refused, err = r.outcome(ctx, job); err != nil {
			return err
		}
	}
	return r.record(context.WithoutCancel(ctx), job, refused)
}

// record records the outcome.
func (r *runner) record(ctx context.Context, job commerce.Job, refused string) (err error) {
	record := command.RecordJob{Job: job}
	about, err := r.uses.ReadSubject(ctx, job)
	if err != nil {
		r.s.T.Error(err)
	}
	facts := about.Facts()
	switch job.Kind {
	case commerce.JobRefund:
		_, err = service.Record(ctx, r.uses, job, command.RecordRefund{RecordJob: record, Facts: facts, RefundID: job.Subject, Ref: "ref_1", Refused: refused})
	case commerce.JobDispatch:
		_, err = service.Record(ctx, r.uses, job, command.RecordDelivery{RecordJob: record, Facts: facts, Attempt: about.Attempt, Provider: provider,
			Made: &command.CourierUpdate{ID: "bike_1", Status: commerce.CourierPending}})
	case commerce.JobCancelDelivery:
		_, err = service.Record(ctx, r.uses, job, command.RecordDeliveryCancelled{RecordJob: record, Facts: facts, RefundID: about.CancelRefundID})
	default:
		_, err = service.Record(ctx, r.uses, job, command.RecordPaymentSession{RecordJob: record, Facts: facts, SessionID: session, URL: "https://pay.example", Refused: refused})
	}
	return err
}

// couriers are asked for offers and for where a courier is.
type couriers struct {
	asked  atomic.Int64
	quoted courier.QuoteRequest
	err    error
	now    courier.Delivery // what Get says
	takes  time.Duration    // each call
}

const fee = commerce.Cents(599)

// Quote implements service.Couriers.
func (c *couriers) Quote(_ context.Context, _ commerce.Mode, r courier.QuoteRequest) (courier.Quote, error) {
	c.asked.Add(1)
	c.quoted = r
	return courier.Quote{ID: "quo_1", FeeCents: fee, Currency: "USD"}, c.err
}

// Get implements service.Couriers.
func (c *couriers) Get(ctx context.Context, _ commerce.Delivery) (courier.Delivery, error) {
	c.asked.Add(1)
	select {
	case <-time.After(c.takes):
		return c.now, c.err
	case <-ctx.Done():
		return courier.Delivery{}, ctx.Err()
	}
}

// places is a geocoder that finds every address at one place, beside the store.
type places struct {
	far bool // the place is in another city
	err error
}

// Find implements geocode.Geocoder.
func (p *places) Find(context.Context, geocode.Query) (geocode.Place, error) {
	found := geocode.Place{Point: fixture.StoreAt, Precision: geocode.Rooftop}
	if p.far {
		found.Lat++
	}
	return found, p.err
}
