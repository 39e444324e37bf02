package main

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"

	"purveyor/internal/commerce"
	"purveyor/internal/config"
	"purveyor/internal/effect"
	"purveyor/internal/outside/payment"
	"purveyor/internal/storage"
)

type ledgerCommand struct {
	Check ledgerCheck `cmd:"" help:"Prove that the money of every card payment adds up, and compare it with the payment processors."`
}

type ledgerCheck struct {
	config.Database
	config.Payments
	Offline bool `help:"Do not ask the payment processors."`
}

// ledgerReport counts what was checked.
type ledgerReport struct {
	payments                    int
	captured, refunded, pending commerce.Cents
	compared, skipped           map[string]int // by processor
	faults                      int
}

func (c ledgerCheck) Run() error {
	if err := c.CheckPayments(); err != nil {
		return err
	}
	return withDatabase(c.Database, func(ctx context.Context, db *database) error {
		processors := newProcessors(c.Payments, effect.NewObjects(db.Engine, db.committer), "")
		report := ledgerReport{compared: map[string]int{}, skipped: map[string]int{}}
		if err := report.run(ctx, db.Reader(), func(name string) payment.Processor {
			if c.Offline {
				return nil
			}
			return processors.byName[name]
		}); err != nil {
			return err
		}
		report.print()
		if report.faults > 0 {
			return fmt.Errorf("%d faults", report.faults)
		}
		return nil
	})
}

// run checks every payment, some at a time.
func (l *ledgerReport) run(ctx context.Context, reader storage.Reader, processor func(name string) payment.Processor) error {
	const page = 200
	var after commerce.OrderKey
	for {
		list, err := reader.Payments(ctx, after, page)
		if err != nil {
			return err
		}
		for _, p := range list {
			if err := l.check(ctx, reader, p.Key(), processor(p.Processor)); err != nil {
				return err
			}
		}
		if len(list) < page {
			return nil
		}
		after = list[len(list)-1].Key()
	}
}

// check holds one account against itself, and against what the processor has;
// nil: nobody is asked.
func (l *ledgerReport) check(ctx context.Context, reader storage.Reader, key commerce.OrderKey, processor payment.Processor) error {
	account, err := settledAccount(ctx, reader, key)
	if err != nil {
		return err
	}
	p := account.Payment
	l.payments++
	l.captured += p.CapturedCents
	l.refunded += p.RefundedCents
	l.pending += p.PendingCents
	l.report(key, account.Faults())
	if processor == nil || p.SessionID == "" {
		l.skipped[p.Processor]++
		return nil
	}
	session, err := processor.Session(ctx, p.SessionID)
	if refusal, ok := errors.AsType[*payment.Refusal](err); ok {
		l.report(key, []string{p.Processor + " does not know its session: " + refusal.Message})
		return nil
	}
	if err != nil {
		return fmt.Errorf("ask %s for the session of order %s: %w", p.Processor, key.OrderID, err)
	}
	l.compared[p.Processor]++
	l.report(key, account.FaultsAt(session.PaidCents, session.RefundedCents))
	return nil
}

func (l *ledgerReport) report(key commerce.OrderKey, faults []string) {
	for _, f := range faults {
		l.faults++
		printf("%s: %s\n", key.OrderID, f)
	}
}

func (l *ledgerReport) print() {
	printf("%d payments: captured %s, refunded %s, on their way back %s\n", l.payments, l.captured.Dollars(), l.refunded.Dollars(), l.pending.Dollars())
	for _, name := range slices.Sorted(maps.Keys(l.compared)) {
		printf("%d compared with %s\n", l.compared[name], name)
	}
	for _, name := range slices.Sorted(maps.Keys(l.skipped)) {
		printf("%d of %s were not compared\n", l.skipped[name], name)
	}
	if l.faults == 0 {
		printf("everything adds up\n")
	}
}

// settledAccount reads an account while the service may be writing: again, if
// it has changed between the reads.
func settledAccount(ctx context.Context, reader storage.Reader, key commerce.OrderKey) (a commerce.Account, err error) {
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
