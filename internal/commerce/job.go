package commerce

import (
	"errors"
	"slices"
	"time"
)

// JobKind is what a job does.
type JobKind string

// The kinds.
const (
	JobDeliverWebhook  JobKind = "deliver_webhook"  // Subject: webhook event
	JobMailReady       JobKind = "mail_order_ready" // Subject: order
	JobMailPaid        JobKind = "mail_order_paid"  // Subject: order; the mail goes to the merchant
	JobMailAlarm       JobKind = "mail_alarm"       // Subject: alarm e-mail, by its Ref; it goes to a partner, or to an owner of the merchant
	JobTextPaid        JobKind = "text_order_paid"  // Subject: order; the text goes to the merchant
	JobReleaseParked   JobKind = "release_parked"   // Subject: partner; makes its parked jobs wait again
	JobOpenSession     JobKind = "open_session"     // Subject: order; opens the page on which the customer pays
	JobExpireSession   JobKind = "expire_session"   // Subject: order; ends its page, so that the customer cannot pay any more
	JobEndHold         JobKind = "end_hold"         // Subject: order; gives back what is held for it if it is still unpaid
	JobRefund          JobKind = "refund_payment"   // Subject: refund
	JobDispatch        JobKind = "dispatch"         // Subject: delivery, by its Ref; looks for a courier
	JobCancelDelivery  JobKind = "cancel_delivery"  // Subject: order; calls its courier off
	JobCourierUpdate   JobKind = "courier_update"   // Subject: order; sends its partner the latest courier update
	JobCheckDelivery   JobKind = "check_delivery"   // Subject: delivery, by its Ref; asks the provider after a silence
	JobSandboxStep     JobKind = "sandbox_step"     // Subject: sandbox object; moves it on
	JobMemberLink      JobKind = "mail_member_link" // Subject: member; the mail has a new link of the portal
	JobCertify         JobKind = "certify"          // Subject: run of a certification; takes its next step
	JobSandboxCallback JobKind = "sandbox_notice"   // Subject: sandbox object that holds a callback; sends it
)

// JobState is the phase of a job. It determines what moves the job on. A job that
// succeeded is deleted.
type JobState string

// The states.
const (
	JobWaiting JobState = "waiting"  // a worker runs it, from RunAt on
	JobParked  JobState = "parked"   // it waits until its endpoint answers again or is resumed
	JobHeld    JobState = "held"     // the database was restored, and it may have been done since; an operator releases it
	JobDead    JobState = "dead"     // no attempt is left; an operator retries it or gives it up
	JobGivenUp JobState = "given_up" // final: an operator gave it up and its outcome is recorded; kept until it is swept
)

// Job is work outside of the process: a call to a provider, a webhook, a message. It is
// stored in the transaction of the change that asks for it, so it is never lost, and
// never done for a change that did not happen.
type Job struct {
	Slot    int64  // 0..JobSlots-1, given by the committer: one slot a batch
	ID      string // given by the committer
	Kind    JobKind
	Mode    Mode   // of the subject; the committer writes Live if a command left it empty
	Owner   string // the partner or store that the subject belongs to
	Subject string // the id of the row that the job is about; see the kinds
	// PartnerID is the partner of the order that the job is about, if Owner is a store.
	// Empty: the order is the merchant's.
	PartnerID string
	RunAt     Millis // the next attempt is not made before
	State     JobState
	Tries     int64 // failed attempts
	// Probes are the failed attempts among Tries that were made while the job was
	// parked, or before RunAt. They ask whether the other end is back, and do not use
	// up the schedule of retries.
	Probes int64
	Error  string // why the last attempt failed

	// Awaited reports that a caller waits for the job: its outcome decides the answer of
	// the command that asked for it. The caller has the job run (jobs.Finish). Awaited is
	// not stored, so after a crash a worker runs the job like any other.
	Awaited bool
	// ReplyTo is the open reply that the outcome of the job decides. Empty: no stored
	// reply depends on the job.
	ReplyTo ReplyKey

	LeasedBy    string // the worker that holds the lease; empty: none
	LeasedUntil Millis

	// Event is the subject, if it is in memory; nil: the effect reads it. It is not
	// stored.
	Event *WebhookEvent
	// Order and Payment are the same for jobs about an order. The stored rows may have
	// changed since.
	Order   *Order
	Payment *Payment
	// TraceParent is the traceparent of the request that asked for the job; empty: not known. It
	// is not stored either, so it is lost with the process, and with a later attempt.
	TraceParent string
}

