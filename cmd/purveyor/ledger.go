package main

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"time"

	"purveyor/internal/commerce"
	"purveyor/internal/config"
	"purveyor/internal/effect"
	"purveyor/internal/env"
	"purveyor/internal/outside/payment"
	"purveyor/internal/storage"
)

type ledgerCommand struct {
	Check ledgerCheck `cmd:"" help:"Prove that the money of every card payment adds up, and compare it with the payment processors."`
}

type ledgerCheck struct {
	onDatabase
	config.Payments `group:"Payments:"`
	Books           bool `help:"Check only the ledger: do not ask the payment processors." aliases:"offline"`
}

// ledgerReport counts the results of a check.
type ledgerReport struct {
	reader     storage.Reader
	processors map[string]payment.Processor
	books      bool // the processors are not asked
	// callbackWaits reports whether the sandbox has a callback about the order's
	// payment that is not recorded yet.
	callbackWaits func(ctx context.Context, orderID string) (bool, error)

	payments                    int
	captured, refunded, pending commerce.Cents
	compared                    map[string]int // payments, by how they were compared, or why not
	awaited, faults             int
}

func (c ledgerCheck) prepare() error {
	return c.CheckPayments()
}

func (c ledgerCheck) Run(ctx context.Context, db *database) error {
	objects := effect.NewObjects(env.Env{}, db.Engine.Reader(), db.uses, nil)
	report := ledgerReport{reader: db.Reader(), processors: newProcessors(c.Payments, objects, "").byName, books: c.Books,
		callbackWaits: objects.PaymentCallbackWaits, compared: map[string]int{}}
	if err := report.run(ctx); err != nil {
		return err
	}
	report.print()
	if report.faults > 0 {
		return fmt.Errorf("%d faults", report.faults)
	}
	return nil
}

// run checks every payment, several at a time.
func (l *ledgerReport) run(ctx context.Context) error {
	read := func(after commerce.OrderKey) ([]commerce.Payment, error) {
		return l.reader.Payments(ctx, after, pageSize)
	}
	for p, err := range rowsOf(commerce.OrderKey{}, read, commerce.Payment.Key) {
		if err != nil {
			return err
		}
		if err := l.check(ctx, p.Key()); err != nil {
			return err
		}
	}
	return nil
}

// check compares an account with its entries and with its processor.
func (l *ledgerReport) check(ctx context.Context, key commerce.OrderKey) error {
	account, err := consistentAccount(ctx, l.reader, key)
	if err != nil {
		return err
	}
	l.report(key, account.Faults()...)
	if reason := l.skips(account.Payment); reason != "" {
		l.compared["of "+account.Payment.Processor+" were not compared: "+reason]++
	} else if account, err = l.compare(ctx, account); err != nil {
		return err
	}
	p := account.Payment
	l.payments++
	l.captured += p.CapturedCents
	l.refunded += p.RefundedCents
	l.pending += p.PendingCents
	return nil
}

// skips returns why the processor is not asked for a payment; empty: it is asked.
func (l *ledgerReport) skips(p commerce.Payment) string {
	switch {
	case l.books:
		return "only the books are checked"
	case l.processors[p.Processor] == nil:
		return "this processor is not configured here"
	case p.SessionID == "":
		return "no payment page was opened for them"
	}
	return ""
}

// compare compares an account with its processor. The service may be running: a
// difference is no fault while a callback may be on the way, and an account that
// changes meanwhile is compared again. compare returns the account that it compared.
func (l *ledgerReport) compare(ctx context.Context, a commerce.Account) (commerce.Account, error) {
	key := a.Payment.Key()
	for {
		p := a.Payment
		session, err := l.processors[p.Processor].Session(ctx, p.SessionID)
		if refusal, ok := errors.AsType[*payment.Refusal](err); ok {
			l.report(key, p.Processor+" does not know its session: "+refusal.Message)
			return a, nil
		}
		if err != nil {
			return a, fmt.Errorf("ask %s for the session of order %s: %w", p.Processor, key.OrderID, err)
		}
		differences := a.DifferencesAt(session.PaidCents, session.RefundedCents)
		expected := false
		if len(differences) > 0 {
			if expected, err = l.expectsNews(ctx, a); err != nil {
				return a, err
			}
			again, err := consistentAccount(ctx, l.reader, key)
			if err != nil {
				return a, err
			}
			if !reflect.DeepEqual(again.Payment, p) {
				a = again
				continue
			}
		}
		for _, d := range differences {
			if d.Awaited && expected {
				l.awaited++
				printf("%s: pending: %s\n", key.OrderID, d.Text)
			} else {
				l.report(key, d.Text)
			}
		}
		l.compared["compared with "+p.Processor]++
		return a, nil
	}
}

// expectsNews reports whether a callback about the account's payment may be on the
// way.
func (l *ledgerReport) expectsNews(ctx context.Context, a commerce.Account) (bool, error) {
	if a.Young(commerce.MillisOf(time.Now())) {
		return true, nil
	}
	if waits, err := l.callbackWaits(ctx, a.Order.ID); waits || err != nil {
		return waits, err
	}
	for job, err := range jobsOf(ctx, l.reader, commerce.JobWaiting, a.Order.StoreID) {
		if err != nil || a.Awaits(job) {
			return err == nil, err
		}
	}
	return false, nil
}

func (l *ledgerReport) report(key commerce.OrderKey, faults ...string) {
	for _, f := range faults {
		l.faults++
		printf("%s: %s\n", key.OrderID, f)
	}
}

func (l *ledgerReport) print() {
	printf("%d payments: captured %s, refunded %s, on their way back %s\n", l.payments, l.captured.Dollars(), l.refunded.Dollars(), l.pending.Dollars())
	for _, how := range slices.Sorted(maps.Keys(l.compared)) {
		printf("%d %s\n", l.compared[how], how)
	}
	if l.awaited > 0 {
		printf("pending differences: %d, of payments with callbacks on the way\n", l.awaited)
	}
	if l.faults == 0 {
		printf("everything adds up\n")
	}
}

// consistentAccount reads an account while the service may be writing: it reads again if
// the account has changed between the reads.
func consistentAccount(ctx context.Context, reader storage.Reader, key commerce.OrderKey) (a commerce.Account, err error) {
	for {
		before, err := reader.Payment(ctx, key)
		if err != nil {
			return a, err
		}
		if a.Order, err = reader.Order(ctx, key); err != nil {
			return a, err
		}
		if a.Entries, err = reader.Ledger(ctx, key); err != nil {
			return a, err
		}
		if a.Refunds, err = reader.Refunds(ctx, key); err != nil {
			return a, err
		}
		if a.Attention, err = reader.Attention(ctx, key); err != nil {
			return a, err
		}
		if a.Payment, err = reader.Payment(ctx, key); err != nil || reflect.DeepEqual(a.Payment, before) {
			return a, err
		}
	}
}
