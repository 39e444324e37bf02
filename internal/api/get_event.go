package api

import (
	"slices"

	"purveyor/internal/api/wire"
	"purveyor/internal/commerce"
	"purveyor/internal/storage"
)

// deliveryOut is how far an event has come to an endpoint.
type deliveryOut struct {
	EndpointID    string           `json:"endpoint_id"`
	State         string           `json:"state"` // waiting, held, delivered or failed
	Attempts      int              `json:"attempts"`
	NextAttemptOn *commerce.Millis `json:"next_attempt_on"`
	DeliveredOn   *commerce.Millis `json:"delivered_on"`
}

// getEvent shows an event and how far it has come.
func (a *API) getEvent(r *request) (reply, error) {
	e, err := r.event()
	if err != nil {
		return reply{}, err
	}
	attempts, err := a.reader.Attempts(r.Context(), e.Key())
	if err != nil {
		return reply{}, err
	}
	endpoints, err := r.endpoints()
	if err != nil {
		return reply{}, err
	}
	first, err := a.reader.FirstWebhookJobs(r.Context(), e.ID)
	if err != nil {
		return reply{}, err
	}
	deliveries := []deliveryOut{}
	for _, at := range endpoints {
		mine := slices.DeleteFunc(slices.Clone(attempts), func(t commerce.WebhookAttempt) bool { return t.Endpoint != at.endpoint.ID })
		d, known, err := a.delivery(r, at, e, mine, first)
		if err != nil {
			return reply{}, err
		}
		if known {
			deliveries = append(deliveries, d)
		}
	}
	return ok(struct {
		OK         bool          `json:"ok"`
		Event      wire.Webhook  `json:"event"`
		Deliveries []deliveryOut `json:"deliveries"`
	}{true, wire.WebhookOf(e), deliveries})
}

// jobsLookedAt bounds the jobs of an endpoint among which one that sends an event again is
// looked for.
const jobsLookedAt = 1000

// delivery is how far the event has come to an endpoint. Known is false if the event never
// went there.
func (a *API) delivery(r *request, at endpointSeen, e commerce.WebhookEvent, attempts []commerce.WebhookAttempt, first []commerce.Job) (d deliveryOut, known bool, err error) {
	d = deliveryOut{EndpointID: endpointID(at.endpoint), State: "failed", Attempts: len(attempts)}
	if i := slices.IndexFunc(attempts, commerce.WebhookAttempt.Delivered); i >= 0 {
		d.State, d.DeliveredOn = "delivered", timeOrNull(attempts[i].At+commerce.Millis(attempts[i].TookMs))
		return d, true, nil
	}
	job, ok := openJob(first, at, e)
	if !ok && len(attempts) > 0 { // the first job is over, so the event may have been sent again
		if job, ok, err = a.resendJob(r, at, e); err != nil {
			return d, false, err
		}
	}
	switch {
	case !ok:
	case job.State == commerce.JobParked || commerce.Parks(at.partner, at.endpoint):
		d.State, d.NextAttemptOn = "held", timeOrNull(at.endpoint.HeldUntil)
	default:
		d.State, d.NextAttemptOn = "waiting", timeOrNull(job.RunAt)
	}
	return d, ok || len(attempts) > 0, nil
}

// resendJob finds a job that sends the event to the endpoint again.
func (a *API) resendJob(r *request, at endpointSeen, e commerce.WebhookEvent) (commerce.Job, bool, error) {
	for _, state := range []commerce.JobState{commerce.JobWaiting, commerce.JobParked} {
		jobs, err := a.reader.Jobs(r.Context(), storage.JobFilter{State: state, Owner: at.owner(), Limit: jobsLookedAt})
		if err != nil {
			return commerce.Job{}, false, err
		}
		if job, ok := openJob(jobs, at, e); ok {
			return job, true, nil
		}
	}
	return commerce.Job{}, false, nil
}

// openJob is the job among these that will deliver the event to the endpoint.
func openJob(jobs []commerce.Job, at endpointSeen, e commerce.WebhookEvent) (commerce.Job, bool) {
	for _, j := range jobs {
		if j.Kind == commerce.JobDeliverWebhook && j.Subject == e.ID && j.Owner == at.owner() && (j.State == commerce.JobWaiting || j.State == commerce.JobParked) {
			return j, true
		}
	}
	return commerce.Job{}, false
}
