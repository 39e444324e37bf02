package main

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"strings"

	"purveyor/internal/commerce"
	"purveyor/internal/service"
)

type orderConfirm struct {
	onOrder
	ReadyIn *int64 `help:"Minutes until a courier can have the goods. Default: as the checkout said." placeholder:"MINUTES"`
}

func (c orderConfirm) Run(ctx context.Context, db *database) error {
	return c.act(ctx, db, func(by service.Caller, o commerce.Order) error {
		if n := c.ReadyIn; n != nil && (*n < 0 || *n > commerce.MaxReadyMinutes) {
			return wrong("--ready-in must be from 0 to %d", commerce.MaxReadyMinutes)
		}
		_, err := db.uses.ConfirmOrder(ctx, by, service.ConfirmOrder{Order: o, ReadyInMinutes: c.ReadyIn})
		return err
	})
}

type orderReady struct{ onOrder }

func (c orderReady) Run(ctx context.Context, db *database) error {
	return c.act(ctx, db, func(by service.Caller, o commerce.Order) error {
		_, err := db.uses.MarkReady(ctx, by, service.Handover{Order: o})
		return err
	})
}

type orderPickedUp struct{ onOrder }

func (c orderPickedUp) Run(ctx context.Context, db *database) error {
	return c.act(ctx, db, func(by service.Caller, o commerce.Order) error {
		_, err := db.uses.MarkPickedUp(ctx, by, service.Handover{Order: o})
		return err
	})
}

// forReason is the part of a command that takes something away.
type forReason struct {
	Reason string `help:"The reason, which the order's history shows." required:"" placeholder:"TEXT"`
}

func (c *forReason) prepare() error {
	if c.Reason = commerce.CleanText(strings.TrimSpace(c.Reason), commerce.MaxNote); c.Reason == "" {
		return wrong("--reason: say why; the order's history shows it")
	}
	return nil
}

type orderCancel struct {
	onOrder
	forReason
	Refund bool `help:"Also refund what is left of the card payment."`
}

func (c orderCancel) Run(ctx context.Context, db *database) error {
	return c.act(ctx, db, func(by service.Caller, o commerce.Order) error {
		_, err := db.uses.CancelOrder(ctx, by, service.CancelOrder{Order: o, Reason: c.Reason, Refund: c.Refund}, service.Once[service.Cancelled]{})
		return err
	})
}

type orderRefund struct {
	onOrder
	forReason
	Amount string `help:"Dollars to give back, as 4.50. Default: all that is left of the payment." placeholder:"DOLLARS"`
	Key    string `help:"A name of this refund: for 72 hours a repeat with it changes nothing. Without one the amount names it, so a second refund of the same amount needs a key." placeholder:"TEXT"`
	amount commerce.Cents
}

// maxRefundKey is as long as an Idempotency-Key may be.
const maxRefundKey = 255

func (c *orderRefund) prepare() error {
	if c.Amount != "" {
		cents, err := commerce.ParseScaled(strings.TrimPrefix(c.Amount, "$"), 2)
		if err != nil || cents <= 0 {
			return wrong("--amount %q must be above 0, in dollars, like 4.50", c.Amount)
		}
		c.amount = commerce.Cents(cents)
	}
	if len(c.Key) > maxRefundKey {
		return wrong("--key may have %d characters", maxRefundKey)
	}
	return c.forReason.prepare()
}

func (c orderRefund) Run(ctx context.Context, db *database) error {
	return c.act(ctx, db, func(by service.Caller, o commerce.Order) error {
		out, err := db.uses.RefundOrder(ctx, by, service.RefundOrder{Order: o, AmountCents: c.amount, Reason: c.Reason}, c.once(o))
		refusal, ok := errors.AsType[*commerce.Error](err)
		switch {
		case ok && refusal.Code == "idempotency_key_reused":
			return fmt.Errorf("--key %s is that of a refund of another amount", c.Key)
		case err != nil || !out.Replayed:
			return err
		case c.Key == "":
			complain("purveyor: this amount was given back before, within 72 hours, and now nothing was; for another refund of it name one with --key TEXT\n")
		default:
			complain("purveyor: this refund was made before, and now nothing was given back\n")
		}
		return nil
	})
}

// once makes a repeat safe, as after an answer that was lost: the operators of an order share the
// names of its refunds.
func (c orderRefund) once(o commerce.Order) service.Once[commerce.Refund] {
	name := "key " + c.Key
	if c.Key == "" {
		name = fmt.Sprintf("amount %d", c.amount)
	}
	return service.Once[commerce.Refund]{Key: commerce.ReplyKey{PartnerID: string(commerce.ActorOperator), Op: "order refund " + o.ID, Key: name},
		Fingerprint: sha256.Sum256(fmt.Appendf(nil, "%d", c.amount)),
		Encode:      func(commerce.Refund) (status int, body []byte) { return 0, nil }} // the job that asks the processor decides it
}

// act does something with the order as it was read, and shows the order after that. What must
// leave the process, a running service does.
func (c onOrder) act(ctx context.Context, db *database, do func(by service.Caller, o commerce.Order) error) error {
	o, err := c.find(ctx, db)
	if err != nil {
		return err
	}
	if err := do(service.Caller{Actor: operator(), Seen: o.UpdatedOn}, o); err != nil {
		return fmt.Errorf("order %s: %w", o.ID, err)
	}
	return orderShow{c}.Run(ctx, db)
}
