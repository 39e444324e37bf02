package payment

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"purveyor/internal/env"
	"purveyor/internal/outside/sandbox"
)

// Sandbox is the Processor of test mode. It takes no money, has a payment page of its
// own (Handler), and misbehaves when the customer's e-mail address asks for it
// (docs/SANDBOX.md). All of its state is kept in sandbox objects, so every process
// sees it and it survives a restart.
type Sandbox struct {
	sandbox.Base
	// Delay is the delay of late events: callbacks with the tags late and unordered,
	// and failures with refund-fails-later. NewSandbox sets 3 s.
	Delay time.Duration
}

const slowness = 5 * time.Second // of OpenSession with the tag slow

// NewSandbox makes a sandbox. Handler must be served below baseURL, the service's
// public URL.
func NewSandbox(e env.Env, objects sandbox.Objects, baseURL string) *Sandbox {
	return &Sandbox{Base: sandbox.NewBase(e, objects, baseURL), Delay: 3 * time.Second}
}

// OpenSession implements Processor. The id of a session is derived from its order's
// id: a first request is a single write, and only a repeated one reads.
func (s *Sandbox) OpenSession(ctx context.Context, r SessionRequest) (Session, error) {
	if err := s.misopen(ctx, r.CustomerEmail); err != nil {
		return Session{}, err
	}
	if problem := r.problem(); problem != "" {
		return Session{}, &Refusal{problem}
	}
	id, err := s.Signer.ID(ctx, sessionPrefix, r.OrderID)
	if err != nil {
		return Session{}, err
	}
	x := session{ID: id, Request: r, Status: SessionOpen}
	data, err := sandbox.Encode(x)
	if err != nil {
		return Session{}, err
	}
	err = s.Objects.PutObject(ctx, sandbox.Object{ID: id, Data: data})
	if errors.Is(err, sandbox.ErrChanged) {
		return s.reopen(ctx, id, r)
	}
	if err != nil {
		return Session{}, fmt.Errorf("open a sandbox payment session: %w", err)
	}
	return s.view(x), nil
}

// misopen does to OpenSession what the e-mail address asks for.
func (s *Sandbox) misopen(ctx context.Context, email string) error {
	if asks(email, tagSlow) {
		if err := s.Env.Sleep(ctx, slowness); err != nil {
			return err
		}
	}
	switch {
	case asks(email, tagSessionRefused):
		return &Refusal{"The sandbox refuses this session, as the customer's e-mail address asks."}
	case asks(email, tagSessionUnreachable):
		return errors.New("the sandbox is unreachable, as the customer's e-mail address asks")
	}
	return nil
}

// reopen answers a repeated request.
func (s *Sandbox) reopen(ctx context.Context, id string, r SessionRequest) (Session, error) {
	x, err := s.change(ctx, id, lapse)
	if err != nil {
		return Session{}, err
	}
	if len(r.Lines) == 0 {
		r.Lines = x.Request.Lines // nil and empty are the same
	}
	if len(x.Request.DeliverTo) == 0 {
		r.DeliverTo = x.Request.DeliverTo // sessions of older versions do not have it
	}
	if !reflect.DeepEqual(x.Request, r) {
		return Session{}, &Refusal{"There is a session of order " + r.OrderID + " with other contents."}
	}
	return s.view(x), nil
}

// Pay does what the button of the payment page does. The session is paid then, unless the
// customer's e-mail address asks for something else.
func (s *Sandbox) Pay(ctx context.Context, id string) (Session, error) {
	x, err := s.change(ctx, id, func(x *session, now time.Time) error { x.pay("", now, s.Delay); return nil })
	return s.view(x), err
}

// ExpireSession implements Processor.
func (s *Sandbox) ExpireSession(ctx context.Context, id string) (Session, error) {
	x, err := s.change(ctx, id, func(x *session, _ time.Time) error { x.expire(); return nil })
	return s.view(x), err
}

// Session implements Processor.
func (s *Sandbox) Session(ctx context.Context, id string) (Session, error) {
	x, err := s.change(ctx, id, lapse)
	return s.view(x), err
}

// Refund implements Processor.
func (s *Sandbox) Refund(ctx context.Context, r RefundRequest) (Refund, error) {
	var made Refund
	_, err := s.change(ctx, r.SessionID, func(x *session, now time.Time) (err error) {
		made, err = x.refund(r, now, s.Delay)
		return err
	})
	if err != nil {
		return Refund{}, err
	}
	return made, nil
}

