// Package service is the home of use cases: one file and one exported method for each. A
// method reads the facts that never change, makes the ids of new rows, runs a command,
// waits for a provider if the answer depends on it, and returns a typed result. Fronts
// (the API, inbound callbacks, jobs, the command line) decode their input, call one method and
// encode its result.
package service

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"purveyor/internal/commerce"
	"purveyor/internal/commit"
	"purveyor/internal/env"
	"purveyor/internal/outside/courier"
	"purveyor/internal/outside/geocode"
	"purveyor/internal/storage"
	"purveyor/internal/storage/schema"
)

// Reads are the reads of use cases.
type Reads interface {
	storage.Stores
	storage.Catalog
	storage.ProductFollowing
	storage.StockHistory
	storage.Orders
	storage.Money
	storage.Replies
	storage.People
	storage.CourierFacts
	storage.Jobs
	storage.Partners
	storage.Endpoints
	storage.Sums
	storage.Events
}

// Service runs the use cases. It is safe for concurrent use.
type Service struct {
	stored    storage.ReplyStore
	reader    Reads
	committer *commit.Committer
	o         Options
	replies   atomic.Pointer[schema.ReplyBytes] // of each partner, as of the last count
	calls     env.Flights[Tracked]              // calls that ask a provider for a courier's position
	follower  string                            // names this process to others that could follow the product feed; empty: not yet
	// The id and the number of a store never change, so entries are never dropped.
	storeNos sync.Map // store id -> number
	storeIDs sync.Map // number -> store id
}

// Options are the dependencies of a service. A use case needs only those that its file
// uses.
type Options struct {
	Env env.Env
	Now func() time.Time // nil: that of Env
	// Jobs runs a job while its caller waits; no worker starts such a job before its lease
	// ends. Nil: no call waits, and a running service does the jobs.
	Jobs Finisher
	// Answers makes the answers that jobs decide. Required by GiveUpJob, and by the use
	// cases that record jobs for which calls wait.
	Answers Answers
	// Processors names the payment processor of each mode. A mode without an entry
	// takes no payments.
	Processors map[commerce.Mode]string
	Couriers   Couriers
	Geocoder   geocode.Geocoder
	Sandboxes  Sandboxes
	// ReplyBytes is how many bytes of replies a partner with the default rate limit
	// may have stored; 0: 1 GiB.
	ReplyBytes int64
	// LogsRequests: the calls of partners are logged, so that a certification can see them.
	LogsRequests bool
	// RequireCertified gives live keys to partners alone that have passed the certification.
	RequireCertified bool
	// SumsPage is how many orders MakeSums reads at once; 0: 1000.
	SumsPage int
}

// Finisher runs a job while its caller waits, as jobs.Runner does.
type Finisher interface {
	Finish(ctx context.Context, key commerce.JobKey) error
}

// Couriers are the reads of courier.Fleet. Jobs make all calls that change a delivery.
type Couriers interface {
	Quote(ctx context.Context, mode commerce.Mode, r courier.QuoteRequest) (courier.Quote, error)
	Get(ctx context.Context, d commerce.Delivery) (courier.Delivery, error)
}

// New makes a service that reads from reader and stored, and changes rows by the
// committer.
func New(reader Reads, stored storage.ReplyStore, committer *commit.Committer, o Options) *Service {
	if o.Now == nil {
		o.Now = o.Env.Now
	}
	if o.ReplyBytes == 0 {
		o.ReplyBytes = 1 << 30
	}
	return &Service{stored: stored, reader: reader, committer: committer, o: o}
}

func (s *Service) millis() commerce.Millis { return commerce.MillisOf(s.o.Now()) }

func (s *Service) newID(prefix string) string {
	return commerce.NewID(prefix, s.millis(), s.o.Env.Entropy())
}

// newRefundID makes the id of a refund of an order, which carries the number of the
// order's store.
func (s *Service) newRefundID(o commerce.Order) string {
	no, _ := commerce.StoreNoOfOrder(o.ID) // the order was found by it
	return commerce.NewRefundID(no, s.millis(), s.o.Env.Entropy())
}

