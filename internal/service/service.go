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
	storage.Orders
	storage.Money
	storage.Replies
	storage.Jobs
}

// Service runs the use cases. It is safe for concurrent use.
type Service struct {
	stored    storage.ReplyStore
	reader    Reads
	committer *commit.Committer
	o         Options
	replies   atomic.Pointer[schema.ReplyBytes] // of each partner, as of the last count
	calls     env.Flights[Tracked]              // calls that ask a provider for a courier's position
	// The id and the number of a store never change, so entries are never dropped.
	storeNos sync.Map // store id -> number
	storeIDs sync.Map // number -> store id
}

// Options are the dependencies of a service. A use case needs only those that its file
// uses.
type Options struct {
	Env env.Env
	Now func() time.Time // nil: that of Env
	// Jobs runs a job while its caller waits. Calls whose answer a job decides require
	// it: no worker starts such a job before its lease ends.
	Jobs Finisher
	// Answers makes the answers that jobs decide. Required by GiveUpJob, and by the use
	// cases that record jobs for which calls wait.
	Answers Answers
	// Processors names the payment processor of each mode. A mode without an entry
	// takes no payments.
	Processors map[commerce.Mode]string
	Couriers   Couriers
	Geocoder   geocode.Geocoder
	// ReplyBytes is how many bytes of replies a partner with the default rate limit
	// may have stored; 0: 1 GiB.
	ReplyBytes int64
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
