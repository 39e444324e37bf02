package simulation

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"time"

	"purveyor/internal/commerce"
	"purveyor/internal/outside/sandbox"
	"purveyor/internal/service"
	"purveyor/internal/storage"
)

var (
	staff    = service.Caller{Actor: commerce.Actor{Kind: commerce.ActorStaff, ID: "usr_ann", Mode: commerce.Live, TraceID: "office"}}
	operator = commerce.Actor{Kind: commerce.ActorOperator, ID: "root"}
)

// act has people do something in a process until they know what came of it: the status and
// the code that an API would answer with. A refusal after a try without an answer may mean
// that this try was successful.
func (w *world) act(what string, do func(context.Context, *service.Service) error) (status int, code string, again bool) {
	for range mostTries {
		var got error
		err := errLost
		answered, by := w.inside(func(v *server) { got = do(context.Background(), v.uses) })
		if answered {
			err = got
		}
		refusal, refused := errors.AsType[*commerce.Error](err)
		switch {
		case err == nil:
			status, code = http.StatusOK, ""
		case refused:
			status, code = http.StatusConflict, refusal.Code
		case errors.Is(err, storage.ErrNotFound):
			status, code = http.StatusNotFound, "not_found"
		default:
			again = true
			w.sleep(w.between(time.Second, 5*time.Second))
			continue
		}
		w.sim.Tracef("people: %s: %d %s", what, status, code)
		w.say("The merchant's people %s: %s answers %d %s", what, by, status, code)
		return status, code, again
	}
	w.broke("%s is never answered", what)
	return 0, "", again
}

// staffDeeds are what staff do, in words that stand before an order.
var staffDeeds = map[string]string{"confirm": "confirm", "ready-for-pickup": "have the goods ready of", "picked-up": "hand over the goods of"}

// staffAdvance has staff move an order on.
func (w *world) staffAdvance(s *story, act string) (status int, answer string) {
	status, code, again := w.act(staffDeeds[act]+" order "+s.id, func(ctx context.Context, uses *service.Service) (err error) {
		order, err := w.reader.Order(ctx, commerce.OrderKey{StoreID: storeID(s.store), OrderID: s.id})
		if err != nil {
			return err
		}
		switch act {
		case "confirm":
			_, err = uses.ConfirmOrder(ctx, staff, service.ConfirmOrder{Order: order})
		case "ready-for-pickup":
			_, err = uses.MarkReady(ctx, staff, service.Handover{Order: order})
		case "picked-up":
			_, err = uses.MarkPickedUp(ctx, staff, service.Handover{Order: order})
		}
		return err
	})
	if again && code == "wrong_status" { // a try whose answer was lost has done it
		return http.StatusOK, ""
	}
	return status, code
}

// attend has staff work through the list of attention, each quarter of an hour.
func (w *world) attend() {
	for w.goesOn(10*time.Minute, 20*time.Minute) {
		list, err := w.reader.AllOpenAttention(context.Background(), []string{storeID(0), storeID(1)}, 50)
		if err != nil {
			w.broke("the list of attention could not be read: %v", err)
		}
		for _, a := range list {
			if order, is := w.outdated(a); is {
				w.broke("staff are asked to look at order %s for %s, which is over: it is %s", a.OrderID, a.Code, order)
			}
			w.settle(a)
		}
	}
}

// outdated reports whether a reason to look at an order is one no more (BACKOFFICE, Attention), and
// what the order is now.
func (w *world) outdated(a commerce.Attention) (now string, is bool) {
	ctx, key := context.Background(), commerce.OrderKey{StoreID: a.StoreID, OrderID: a.OrderID}
	order, err := w.reader.Order(ctx, key)
	if err != nil {
		return err.Error(), true
	}
	delivery, _ := w.reader.Delivery(ctx, key) // a pickup order has none
	switch a.Code {
	case commerce.AttentionGoodsReturning:
		is = delivery.Status != commerce.CourierReturning
	case commerce.AttentionNotDispatched:
		is = delivery.State == commerce.DeliveryActive || order.Stopped()
	case commerce.AttentionCourierGaveUp, commerce.AttentionGoodsReturned:
		is = order.Stopped()
	case commerce.AttentionProviderRefusesUs: // it may be needed again, to call the courier off
		is = delivery.State == commerce.DeliveryActive && !order.Stopped()
	case commerce.AttentionRefundDue:
		is = order.Status == commerce.Refunded
	case commerce.AttentionInsufficientStock:
		is = order.Status != commerce.Paid
	}
	if open, err := w.reader.Attention(ctx, key); !slices.Contains(open, a) { // the order has moved since the list was read
		return fmt.Sprint(err), err != nil
	}
	return fmt.Sprintf("%s, its delivery %s (%s)", order.Status, delivery.State, delivery.Status), is
}