// orderKey finds the store of an order by the number that the order's id carries. It
// returns storage.ErrNotFound for an id that the service did not make.
func (s *Service) orderKey(ctx context.Context, orderID string) (commerce.OrderKey, error) {
	no, ok := commerce.StoreNoOfOrder(orderID)
	if !ok {
		return commerce.OrderKey{}, storage.ErrNotFound
	}
	storeID, err := s.storeID(ctx, no)
	return commerce.OrderKey{StoreID: storeID, OrderID: orderID}, err
}

// newOrderID makes the id of a new order of a store, which carries the store's number.
// It refuses an unknown store (400).
func (s *Service) newOrderID(ctx context.Context, storeID string) (string, error) {
	no, err := s.storeNo(ctx, storeID)
	if errors.Is(err, storage.ErrNotFound) {
		err = commerce.Invalid("store_id", "store %s is not known", storeID)
	}
	if err != nil {
		return "", err
	}
	return commerce.NewOrderID(no, s.millis(), s.o.Env.Entropy()), nil
}

func (s *Service) storeNo(ctx context.Context, id string) (int64, error) {
	if no, ok := s.storeNos.Load(id); ok {
		return no.(int64), nil
	}
	store, err := s.reader.Store(ctx, id)
	if err != nil {
		return 0, err
	}
	s.storeNos.Store(id, store.No)
	return store.No, nil
}

func (s *Service) storeID(ctx context.Context, no int64) (string, error) {
	if id, ok := s.storeIDs.Load(no); ok {
		return id.(string), nil
	}
	store, err := s.reader.StoreByNo(ctx, no)
	if err != nil {
		return "", err
	}
	s.storeIDs.Store(no, store.ID)
	return store.ID, nil
}

// Once makes a call take effect at most once.
type Once[R any] struct {
	// Key is the idempotency key and its scope. If Key.Key is empty, the caller gave no
	// key, and a repeat of the call is a new call.
	Key         commerce.ReplyKey
	Fingerprint [32]byte // SHA-256 of the decoded request, encoded again; equal for repeats
	// Encode makes the answer of an accepted call. It runs inside the batch, so that the
	// stored bytes are the bytes that are answered. Status 0 means that a job decides the
	// answer, and that there is no answer for the meantime.
	Encode func(R) (status int, body []byte)
}

// Outcome is the outcome of a call.
type Outcome[R any] struct {
	// Result is set for calls without a key, Reply for calls with one.
	Result   R
	Reply    Reply
	Replayed bool     // the call was a repeat, and changed nothing
	Pending  *Pending // nil: the answer is decided
}

// Reply is an answer in the form in which it is stored for an idempotency key. Status 0
// means that there is no answer yet.
type Reply struct {
	Status int
	Body   []byte
}

// Pending reports that the provider has not answered within waitTime. The job goes on, and
// a repeat of the call under its key gets the result. If the Outcome has a Reply, it is
// the answer for the meantime.
type Pending struct {
	OrderID string // the order that the call made; empty: none, or unknown
}

// waitTime is how long a call waits for a provider.
const waitTime = 10 * time.Second

// refusal returns the error of a call whose job released the key because the provider
// refused.
type refusal func(ctx context.Context, job commerce.Job) error

// neverRefused is the refusal of calls whose jobs always close their key.
func neverRefused(context.Context, commerce.Job) error {
	return errors.New("the stored answer is gone")
}

// once runs the command of a call, at most once if the call has a key. If the command adds
// jobs that decide the answer, once runs these jobs and waits for the answer.
func once[R any](ctx context.Context, s *Service, by Caller, o Once[R], cmd commit.Keyed[R], refused refusal) (out Outcome[R], err error) {
	if o.Key.Key == "" {
		out.Result, err = commit.Do(ctx, s.committer, cmd)
		return out, err
	}
	if err := s.roomForReply(ctx, by.Partner, o.Key); err != nil {
		return out, err
	}
	return onceWithRoom(ctx, s, o, cmd, refused)
}