// ReadCallback implements Processor.
func (s *Sandbox) ReadCallback(ctx context.Context, header http.Header, body []byte) ([]Callback, error) {
	return sandbox.Read(ctx, &s.Base, header, body, checkCallback, func(reason string) error { return &BadCallback{reason} })
}

// change lets f change a session, and stores it with the callbacks that f adds. Every
// change adds a callback: if f adds none, nothing is stored.
func (s *Sandbox) change(ctx context.Context, id string, f func(*session, time.Time) error) (session, error) {
	return sandbox.Change(ctx, s.Objects, sessions, id, func(x *session) ([]sandbox.Callback, error) {
		err := f(x, s.Now())
		return x.callbacks, err
	})
}

func lapse(x *session, now time.Time) error { x.lapse(now); return nil }

var sessions = sandbox.Kind{Name: "sandbox payment session", IDs: regexp.MustCompile("^" + sessionPrefix + "[0-9a-f]{40}$"),
	Missing: &Refusal{"There is no such payment session in the sandbox."}}

// view returns a session as the port shows it.
func (s *Sandbox) view(x session) Session {
	v := Session{ID: x.ID, Status: x.Status, PaymentID: x.PaymentID}
	switch x.Status {
	case SessionOpen:
		v.URL = s.URL + pagePath + x.ID
	case SessionPaid:
		v.PaidCents = x.price()
		v.RefundedCents = x.refunded(s.Now())
	}
	return v
}

// The tags by which a customer's e-mail address asks the sandbox to misbehave. They
// follow a '+' in its local part and are separated by '.'. docs/SANDBOX.md says what
// each of them does.
const (
	tagSessionRefused     = "session-refused"
	tagSessionUnreachable = "session-unreachable"
	tagSlow               = "slow"
	tagDecline            = "decline"
	tagLate               = "late"
	tagTwice              = "twice"
	tagUnordered          = "unordered"
	tagPaidTwice          = "paid-twice"
	tagPaidLess           = "paid-less"
	tagDisputed           = "disputed"
	tagRefundRefused      = "refund-refused"
	tagRefundUnreachable  = "refund-unreachable"
	tagRefundFailsLater   = "refund-fails-later"
)

// asks reports whether an address has a tag.
func asks(email, tag string) bool {
	at := strings.LastIndexByte(email, '@')
	if at < 0 {
		return false
	}
	_, tags, _ := strings.Cut(strings.ToLower(email[:at]), "+")
	return slices.Contains(strings.Split(tags, "."), tag)
}

// CallbackPath is the inbound path for callbacks of payments, as sandbox.Callback
// names it.
const CallbackPath = "payments"

// post adds a callback to the current change. Its id is derived from the session's id
// and a number: it is the same whichever process sends it, and however often.
func (x *session) post(after time.Duration, n Callback) {
	x.Told++
	n.ID = "evt_test_" + strings.TrimPrefix(x.ID, sessionPrefix) + "_" + strconv.Itoa(x.Told)
	n.OrderID = x.Request.OrderID
	if n.RefundID == "" && n.Kind != CallbackDisputed {
		n.SessionID = x.ID
	}
	body, err := sandbox.Encode(n)
	if err != nil {
		panic(err) // strings and numbers always encode
	}
	callback := sandbox.Callback{To: CallbackPath, After: after, Body: body}
	x.callbacks = append(x.callbacks, callback)
	if asks(x.email(), tagTwice) {
		x.callbacks = append(x.callbacks, callback)
	}
}

// checkCallback checks a callback that post has made. Fields that a newer process added
// are ignored. A kind that we do not know is an error: the next attempt may reach a
// process that knows it.
func checkCallback(n Callback) (Callback, error) {
	switch n.Kind {
	case CallbackPaid, CallbackPending, CallbackDeclined, CallbackExpired, CallbackRefunded, CallbackRefundFailed, CallbackDisputed:
	default:
		return Callback{}, fmt.Errorf("its kind %q is not known", n.Kind)
	}
	if n.ID == "" || n.OrderID == "" {
		return Callback{}, errors.New("it names no order or has no id")
	}
	return n, nil
}