// settle deals with one reason to look at an order.
func (w *world) settle(a commerce.Attention) {
	w.act("settle "+string(a.Code)+" of order "+a.OrderID, func(ctx context.Context, uses *service.Service) error {
		order, err := w.reader.Order(ctx, commerce.OrderKey{StoreID: a.StoreID, OrderID: a.OrderID})
		if err != nil {
			return err
		}
		again := a.Code == commerce.AttentionCourierGaveUp || a.Code == commerce.AttentionGoodsReturned
		if again && !order.Status.Terminal() && w.lot(2) == 0 {
			_, err = uses.DispatchAgain(ctx, staff, service.ForReason{Order: order, Reason: "it is needed"})
			return err
		}
		if w.env.Since(a.Since.Time()) < time.Hour {
			return nil
		}
		_, err = uses.ResolveAttention(ctx, staff, service.ResolveAttention{Order: order, Code: a.Code, Since: a.Since, Note: "seen"})
		return err
	})
}

// operate has an operator suspend partners for a while, and try dead jobs again.
func (w *world) operate() {
	for w.goesOn(time.Hour, 4*time.Hour) {
		if !w.faulty {
			continue
		}
		p := w.partners[w.lot(len(w.partners))]
		p.suspended = true
		w.retryDead()
		w.suspend(p, true)
		p.shut = w.env.Now().Add(5 * time.Second)
		w.sleep(w.between(time.Minute, 20*time.Minute))
		p.shut = time.Time{}
		w.suspend(p, false)
		p.suspended, p.until = false, w.env.Now()
	}
}

// hangs is what an endpoint does that never answers.
const hangs = 1

// sicken has the endpoints of partners refuse webhooks for a while. One that answered 410 is
// resumed by an operator.
func (w *world) sicken() {
	for w.goesOn(20*time.Minute, 3*time.Hour) {
		if !w.faulty {
			continue
		}
		p := w.partners[w.lot(len(w.partners))]
		p.sick = []int{hangs, http.StatusInternalServerError, http.StatusGone}[w.lot(3)]
		w.fault(fmt.Sprint("an endpoint refused webhooks, or hung: ", p.sick))
		w.sayToAll("The endpoint of %s refuses webhooks, or hangs: %d.", p.id, p.sick)
		w.sleep(w.between(10*time.Second, 30*time.Minute))
		p.sick = 0
		w.sayToAll("The endpoint of %s takes webhooks again.", p.id)
		w.act("resume the endpoint of "+p.id, func(ctx context.Context, uses *service.Service) error { // which may go on already
			return uses.ResumeEndpoint(ctx, operator, p.id)
		})
	}
}

// retryDead has the jobs tried again that have no tries left.
func (w *world) retryDead() {
	list, err := w.reader.Jobs(context.Background(), storage.JobFilter{State: commerce.JobDead, Limit: 20})
	if err != nil {
		w.broke("dead jobs could not be read: %v", err)
	}
	for _, job := range list {
		w.act("retry "+job.ID, func(ctx context.Context, uses *service.Service) error {
			_, err := uses.RetryJob(ctx, operator, job)
			return err
		})
	}
}

func (w *world) suspend(p *partner, suspended bool) {
	w.report.Faults["a partner was suspended, or not any more"]++
	status, code, _ := w.act("suspend "+p.id, func(ctx context.Context, uses *service.Service) error {
		_, err := uses.UpdatePartner(ctx, operator, service.UpdatePartner{ID: p.id, Suspended: &suspended})
		return err
	})
	if status != http.StatusOK {
		w.broke("a partner could not be suspended, or not any more: %s", code)
	}
}

// intrude posts callbacks with a forged signature. The service must refuse all of them.
func (w *world) intrude() {
	for w.goesOn(5*time.Minute, 30*time.Minute) {
		if len(w.told) > 0 {
			w.forge(w.told[w.lot(len(w.told))])
		}
	}
}

func (w *world) forge(s *story) {
	r := httptest.NewRequest(http.MethodPost, "/inbound/payments/sandbox", strings.NewReader(`{"Kind":"paid","ID":"evt_x","OrderID":"`+s.id+`"}`))
	r.Header.Set(sandbox.SignatureHeader, "t=1,v1=00")
	recorded := httptest.NewRecorder()
	if answered, _ := w.inside(func(v *server) { v.handler.ServeHTTP(recorded, r) }); answered && recorded.Code/100 != 4 && recorded.Code/100 != 5 {
		s.broke("a forged callback was answered %d %s", recorded.Code, recorded.Body)
	}
	w.report.Faults["a callback was forged"]++
}
