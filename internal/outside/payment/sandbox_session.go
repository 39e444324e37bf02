package payment

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"net/url"
	"strings"
	"time"

	"purveyor/internal/commerce"
	"purveyor/internal/outside/sandbox"
)

const (
	sessionPrefix = "cs_test_"
	paymentPrefix = "pi_test_"
	refundPrefix  = "re_test_"
)

// session is a payment session as the sandbox stores it, with the rules for its
// changes. It is stored as JSON with these field names, including those of
// SessionRequest.
type session struct {
	ID        string
	Request   SessionRequest
	Status    SessionStatus
	Email     string       // typed by the customer if the request has none
	PaymentID string       // empty: not paid
	Refunds   []refund     // oldest first
	Told      int          // number of callbacks so far, which is the number of the latest
	Declines  int          // how many of them report a declined card
	Acts      sandbox.Acts `json:",omitzero"`

	callbacks []sandbox.Callback // of the current change
}

type refund struct {
	ID          string
	OurID       string
	AmountCents commerce.Cents
	FailsOn     int64 // Unix ms, when the refund fails; 0: it does not fail
}

// problem returns why a request is refused; empty: it is not.
func (r SessionRequest) problem() string {
	sum := r.DeliveryFeeCents + r.TaxCents
	for _, line := range r.Lines {
		sum += line.PriceCents * commerce.Cents(line.Quantity)
	}
	switch {
	case r.OrderID == "":
		return "The order has no id."
	case sum != r.TotalCents || r.TotalCents < 0:
		return fmt.Sprintf("The lines, the fee and the tax are %s, and not %s.", sum.Dollars(), r.TotalCents.Dollars())
	case !isWebAddress(r.SuccessURL):
		return "The success URL is no absolute http or https URL."
	case !isWebAddress(r.CancelURL):
		return "The cancel URL is no absolute http or https URL."
	}
	return ""
}

// isWebAddress reports whether a text may become a link.
func isWebAddress(text string) bool {
	u, err := url.Parse(text)
	return err == nil && (u.Scheme == "http" || u.Scheme == "https") && u.Hostname() != "" && u.User == nil
}

// leadsTo returns a URL of the request with this session's id in it.
func (x *session) leadsTo(text string) string {
	return strings.ReplaceAll(text, "{CHECKOUT_SESSION_ID}", x.ID)
}

func (x *session) email() string {
	if x.Request.CustomerEmail != "" {
		return x.Request.CustomerEmail
	}
	return x.Email
}

// pay takes the customer's money, once.
func (x *session) pay(email string, now time.Time, delay time.Duration) {
	x.lapse(now)
	if x.Status != SessionOpen {
		return
	}
	x.typed(email)
	if asks(x.email(), tagDecline) {
		x.decline(email, now)
		return
	}
	var late time.Duration
	if asks(x.email(), tagLate) {
		late = delay
	}
	paid := x.paid(late)
	again := func(tag string, change func(*Callback)) {
		if asks(x.email(), tag) {
			callback := paid
			change(&callback)
			x.post(late+delay, callback)
		}
	}
	again(tagUnordered, func(c *Callback) { c.Kind = CallbackPending })
	again(tagPaidTwice, func(c *Callback) { c.PaymentID = x.secondPayment() })
	again(tagDisputed, func(c *Callback) { c.Kind, c.Message = CallbackDisputed, doubted })
}

// secondPayment is the id of the payment that the tag reports. It may be heard of first.
func (x *session) secondPayment() string { return derive(paymentPrefix, x.ID+" again") }

// has reports whether a payment is one of the session's.
func (x *session) has(payment string) bool {
	return payment == x.PaymentID || asks(x.email(), tagPaidTwice) && payment == x.secondPayment()
}

// price is what the customer pays: the total, or a cent less if the tag asks for that.
func (x *session) price() commerce.Cents {
	if asks(x.email(), tagPaidLess) {
		return x.Request.TotalCents - 1
	}
	return x.Request.TotalCents
}

// paid notes that the customer has paid, and returns the callback that says so after a time.
func (x *session) paid(after time.Duration) Callback {
	x.Status, x.PaymentID = SessionPaid, derive(paymentPrefix, x.ID)
	callback := Callback{Kind: CallbackPaid, PaymentID: x.PaymentID, AmountCents: x.price()}
	x.post(after, callback)
	return callback
}

