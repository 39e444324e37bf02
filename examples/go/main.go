// Command shop is a small, whole integration with Purveyor. It reports orders and sells by card,
// keeps a copy of the catalog, and follows each order to its end. It may be killed at any time:
// nothing is lost, and nothing is done twice.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"io"
	"log"
	"maps"
	"net/http"
	"os"
	"slices"
	"time"

	purveyor "purveyor/sdk/go"
)

func main() {
	listen := flag.String("listen", "127.0.0.1:9000", "address for webhooks and tasks")
	data := flag.String("data", "shop.journal", "file of the database")
	flag.Parse()
	client, err := purveyor.New(os.Getenv("PURVEYOR_URL"), os.Getenv("PURVEYOR_KEY"), purveyor.Options{})
	if err != nil {
		log.Fatal(err)
	}
	books, err := openBooks(*data)
	if err != nil {
		log.Fatal(err)
	}
	s := &shop{client, books, purveyor.Webhooks{Secrets: []string{os.Getenv("PURVEYOR_SECRET")}, StandardOnly: true}}
	mux := http.NewServeMux()
	mux.HandleFunc("POST /hooks", s.hook)
	mux.HandleFunc("POST /tasks", s.task)
	mux.HandleFunc("GET /books", s.show)
	failed := make(chan error)
	for _, part := range []func() error{s.work, s.follow, (&http.Server{Addr: *listen, Handler: mux, ReadHeaderTimeout: 10 * time.Second}).ListenAndServe} {
		go func() { failed <- part() }()
	}
	log.Fatal(<-failed)
}

// shop is the program.
type shop struct {
	client *purveyor.Client
	books  *books
	hooks  purveyor.Webhooks
}

// hook receives a webhook. It answers once the event is on the disk, and before anything is done
// about it, since an answer that takes longer than five seconds counts as none.
func (s *shop) hook(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(http.MaxBytesReader(w, r.Body, 1<<20)) // a part of one has another signature
	e, err := s.hooks.Verify(body, r.Header)
	s.keep(w, err, change{Event: e})
}

// task takes something to do. It is on the disk when this is answered, and done soon.
func (s *shop) task(w http.ResponseWriter, r *http.Request) {
	t := new(task)
	err := json.NewDecoder(http.MaxBytesReader(w, r.Body, 1<<20)).Decode(t)
	s.keep(w, err, change{Wanted: t})
}

func (s *shop) keep(w http.ResponseWriter, wrong error, c change) {
	if wrong != nil {
		http.Error(w, wrong.Error(), http.StatusBadRequest)
		return
	}
	s.books.record(c)
	w.WriteHeader(http.StatusNoContent)
}

// show answers what the books have.
func (s *shop) show(w http.ResponseWriter, _ *http.Request) {
	s.books.mu.Lock()
	defer s.books.mu.Unlock()
	_ = json.NewEncoder(w).Encode(s.books) // the caller may be gone
}

// follow receives the events that no webhook brings: those of a time when this program, or the
// way to it, is down.
func (s *shop) follow() error {
	for next, err := range s.client.Events.Follow(context.Background(), s.books.Cursor, purveyor.Following{OnError: func(err error) { log.Print(err) }}) {
		if err != nil {
			return err
		}
		s.books.record(change{Event: &next.Event, Cursor: next.Cursor})
	}
	return errors.New("the events ended")
}

// work does the tasks, until each is done or refused for good.
func (s *shop) work() error {
	for {
		pause := time.Hour
		tasks, ids := s.books.due()
		for i, t := range tasks {
			done, err := s.do(t, ids[i])
			var e *purveyor.Error
			switch {
			case err == nil:
			case errors.As(err, &e) && !e.SafeToRepeat:
				done.Refused = string(e.Code)
			case e == nil: // the task makes no sense
				done.Refused = err.Error()
			default: // it may have been done: the same call will tell
				log.Printf("%s, again later: %v", t.ID, err)
				pause = 2 * time.Second
				continue
			}
			done.ID = t.ID
			s.books.record(change{Done: &done})
		}
		select {
		case <-s.books.changed:
		case <-time.After(pause):
		}
	}
}

// do makes the call of a task, always with the same key.
func (s *shop) do(t task, orderID string) (o outcome, err error) {
	ctx, key := context.Background(), purveyor.WithIdempotencyKey(t.ID)
	switch t.Do {
	case "report":
		var body purveyor.ReportRequest
		if err = json.Unmarshal(t.Body, &body); err == nil {
			var reply *purveyor.ReportReply
			if reply, err = s.client.Orders.Report(ctx, body, key); err == nil {
				o.OrderID = reply.OrderID
			}
		}
	case "checkout":
		var body purveyor.CheckoutRequest
		if err = json.Unmarshal(t.Body, &body); err == nil {
			var reply *purveyor.CheckoutReply
			if reply, err = s.client.Checkout.Start(ctx, body, key); err == nil {
				o.OrderID, o.Pay = reply.OrderID, reply.CheckoutURL
			}
		}
	case "confirm":
		_, err = s.client.Orders.Confirm(ctx, orderID, purveyor.ConfirmRequest{})
	case "cancel":
		_, err = s.client.Orders.Cancel(ctx, orderID, purveyor.CancelRequest{Refund: purveyor.Ptr(true)}, key)
	case "refund":
		var body purveyor.RefundRequest
		if err = json.Unmarshal(t.Body, &body); err == nil {
			_, err = s.client.Orders.Refund(ctx, orderID, body, key)
		}
	case "sync":
		for product, problem := range s.client.Products.Sync(ctx, s.books.Synced, purveyor.ListProductsQuery{}) {
			if problem != nil {
				return o, problem
			}
			s.books.record(change{Product: &product})
		}
	case "ack": // a certification asks what the books have
		var body purveyor.CertificationAck
		if err = json.Unmarshal(t.Body, &body); err == nil {
			s.books.mu.Lock()
			for _, o := range s.books.Orders {
				if o.Status != "" {
					body.Orders = append(body.Orders, purveyor.CertificationOrder{OrderID: o.OrderID, Status: string(o.Status)})
				}
			}
			body.EventIDs = slices.Collect(maps.Keys(s.books.Events))
			s.books.mu.Unlock()
			_, err = s.client.Certify.Ack(ctx, body)
		}
	default:
		err = errors.New("unknown task " + t.Do)
	}
	return o, err
}