// JobKey finds a job.
type JobKey struct {
	Slot int64
	ID   string
}

// Key of the job.
func (j Job) Key() JobKey { return JobKey{j.Slot, j.ID} }

// JobClass groups the jobs of one kind and mode.
type JobClass struct {
	Kind JobKind
	Mode Mode
}

// JobLane groups the jobs of a class that share an owner and a partner. They call the
// same other end, so they fail and wait for the same reasons.
type JobLane struct {
	JobClass
	PartnerID string
	Owner     string
}

// Lane of the job.
func (j Job) Lane() JobLane { return JobLane{JobClass{j.Kind, j.Mode}, j.PartnerID, j.Owner} }

// Leased reports whether a worker holds the job. A lease that ends more than
// LongestLease ahead is ignored.
func (j Job) Leased(now Millis) bool {
	return j.LeasedUntil > now && j.LeasedUntil <= now.Add(LongestLease)
}

// LeasedTo is the job with a lease for the worker until then. An empty worker gives the
// job back.
func (j Job) LeasedTo(worker string, until Millis) Job {
	j.LeasedBy, j.LeasedUntil = worker, until
	return j
}

// SameLease reports whether other, an earlier copy of the job, was read under the lease
// that the job has now. The worker's name alone does not prove that: a worker that
// stalled may have claimed the job again, and the result of its first attempt is then as
// late as another worker's would be.
func (j Job) SameLease(other Job) bool {
	return j.LeasedBy == other.LeasedBy && j.LeasedUntil == other.LeasedUntil
}

// JobSlots is the number of slots that jobs are spread over.
const JobSlots = 32

// JobLease is how long a claimed job belongs to its worker. The end of a lease does not
// count as a failed attempt.
const JobLease = 30 * time.Second

// LongestLease is how far ahead the end of a lease may lie. The worker's clock, or
// the stamp of its batch, may be ahead of the clock of the process that reads the
// lease; without this margin a clock that is a millisecond behind would have two
// processes do the same job. A lease that ends later was written while a clock was
// wrong, and is ignored: else nothing would do the job until then.
const LongestLease = 2 * JobLease

// RetryDelays are the waits after each failed attempt. There is one attempt more than
// there are delays.
var RetryDelays = []time.Duration{5 * time.Second, 5 * time.Minute, 30 * time.Minute, 2 * time.Hour, 5 * time.Hour, 10 * time.Hour, 14 * time.Hour, 20 * time.Hour, 24 * time.Hour}

// MessageDelays are the waits of e-mails and texts, which are of no use the day after.
var MessageDelays = RetryDelays[:5]

// PaymentDelays are the waits of calls to a payment processor. Their sum is shorter than
// the life of a session.
var PaymentDelays = RetryDelays[:6]

// DispatchDelays are the waits of the search for a courier.
var DispatchDelays = []time.Duration{5 * time.Second, 30 * time.Second, 2 * time.Minute, 5 * time.Minute, 10 * time.Minute, 20 * time.Minute, 30 * time.Minute, time.Hour, 2 * time.Hour}

// CancelDelays are the waits of calling a courier off. The first are short, because the
// courier is on the way meanwhile.
var CancelDelays = []time.Duration{5 * time.Second, 15 * time.Second, 30 * time.Second, time.Minute, 2 * time.Minute, 5 * time.Minute, 10 * time.Minute, 30 * time.Minute}

