package effect

import (
	"bytes"
	"context"
	"errors"

	"purveyor/internal/command"
	"purveyor/internal/commerce"
	"purveyor/internal/outside/payment"
	"purveyor/internal/storage"

	"github.com/go-json-experiment/json"
)

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
