package effect

import (
	"bytes"
	"context"
	"errors"
	"strings"
	"time"

	"purveyor/internal/command"
	"purveyor/internal/commerce"
	"purveyor/internal/env"
	"purveyor/internal/jobs"
	"purveyor/internal/outside/payment"
	"purveyor/internal/outside/sandbox"
	"purveyor/internal/service"
	"purveyor/internal/storage"

	"github.com/go-json-experiment/json"
)

// ObjectReads reads the objects, and the jobs that post their callbacks.
type ObjectReads interface {
	storage.SandboxObjects
	storage.Jobs
}

// Objects stores the objects of sandboxes in the database; it implements
// sandbox.Objects. Their callbacks are jobs.
type Objects struct {
	env   env.Env
	uses  *service.Service
	reads ObjectReads
	jobs  service.Finisher
}

// NewObjects makes them. A change waits until its callbacks are posted by jobs; if
// jobs is nil, it does not wait.
func NewObjects(e env.Env, reads ObjectReads, uses *service.Service, jobs service.Finisher) *Objects {
	return &Objects{e, uses, reads, jobs}
}

// Object implements sandbox.Objects.
func (o *Objects) Object(ctx context.Context, id string) (sandbox.Object, error) {
	v, err := o.reads.SandboxObject(ctx, id)
	if errors.Is(err, storage.ErrNotFound) {
		err = sandbox.ErrNoObject
	}
	return sandbox.Object{ID: v.ID, Version: v.Version, Data: v.Data}, err
}

// callbackWait bounds how long the change of an object waits for its callbacks.
const callbackWait = 3 * time.Second

// PutObject implements sandbox.Objects.
func (o *Objects) PutObject(ctx context.Context, v sandbox.Object, callbacks ...sandbox.Callback) error {
	put := command.PutSandboxObject{ID: v.ID, Version: v.Version, Data: v.Data, FirstStep: v.FirstStep}
	for _, n := range callbacks {
		data, err := json.Marshal(storedCallback{n.To, n.Body})
		if err != nil {
			return err
		}
		put.Callbacks = append(put.Callbacks, command.SandboxCallback{ID: commerce.NewID(commerce.PrefixSandbox, commerce.MillisOf(o.env.Now()), o.env.Entropy()), After: n.After, Data: data})
	}
	stored, asked, err := service.DoJobs(ctx, o.uses, put)
	if err != nil {
		return err
	}
	if !stored {
		return sandbox.ErrChanged
	}
	if o.jobs == nil {
		return nil
	}
	wait, cancel := o.env.WithTimeout(ctx, callbackWait)
	defer cancel()
	for i, callback := range callbacks {
		if job := asked[i]; callback.After == 0 {
			_ = o.jobs.Finish(wait, job.Key()) // the job continues without us
		}
	}
	return nil
}

// storedCallback is a callback as it is stored.
type storedCallback struct {
	To   string `json:"to"`
	Body []byte `json:"body"`
}

// sandboxes send the callbacks of sandboxes.
type sandboxes struct{ Options }

// send posts a callback to the service. If it no longer exists, it has been posted.
func (s sandboxes) send(ctx context.Context, job commerce.Job) jobs.Outcome {
	record := command.RecordSandboxCallback{RecordJob: s.recordJob(job)}
	object, err := s.Reads.SandboxObject(ctx, job.Subject)
	var callback storedCallback
	switch {
	case errors.Is(err, storage.ErrNotFound):
		return outcome(s.Options, job, record, nil)
	case err != nil:
		return s.retryAfterLease(job, err)
	}
	if err := json.Unmarshal(object.Data, &callback); err != nil {
		record.Failed = &commerce.PermanentError{Err: err}
	} else {
		record.Failed = s.Post(ctx, callback.To, callback.Body)
	}
	return outcome(s.Options, job, record, record.Failed)
}

// step takes the next step of an object. Its callbacks are posted before the step is
// stored: if the process dies in between, they are posted again with the same ids.
func (s sandboxes) step(ctx context.Context, job commerce.Job) jobs.Outcome {
	record := command.RecordSandboxStep{RecordJob: s.recordJob(job)}
	object, err := s.Reads.SandboxObject(ctx, job.Subject)
	if err != nil {
		return s.retryAfterLease(job, err)
	}
	kind, _, _ := strings.Cut(job.Subject, "_")
	mover, known := s.Movers[kind]
	if !known {
		return s.failed(job, &commerce.PermanentError{Err: errors.New("nothing moves objects like " + job.Subject)})
	}
	step, err := mover.Step(ctx, sandbox.Object{ID: object.ID, Version: object.Version, Data: object.Data})
	for _, callback := range step.Callbacks {
		if err == nil {
			err = s.Post(ctx, callback.To, callback.Body)
		}
	}
	record.Failed, record.Version, record.Data, record.Next = err, object.Version, step.Data, step.Next
	return outcome(s.Options, job, record, err)
}

// PaymentCallbackWaits reports whether the sandbox has a callback for the service
// about the payment of an order that has not been recorded yet.
func (o *Objects) PaymentCallbackWaits(ctx context.Context, orderID string) (bool, error) {
	const page = 100
	filter := storage.JobFilter{State: commerce.JobWaiting, Owner: command.SandboxOwner, Limit: page}
	for {
		list, err := o.reads.Jobs(ctx, filter)
		if err != nil {
			return false, err
		}
		for _, job := range list {
			if job.Kind != commerce.JobSandboxCallback {
				continue
			}
			if about, err := o.isAbout(ctx, job.Subject, orderID); about || err != nil {
				return about, err
			}
		}
		if len(list) < page {
			return false, nil
		}
		last := list[page-1]
		filter.After = storage.JobPosition{RunAt: last.RunAt, JobKey: last.Key()}
	}
}

// isAbout reports whether a callback is about the payment of an order. A deleted
// callback has been recorded meanwhile.
func (o *Objects) isAbout(ctx context.Context, callbackID, orderID string) (bool, error) {
	object, err := o.reads.SandboxObject(ctx, callbackID)
	if errors.Is(err, storage.ErrNotFound) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	var callback storedCallback
	if err := json.Unmarshal(object.Data, &callback); err != nil {
		return false, err
	}
	return callback.To == payment.CallbackPath && bytes.Contains(callback.Body, []byte(`"`+orderID+`"`)), nil
}
