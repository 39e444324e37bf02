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
func awaiting[R any](a *API, r *request, key commerce.ReplyKey, in any, cmd commit.Command[R], encode func(R) (int, []byte),
	refused func(context.Context, commerce.Job) error) (reply, error) {
	print, err := fingerprint(in)
	if err != nil {
		return reply{}, err
	}
	stored, asked, err := commit.DoJobs(r.Context(), a.committer, commit.Once(key, print, cmd, encode))
	if err != nil {
		return reply{}, err
	}
	answer := reply{status: stored.Status, body: stored.Body, replayed: stored.Replayed}
	job, awaited := stored.Job, stored.Job.ID != ""
	for _, j := range asked {
		if j.Awaited {
			job, awaited = j.Key(), true
		}
	}
	if !awaited {
		return answer, nil
	}
	return a.outcome(r, key, job, answer, refused)
}

// outcome waits for a job, and answers with what it has decided.
func (a *API) outcome(r *request, key commerce.ReplyKey, job commerce.JobKey, meanwhile reply, refused func(context.Context, commerce.Job) error) (reply, error) {
	asked, err := a.reader.Job(r.Context(), job)
	if err != nil && !errors.Is(err, storage.ErrNotFound) {
		return reply{}, err
	}
	ctx, cancel := context.WithTimeout(r.Context(), waitTime)
	defer cancel()
	if err := a.jobs.Finish(ctx, job); err != nil && ctx.Err() == nil && !errors.Is(err, context.Canceled) {
		return reply{}, err
	}
	stored, err := a.reader.Reply(context.WithoutCancel(r.Context()), key)
	switch {
	case errors.Is(err, storage.ErrNotFound):
		return reply{}, refused(r.Context(), asked)
	case err != nil:
		return reply{}, err
	case !stored.Open():
		return reply{status: stored.Status, body: stored.Body, replayed: meanwhile.replayed}, nil
	case meanwhile.status != 0:
		return meanwhile, nil
	}
	return reply{}, &web.Error{Status: http.StatusConflict, Code: "in_progress", RetryAfter: 1,
		Message: "This is still in progress; repeat it with the same Idempotency-Key for its result"}
}

// refusedByProcessor is the error of a processor's definite no, in its words
// (SPEC, Errors: 502).
func refusedByProcessor(message string) error {
	return &web.Error{Status: http.StatusBadGateway, Code: "payment_processor_error", Message: message}
}