// StepDelays are the waits of a step of a sandbox object. Until the step succeeds, its
// courier stands still.
var StepDelays = []time.Duration{time.Second, 5 * time.Second, 5 * time.Second, 15 * time.Second, 15 * time.Second, time.Minute, time.Minute, time.Minute}

// Delays are the waits after each failed attempt of a job of the kind.
func (k JobKind) Delays() []time.Duration {
	switch k {
	case JobMailReady, JobMailPaid, JobMailAlarm, JobMemberLink, JobTextPaid, JobSandboxCallback:
		return MessageDelays
	case JobOpenSession, JobExpireSession, JobRefund:
		return PaymentDelays
	case JobDispatch:
		return DispatchDelays
	case JobCancelDelivery:
		return CancelDelays
	case JobSandboxStep:
		return StepDelays
	}
	return RetryDelays
}

// CheckEvery is the longest time without a callback about an active delivery. After it
// the provider is asked, because callbacks can be lost.
const CheckEvery = 5 * time.Minute

// JobHorizon is longer than any rule postpones a job. A RunAt further ahead was written
// while a clock was ahead, and counts as due.
const JobHorizon = 2 * day

// Due reports whether the job may run: RunAt has passed, or lies beyond JobHorizon.
func (j Job) Due(now Millis) bool {
	return j.State == JobWaiting && due(j.RunAt, now)
}

func due(at, now Millis) bool { return at <= now || at > now.Add(JobHorizon) }

// PermanentError is a failure that further attempts cannot mend: the job dies. After any
// other error the job is retried.
type PermanentError struct{ Err error }

func (e *PermanentError) Error() string { return e.Err.Error() }
func (e *PermanentError) Unwrap() error { return e.Err }

// Failed is the job after one more failed attempt. It is due again after the next delay,
// or dead if the error is permanent or no delay is left. jitter is in [0, 1).
func (j Job) Failed(err error, delays []time.Duration, now Millis, jitter float64) Job {
	j.Tries++
	if j.State == JobParked {
		j.Probes++
	}
	j.Error = CleanText(err.Error(), MaxNote)
	wait, left := retryDelay(delays, j.Tries-j.Probes, jitter)
	j.RunAt = now.Add(wait)
	j.State = JobWaiting
	var permanent *PermanentError
	if !left || errors.As(err, &permanent) {
		j.State = JobDead
	}
	return j
}

// Over reports whether the job makes no more attempts by itself.
func (j Job) Over() bool { return j.State == JobDead || j.State == JobGivenUp }

// GivenUp is the job after the operator by gave it up.
func (j Job) GivenUp(by, reason string, now Millis) Job {
	j.State, j.RunAt, j.Error = JobGivenUp, now, CleanText("given up by "+by+": "+reason, MaxNote)
	return j
}

// Holds reports whether a dead job of the kind may hold something that only its outcome
// releases: reserved money, held goods or an open idempotency key. Such a job is never swept.
func (k JobKind) Holds() bool { return slices.Contains(HoldingKinds, k) }

// HoldingKinds are the kinds for which Holds is true.
var HoldingKinds = []JobKind{JobOpenSession, JobEndHold, JobRefund, JobDispatch, JobCancelDelivery}

// ActsOutside reports whether a job of the kind asks others to do something that is not to be
// done twice: move money or goods, or send a message. Receivers of webhooks know repeats by their id.
func (k JobKind) ActsOutside() bool {
	switch k {
	case JobDispatch, JobRefund, JobOpenSession, JobCancelDelivery,
		JobMailReady, JobMailPaid, JobMailAlarm, JobMemberLink, JobTextPaid:
		return true
	}
	return false
}

// retryDelay returns the wait after the given number of failed attempts, and whether
// another attempt is left. If not, it returns the last delay. Jitter adds up to a tenth.
func retryDelay(delays []time.Duration, tries int64, jitter float64) (time.Duration, bool) {
	i := min(max(tries, 1), int64(len(delays)))
	d := delays[i-1]
	return d + time.Duration(float64(d/10)*jitter), tries <= int64(len(delays))
}
