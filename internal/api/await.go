package api

import (
	"context"
	"errors"
	"net/http"
	"time"

	"purveyor/internal/commerce"
	"purveyor/internal/commit"
	"purveyor/internal/storage"
	"purveyor/internal/web"
)

// waitTime is how long a request waits for an outside result (DESIGN, one
// order, one way).
const waitTime = 10 * time.Second

// awaiting runs a command whose answer a job may decide: it has the job done
// and answers with what came of it. If that takes too long, the job goes on, and
// a repeat of the key gets its result. refused says why the job released the
// key.
func awaiting[R any](a *API, r *request, key commerce.ReplyKey, in any, cmd commit.Keyed[R], encode func(R) (int, []byte),
	refused func(context.Context, commerce.Job) error) (reply, error) {
	print, err := fingerprint(in)
	if err != nil {
		return reply{}, err
	}
	if err := a.roomForReply(r, key); err != nil {
		return reply{}, err
	}
	stored, asked, err := commit.DoJobs(r.Context(), a.committer, commit.Once(key, print, cmd, encode))
	if err != nil {
		return reply{}, err
	}
	answer := reply{status: stored.Status, body: stored.Body, replayed: stored.Replayed}
	var awaited []commerce.Job
	for _, job := range asked {
		if job.Awaited {
			awaited = append(awaited, job)
		}
	}
	if len(awaited) > 0 {
		return a.outcome(r, key, awaited, answer, refused)
	}
	if stored.Job.ID == "" {
		return answer, nil
	}
	job, err := a.reader.Job(context.WithoutCancel(r.Context()), stored.Job)
	if err != nil { // it is done by now, or its reply will tell
		job = commerce.Job{Slot: stored.Job.Slot, ID: stored.Job.ID}
	}
	return a.outcome(r, key, []commerce.Job{job}, answer, refused)
}

// outcome waits for jobs, and answers with what they have decided. The reply stays
// open for the last of them. Of a job without a subject nothing is known but its
// key.
func (a *API) outcome(r *request, key commerce.ReplyKey, awaited []commerce.Job, meanwhile reply, refused func(context.Context, commerce.Job) error) (reply, error) {
	gone := context.WithoutCancel(r.Context()) // the caller may be, but nobody else begins the job
	ctx, cancel := a.env.WithTimeout(r.Context(), waitTime)
	defer cancel()
	if err := a.finish(ctx, awaited); err != nil && ctx.Err() == nil && !errors.Is(err, context.Canceled) {
		return reply{}, err
	}
	job := awaited[len(awaited)-1]
	stored, err := a.reader.Reply(gone, key)
	switch {
	case errors.Is(err, storage.ErrNotFound) && job.Subject != "":
		return reply{}, refused(gone, job)
	case errors.Is(err, storage.ErrNotFound): // another call had it refused just now: a repeat is a new one
	case err != nil:
		return reply{}, err
	case !stored.Open():
		return reply{status: stored.Status, body: stored.Body, replayed: meanwhile.replayed}, nil
	case meanwhile.status != 0:
		return meanwhile, nil
	}
	return reply{}, &web.Error{Status: http.StatusConflict, Code: "in_progress", RetryAfter: 1, OrderID: madeOrder(job),
		Message: "This is still in progress; repeat it with the same Idempotency-Key for its result"}
}

// finish has jobs done side by side: a courier who is slow to be cancelled does
// not put off a refund.
func (a *API) finish(ctx context.Context, awaited []commerce.Job) error {
	if len(awaited) == 1 {
		return a.jobs.Finish(ctx, awaited[0].Key())
	}
	errs := make([]error, len(awaited))
	finishes := make([]func(), len(awaited))
	for i, job := range awaited {
		finishes[i] = func() { errs[i] = a.jobs.Finish(ctx, job.Key()) }
	}
	a.env.Together(finishes...)
	return errors.Join(errs...)
}

// madeOrder is the order that was made by the call that asked for the job;
// empty: it made none, or that is not known.
func madeOrder(job commerce.Job) string {
	if job.Kind != commerce.JobOpenSession {
		return ""
	}
	return job.Subject
}

// refusedByProcessor is the error of a processor's definite no, in its words
// (SPEC, Errors: 502), with the order that was made before it. A checkout whose
// processor refuses our credentials is answered as one without a processor.
func refusedByProcessor(message string, job commerce.Job) error {
	e := &web.Error{Status: http.StatusBadGateway, Code: "payment_processor_error", Message: message, OrderID: madeOrder(job)}
	if message == commerce.ProcessorRefusesUs {
		e.Code = "payment_not_configured"
		if job.Kind == commerce.JobOpenSession {
			e.Status = http.StatusInternalServerError
		}
	}
	return e
}
