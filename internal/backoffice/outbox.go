package backoffice

import (
	"errors"
	"time"

	"purveyor/internal/commerce"
	"purveyor/internal/site"
	"purveyor/internal/storage"
)

const outboxPageSize = 50

// outboxPage is the data of the page "outbox".
type outboxPage struct {
	Messages []messageShown
	Next     string // position of the next page; empty: there is none
	Further  bool   // the list ends because too many rows were examined
}

// messageShown is a message with the store of its order.
type messageShown struct {
	commerce.UnsentMessage
	Store commerce.Store
}

// outbox lists the mails and texts that were kept here and not sent: those about orders of the
// user's stores, and the others for users of all stores.
func (v *visit) outbox() error {
	var p outboxPage
	before, stores := v.URL.Query().Get("before"), map[int64]commerce.Store{}
	for examined := 0; ; examined += examineStep {
		if p.Further = examined >= mostExamined; p.Further {
			p.Next = before
			break
		}
		page, err := v.o.reads.Outbox(v.Context(), before, examineStep)
		if err != nil {
			return err
		}
		for _, m := range page {
			store, err := v.storeOfMessage(m, stores)
			if err != nil {
				return err
			}
			if v.user.May(v.route.may, storeOrAll(store)) {
				if len(p.Messages) == outboxPageSize {
					p.Next = before
					return v.page("outbox", "Outbox", p)
				}
				p.Messages = append(p.Messages, messageShown{m, store})
			}
			before = m.ID
		}
		if len(page) < examineStep {
			break
		}
	}
	return v.page("outbox", "Outbox", p)
}

// storeOrAll is the store in which a right is needed; without a store it is all of them.
func storeOrAll(s commerce.Store) string {
	if s.ID == "" {
		return commerce.AllStores
	}
	return s.ID
}

// storeOfMessage is the store of a message's order; an empty one if it is about none. known has
// the stores that were read before.
func (v *visit) storeOfMessage(m commerce.UnsentMessage, known map[int64]commerce.Store) (commerce.Store, error) {
	no, ok := commerce.StoreNoOfOrder(m.OrderID)
	if !ok {
		return commerce.Store{}, nil
	}
	if store, met := known[no]; met {
		return store, nil
	}
	store, err := v.o.reads.StoreByNo(v.Context(), no)
	if errors.Is(err, storage.ErrNotFound) {
		err = nil
	}
	known[no] = store
	return store, err
}

// outboxMessage shows one message.
func (v *visit) outboxMessage() error {
	m, err := v.o.reads.OutboxMessage(v.Context(), v.PathValue("id"))
	if errors.Is(err, storage.ErrNotFound) {
		return commerce.NotFound("message")
	}
	if err != nil {
		return err
	}
	store, err := v.storeOfMessage(m, map[int64]commerce.Store{})
	if err == nil {
		err = v.mayIn(storeOrAll(store), "message")
	}
	if err != nil {
		return err
	}
	return v.page("message", "Message", messageShown{m, store})
}

// Words is why the message was not sent.
func (m messageShown) Words() string {
	switch m.Reason {
	case commerce.UnsentTestMode:
		return "It is about a test order"
	}
	return site.Word(string(m.Reason))
}

// Zone is the clock by which the message's time is shown.
func (m messageShown) Zone() *time.Location { return site.ZoneOf(m.Store) }