func onceWithRoom[R any](ctx context.Context, s *Service, o Once[R], cmd commit.Keyed[R], refused refusal) (out Outcome[R], err error) {
	stored, asked, err := commit.DoJobs(ctx, s.committer, commit.Once(o.Key, o.Fingerprint, cmd, o.Encode))
	if err != nil {
		return out, err
	}
	out.Reply, out.Replayed = Reply{stored.Status, stored.Body}, stored.Replayed
	jobs := awaited(asked)
	if len(jobs) == 0 && stored.Job.ID == "" {
		return out, nil
	}
	if len(jobs) == 0 { // the call is a repeat, and its job still runs
		job, err := s.reader.Job(context.WithoutCancel(ctx), stored.Job)
		if err != nil { // the job is done by now; decided reads the reply in any case
			job = commerce.Job{Slot: stored.Job.Slot, ID: stored.Job.ID}
		}
		jobs = []commerce.Job{job}
	}
	out.Reply, out.Pending, err = s.decided(ctx, o.Key, jobs, out.Reply, refused)
	return out, err
}

func awaited(asked []commerce.Job) (jobs []commerce.Job) {
	for _, job := range asked {
		if job.Awaited {
			jobs = append(jobs, job)
		}
	}
	return jobs
}

// decided runs jobs, waits for them, and returns the reply that they decide, or meanwhile
// if it is not decided in time. The reply stays open until the last job has decided. A job
// without a Subject is known by its key alone. What the call did is saved before: if the
// database goes away meanwhile, the answer is the one for the meantime, and not that
// nothing was changed.
func (s *Service) decided(ctx context.Context, key commerce.ReplyKey, jobs []commerce.Job, meanwhile Reply, refused refusal) (Reply, *Pending, error) {
	gone := context.WithoutCancel(ctx) // for reads that must succeed even if the caller has gone
	wait, cancel := s.o.Env.WithTimeout(ctx, waitTime)
	defer cancel()
	if err := s.finish(wait, jobs); err != nil && wait.Err() == nil && !errors.Is(err, context.Canceled) && !away(err) {
		return Reply{}, nil, err
	}
	job := jobs[len(jobs)-1]
	pending := &Pending{madeOrder(job)}
	stored, err := s.reader.Reply(gone, key)
	switch {
	case errors.Is(err, storage.ErrNotFound): // the job has just released the key for another call: a repeat is a new call
		if job.Subject != "" {
			if refusal := refused(gone, job); !away(refusal) {
				return Reply{}, nil, refusal
			}
		}
		return Reply{}, pending, nil
	case away(err):
		return meanwhile, pending, nil
	case err != nil:
		return Reply{}, nil, err
	case stored.Open():
		return meanwhile, pending, nil
	}
	return Reply{stored.Status, stored.Body}, nil, nil
}

// away reports whether an error says that the database cannot be used right now, or that the
// process ends.
func away(err error) bool {
	return errors.Is(err, storage.ErrUnavailable) || errors.Is(err, storage.ErrOutcomeUnknown) || errors.Is(err, ErrClosed)
}

// finish runs jobs at the same time, so that a slow cancellation of a courier does not
// delay a refund.
func (s *Service) finish(ctx context.Context, jobs []commerce.Job) error {
	if s.o.Jobs == nil {
		return nil
	}
	errs := make([]error, len(jobs))
	finishes := make([]func(), len(jobs))
	for i, job := range jobs {
		finishes[i] = func() { errs[i] = s.o.Jobs.Finish(ctx, job.Key()) }
	}
	s.o.Env.Together(finishes...)
	return errors.Join(errs...)
}

// madeOrder returns the order that was made by the call that asked for the job. It is
// empty if the call made no order or the job is unknown.
func madeOrder(job commerce.Job) string {
	if job.Kind != commerce.JobOpenSession {
		return ""
	}
	return job.Subject
}

// roomForReply refuses a new call with an idempotency key if the stored replies of the
// partner have reached their limit as of the last count: ReplyBytes with the default rate
// limit, and in proportion more with a higher one. Repeats are not refused.
func (s *Service) roomForReply(ctx context.Context, p commerce.Partner, key commerce.ReplyKey) error {
	most := float64(s.o.ReplyBytes) * max(1, float64(p.RateLimit)/commerce.DefaultRateLimit)
	if stored := s.replies.Load(); stored == nil || float64((*stored)[p.ID]) < most {
		return nil
	}
	if _, err := s.reader.Reply(ctx, key); !errors.Is(err, storage.ErrNotFound) {
		return err
	}
	return ErrTooManyReplies
}
