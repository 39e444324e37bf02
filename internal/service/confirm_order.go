package service

import (
	"context"
	"log/slog"

	"purveyor/internal/command"
	"purveyor/internal/commerce"
	"purveyor/internal/commit"
)

// Advanced is an order that was confirmed, marked ready or marked picked up.
type Advanced struct {
	Order commerce.Order // right after the command
	Now   commerce.Order // after the wait for a courier; the same as Order if there was none
}

// ConfirmOrder is the input of Service.ConfirmOrder.
type ConfirmOrder struct {
	Order          commerce.Order // as the caller found it; only its unchanging facts are used
	ReadyInMinutes *int64         // until a courier can have the goods; nil: as the checkout said
}

// ConfirmOrder takes a paid order to processed. For a delivery, the outcome waits for a
// courier.
func (s *Service) ConfirmOrder(ctx context.Context, by Caller, in ConfirmOrder) (Outcome[Advanced], error) {
	return s.advance(ctx, by, deed{"confirm_order", in.Order.StoreID, in.Order.ID},
		command.ConfirmOrder{Facts: by.facts(in.Order), Actor: by.Actor, ReadyInMinutes: in.ReadyInMinutes})
}

// advance runs a command that confirms an order, marks it ready or marks it picked up.
func (s *Service) advance(ctx context.Context, by Caller, d deed, cmd commit.Command[command.Advanced]) (out Outcome[Advanced], err error) {
	if answersForActs(by.Actor) {
		cmd = audited[command.Advanced]{cmd, by.Actor, d}
	}
	done, asked, err := commit.DoJobs(ctx, s.committer, cmd)
	if err == nil {
		err = done.Refused
	}
	if err != nil {
		return out, err
	}
	out.Result, out.Replayed = Advanced{done.Order, done.Order}, done.Replay
	switch jobs := awaited(asked); {
	case len(jobs) == 0:
	case s.o.Jobs == nil: // a shell leaves them to a running service
		out.Pending = &Pending{}
	default:
		out.Result.Now, out.Pending = s.awaitCourier(ctx, by, done.Order, jobs)
	}
	return out, nil
}

// awaitCourier waits for the jobs that look for a courier, and returns the order after
// that.
func (s *Service) awaitCourier(ctx context.Context, by Caller, order commerce.Order, jobs []commerce.Job) (commerce.Order, *Pending) {
	wait, cancel := s.o.Env.WithTimeout(ctx, waitTime)
	defer cancel()
	var pending *Pending
	if err := s.finish(wait, jobs); err != nil {
		pending = &Pending{}
		if wait.Err() == nil {
			slog.Warn("the wait for a courier failed", "order", order.ID, "trace_id", by.TraceID, "error", err)
		}
	}
	if now, err := s.reader.Order(context.WithoutCancel(ctx), order.Key()); err == nil {
		order = now
	}
	return order, pending
}