const (
	declined = "The card was declined."
	sentBack = "The customer's bank sent the money back."
	doubted  = "The customer does not know of this purchase."
)

// maxDeclines bounds the callbacks about declined cards of one session, because its
// page needs no key.
const maxDeclines = 10

// decline reports that the customer's bank declined. The session stays open.
func (x *session) decline(email string, now time.Time) {
	x.lapse(now)
	if x.Status != SessionOpen || x.Declines == maxDeclines {
		return
	}
	x.Declines++
	x.typed(email)
	x.post(0, Callback{Kind: CallbackDeclined, AmountCents: x.Request.TotalCents, Message: declined})
}

// typed keeps the address that the customer typed.
func (x *session) typed(email string) {
	const longest = 254
	if x.Request.CustomerEmail == "" && len(email) <= longest && strings.Contains(email, "@") {
		x.Email = commerce.CleanText(email, longest)
	}
}

// lapse ends an open session whose time is over. There is no timer: every access
// checks the clock.
func (x *session) lapse(now time.Time) {
	if x.Request.ExpiresOn != 0 && commerce.MillisOf(now) >= x.Request.ExpiresOn {
		x.expire()
	}
}

// expire ends a session that is still open.
func (x *session) expire() {
	if x.Status == SessionOpen {
		x.Status = SessionExpired
		x.post(0, Callback{Kind: CallbackExpired})
	}
}

// refund returns money to the customer, once for each id of ours.
func (x *session) refund(r RefundRequest, now time.Time, delay time.Duration) (Refund, error) {
	if asks(x.email(), tagRefundUnreachable) {
		return Refund{}, errors.New("the sandbox is unreachable, as the customer's e-mail address asks")
	}
	for _, made := range x.Refunds {
		if made.OurID != r.ID {
			continue
		}
		if made.AmountCents != r.AmountCents {
			return Refund{}, &Refusal{"There is a refund " + r.ID + " of another amount."}
		}
		return Refund{made.ID}, nil
	}
	if problem := x.refundProblem(r, now); problem != "" {
		return Refund{}, &Refusal{problem}
	}
	made := refund{ID: derive(refundPrefix, x.ID+" "+r.ID), OurID: r.ID, AmountCents: r.AmountCents}
	fails := asks(x.email(), tagRefundFailsLater)
	if fails {
		made.FailsOn = now.Add(delay).UnixMilli()
	}
	x.Refunds = append(x.Refunds, made)
	callback := Callback{Kind: CallbackRefunded, PaymentID: x.PaymentID, AmountCents: r.AmountCents, RefundID: made.ID, OurRefundID: r.ID}
	x.post(0, callback)
	if fails {
		callback.Kind, callback.Message = CallbackRefundFailed, sentBack
		x.post(delay, callback)
	}
	return Refund{made.ID}, nil
}

func (x *session) refundProblem(r RefundRequest, now time.Time) string {
	switch left := x.price() - x.refunded(now); {
	case x.Status != SessionPaid || !x.has(r.PaymentID):
		return "There is no such payment in the sandbox."
	case asks(x.email(), tagRefundRefused):
		return "The sandbox refuses this refund, as the customer's e-mail address asks."
	case r.ID == "":
		return "The refund has no id."
	case r.AmountCents <= 0:
		return "The amount to refund is not above zero."
	case r.AmountCents > left:
		return fmt.Sprintf("The amount to refund, %s, is more than what is left of the payment, %s.", r.AmountCents.Dollars(), left.Dollars())
	}
	return ""
}

// refunded returns the sum of the refunds that have not failed.
func (x *session) refunded(now time.Time) commerce.Cents {
	var sum commerce.Cents
	for _, r := range x.Refunds {
		if r.FailsOn == 0 || now.UnixMilli() < r.FailsOn {
			sum += r.AmountCents
		}
	}
	return sum
}

// derive makes an id that is the same whenever it is made from the same text. The
// text contains a session id, which cannot be guessed.
func derive(prefix, from string) string {
	sum := sha256.Sum256([]byte(prefix + from))
	return prefix + hex.EncodeToString(sum[:12])
}
